//! The wire format of protocol buffers: numbered fields of four kinds, borrowed from the bytes.

use calipers_core::Error;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed(&'static str);

impl Malformed {
    /// A message that is malformed in a way its reader found out.
    pub(super) fn new(why: &'static str) -> Self {
        Self(why)
    }
}

impl From<Malformed> for Error {
    /// The checksum of the record is right, so that its writer or its format is another one.
    fn from(malformed: Malformed) -> Self {
        let error = Self::format("a record is not a readable message").found(malformed.0);
        error.allowed("protocol buffer fields that end with the record")
    }
}

/// What one field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    /// A whole number or a truth value.
    Varint(u64),
    /// Eight bytes, little endian.
    Fixed64(u64),
    /// Text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
    /// Four bytes, little endian.
    Fixed32(u32),
}

/// The fields of a message, in the order in which they were written.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of the message that these bytes are.
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Malformed> {
        match self.rest {
            [byte @ ..0x80, rest @ ..] => {
                self.rest = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for (place, byte) in self.rest.iter().take(10).enumerate() {
            let part = u64::from(byte & 0x7f);
            if place == 9 && part > 1 {
                break;
            }
            value |= part << (7 * place);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[place + 1..];
                return Ok(value);
            }
        }
        Err(Malformed("a number that does not end, or passes 64 bits"))
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) =
            self.rest.split_first_chunk().ok_or(Malformed("a number that passes the end of its message"))?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.varint()?;
        let past = Malformed("a field that passes the end of its message");
        let length = usize::try_from(length).map_err(|_| past)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(past)?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    fn field(&mut self) -> Result<(u64, Field<'a>), Malformed> {
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(self.fixed()?)),
            2 => Field::Bytes(self.bytes()?),
            5 => Field::Fixed32(u32::from_le_bytes(self.fixed()?)),
            _ => return Err(Malformed("a field of a kind that is not in use")),
        };
        match tag >> 3 {
            0 => Err(Malformed("a field with the number 0")),
            number => Ok((number, field)),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Field<'a>), Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(message: &[u8]) -> Result<Vec<(u64, Field<'_>)>, Malformed> {
        Fields::of(message).collect()
    }

    #[test]
    fn the_four_kinds_are_read_in_the_order_written() {
        let message = [
            &[0x08, 0x96, 0x01][..],
            &[0x11, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f],
            &[0x82, 0x01, 2, b'h', b'i'],
            &[0x15, 1, 0, 0, 0],
        ]
        .concat();
        let want = [
            (1, Field::Varint(150)),
            (2, Field::Fixed64(1_f64.to_bits())),
            (16, Field::Bytes(b"hi")),
            (2, Field::Fixed32(1)),
        ];
        assert_eq!(all(&message).unwrap(), want);
        assert_eq!(all(b""), Ok(vec![]));
    }

    #[test]
    fn numbers_reach_64_bits_and_no_further() {
        let most = [&[0x08][..], &[0xff; 9], &[0x01]].concat();
        assert_eq!(all(&most), Ok(vec![(1, Field::Varint(u64::MAX))]));
        let beyond = [&[0x08][..], &[0xff; 9], &[0x02]].concat();
        assert!(all(&beyond).is_err());
        assert!(all(&[0x08, 0xff]).is_err());
    }

    #[test]
    fn fields_that_pass_the_end_are_refused() {
        let huge = [&[0x0a][..], &[0xff; 9], &[0x01]].concat();
        for message in [&b"\x0a\x02a"[..], b"\x0d\0\0\0", b"\x09\0\0\0\0\0\0\0", b"\x0a", &huge] {
            assert!(all(message).is_err(), "{message:?}");
        }
    }

    #[test]
    fn groups_and_the_number_0_are_refused() {
        for message in [&b"\x0b\x0c"[..], b"\x0e", b"\x0f", b"\x00\x01"] {
            assert!(all(message).is_err(), "{message:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end_after_at_most_as_many_fields(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Fields::of(&bytes).count() <= bytes.len());
        }
    }
}
