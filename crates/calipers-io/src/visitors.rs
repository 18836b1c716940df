//! What serde asks of every visitor by hand, in a line: what it expects, and that it can be a seed.

/// Makes a visitor the seed of the value that it reads: `seed!(Rows<'_> => Matrix, deserialize_seq)`.
#[macro_export]
macro_rules! seed {
    ($visitor:ty => $value:ty, $deserialize:ident) => {
        impl<'de> ::serde::de::DeserializeSeed<'de> for $visitor {
            type Value = $value;

            fn deserialize<D: ::serde::de::Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> ::std::result::Result<Self::Value, D::Error> {
                deserializer.$deserialize(self)
            }
        }
    };
}

/// What a visitor names in the message about a value of another kind.
#[macro_export]
macro_rules! expecting {
    ($what:literal) => {
        fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str($what)
        }
    };
}
