//! JSON as its standard writes it and nothing more: no repeated key, no `NaN`, bounded depth, whole
//! numbers kept whole.

use std::collections::BTreeSet;
use std::fmt;

use calipers_core::{Error, Result};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A value of a JSON text, the values inside it not yet looked at.
#[derive(Debug)]
pub(super) enum Node<'a> {
    Null,
    Flag(bool),
    Whole(i128),
    Number(f64),
    Text(String),
    List(Vec<&'a RawValue>),
    Object(Vec<(String, &'a RawValue)>),
}

/// Checks a whole text; an error names line and column.
pub(super) fn parse(bytes: &[u8]) -> Result<&RawValue> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::format("not UTF-8 text").at(format!("byte {}", error.valid_up_to())).allowed("JSON")
    })?;
    serde_json::from_str::<Checked>(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        let text = error.to_string();
        let found = text.rsplit_once(" at line").map_or(&*text, |(found, _)| found);
        Error::format("not strict JSON").at(place).found(found)
    })?;
    read(text)
}

/// Reads a part of a text that was checked.
fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::format("not strict JSON").found(error))
}

impl<'a> Node<'a> {
    /// A value without the values inside it.
    pub(super) fn of(raw: &'a RawValue) -> Result<Self> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'{') => Self::Object(read::<Entries<'_>>(text)?.0),
            Some(b'[') => Self::List(read(text)?),
            Some(b'"') => Self::Text(read(text)?),
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Flag(text == "true"),
            _ if text.contains(['.', 'e', 'E']) => Self::Number(read(text)?),
            _ => Self::Whole(
                text.parse().map_err(|_| Error::format("a whole number beyond 128 bits").found(text))?,
            ),
        })
    }
}

/// The entries of an object in the order of the text.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Nothing but the check: that every value can be read, none lies deeper than the parser allows, and no
/// key occurs twice in one object.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(de::Error::custom(format_args!("the key {key} occurs twice in one object")));
            }
            seen.insert(key);
            map.next_value::<Self>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value as Json;

    fn place_of(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().place().unwrap().to_string()
    }

    #[test]
    fn what_is_not_strict_is_refused_where_it_stands() {
        assert_eq!(place_of("{\"a\": 1,\n \"a\": 2}"), "line 2, column 4");
        assert_eq!(place_of("[1, NaN]"), "line 1, column 5");
        assert_eq!(place_of("[1, -Infinity]"), "line 1, column 6");
        assert_eq!(place_of("[\"ä\", 01]"), "line 1, column 9");
        assert_eq!(place_of("[1,]"), "line 1, column 4");
        assert_eq!(place_of("{\"a\" 1}"), "line 1, column 6");
        assert_eq!(place_of("{a: 1}"), "line 1, column 2");
        assert_eq!(place_of("[1] 2"), "line 1, column 5");
        assert_eq!(place_of("[1e400]"), "line 1, column 6");
        assert_eq!(place_of("[\"\\ud800\"]"), "line 1, column 9");
        assert_eq!(place_of("[\"a"), "line 1, column 3");
        assert_eq!(place_of("[\"a\\"), "line 1, column 4");
        assert_eq!(place_of(""), "line 1, column 0");
        assert_eq!(parse(b"[\xff]").unwrap_err().place(), Some("byte 1"));
    }

    #[test]
    fn nesting_is_bounded_and_whole_numbers_stay_whole() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(127).as_bytes()).is_ok());
        assert!(parse(nested(128).as_bytes()).is_err());
        assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
        let whole = |text: &str| Node::of(parse(text.as_bytes()).unwrap()).map(|node| format!("{node:?}"));
        assert_eq!(whole(&i128::MIN.to_string()).unwrap(), format!("Whole({})", i128::MIN));
        assert!(whole(&format!("1{}", "0".repeat(39))).is_err());
    }

    fn agrees(raw: &RawValue, json: &Json) -> bool {
        match (&Node::of(raw).unwrap(), json) {
            (Node::Null, Json::Null) => true,
            (Node::Flag(a), Json::Bool(b)) => a == b,
            (Node::Whole(a), Json::Number(b)) => b.as_i128().map_or_else(
                || b.as_f64().map(f64::to_bits) == Some((*a as f64).to_bits()) || *a == 0,
                |b| *a == b,
            ),
            (Node::Number(a), Json::Number(b)) => b.as_f64().map(f64::to_bits) == Some(a.to_bits()),
            (Node::Text(a), Json::String(b)) => a == b,
            (Node::List(a), Json::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(a, b))
            }
            (Node::Object(a), Json::Object(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && agrees(a, b))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn damaged_texts_are_taken_or_refused_as_serde_json_does(
            text in "[\\[\\]{},:\"\\\\ \na0-9eE.+ntruf-]{0,12}|(\\[|\\{\"k\":)(-?[0-9]{1,22}(\\.[0-9]+)?(e-?[0-9]{1,3})?|null|true|\"[ä\\\\u0-9d\"n/]{0,8}\")(,|:|\\]|\\}){0,2}"
        ) {
            let reference = serde_json::from_str::<Json>(&text);
            match parse(text.as_bytes()) {
                Ok(raw) => prop_assert!(agrees(raw, &reference.unwrap())),
                Err(error) => prop_assert!(reference.is_err() || error.what().contains("twice")),
            }
        }
    }
}
