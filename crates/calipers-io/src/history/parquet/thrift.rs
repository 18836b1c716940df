//! The compact protocol of Thrift, in which parquet writes its footer and its page headers.

use calipers_core::{Error, Result};

use super::shape::Shape;
use crate::limits;

/// How the value of a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A truth value, which is part of the field's head.
    Bool,
    /// One byte.
    Byte,
    /// A whole number of 16, 32 or 64 bits.
    Int,
    /// Eight bytes.
    Double,
    /// Bytes with their length.
    Binary,
    /// Values of one kind with their number.
    List,
    /// Pairs with their number.
    Map,
    /// Fields up to a stop.
    Struct,
    /// Sixteen bytes.
    Uuid,
}

/// A cursor over bytes that are checked before anything trusts them.
pub(super) struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
    start: u64,
}

impl<'a> Compact<'a> {
    /// A cursor over bytes that begin at the given byte of their file.
    pub(super) fn new(bytes: &'a [u8], start: u64) -> Self {
        Self { bytes, at: 0, start }
    }

    /// How many bytes were read.
    pub(super) fn read(&self) -> usize {
        self.at
    }

    fn broken(&self, found: &str) -> Error {
        Error::format("parquet: a structure cannot be read")
            .at(format_args!("byte {}", self.start + self.at as u64))
            .found(found)
            .advice("write or copy the file again")
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.broken("its end"))?;
        self.at += 1;
        Ok(byte)
    }

    fn pass(&mut self, length: u64) -> Result<()> {
        let left = self.bytes.len() - self.at;
        match usize::try_from(length) {
            Ok(length) if length <= left => self.at += length,
            _ => return Err(self.broken(&format!("a length of {length} with {left} bytes left"))),
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                break;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.broken("a number of more than 64 bits"))
    }

    /// A whole number with a sign.
    pub(super) fn int(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The head of the next field of a struct; `number` is that of the field before, from 0.
    pub(super) fn field(&mut self, number: &mut i64) -> Result<Option<Kind>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let step = i64::from(head >> 4);
        *number = if step == 0 { self.int()? } else { number.saturating_add(step) };
        self.kind(head & 15).map(Some)
    }

    fn kind(&self, code: u8) -> Result<Kind> {
        Ok(match code {
            1 | 2 => Kind::Bool,
            3 => Kind::Byte,
            4..=6 => Kind::Int,
            7 => Kind::Double,
            8 => Kind::Binary,
            9 | 10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            13 => Kind::Uuid,
            _ => return Err(self.broken(&format!("a value of the kind {code}"))),
        })
    }

    /// Passes over the value of a field.
    pub(super) fn skip(&mut self, kind: Kind) -> Result<()> {
        self.skip_below(kind, limits::DEPTH)
    }

    fn skip_below(&mut self, kind: Kind, depth: usize) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| self.broken("values nested too deep"))?;
        match kind {
            Kind::Bool => Ok(()),
            Kind::Byte => self.pass(1),
            Kind::Int => self.varint().map(drop),
            Kind::Double => self.pass(8),
            Kind::Uuid => self.pass(16),
            Kind::Binary => {
                let length = self.varint()?;
                self.pass(length)
            }
            Kind::Struct => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip_below(kind, depth)?;
                }
                Ok(())
            }
            Kind::List => {
                let Some((count, kind)) = self.list_head()? else { return Ok(()) };
                self.elements(count, &[kind], depth)
            }
            Kind::Map => {
                let count = self.varint()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                let kinds = [self.kind(kinds >> 4)?, self.kind(kinds & 15)?];
                self.elements(count, &kinds, depth)
            }
        }
    }

    /// The number and kind of a list's elements, if it has any.
    fn list_head(&mut self) -> Result<Option<(u64, Kind)>> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        if count == 0 {
            return Ok(None);
        }
        self.enough(count)?;
        Ok(Some((count, self.kind(head & 15)?)))
    }

    /// Passes over a value; fails where a field is written as another kind than its shape says.
    pub(super) fn follow(&mut self, shape: &Shape) -> Result<()> {
        match shape {
            Shape::Plain(kind) => self.skip(*kind),
            Shape::List(element) => {
                let Some((count, kind)) = self.list_head()? else { return Ok(()) };
                self.as_expected(kind, element)?;
                (0..count).try_for_each(|_| match element.kind() {
                    Kind::Bool => self.skip(Kind::Byte),
                    _ => self.follow(element),
                })
            }
            Shape::Struct(fields) => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    match fields.iter().find(|(known, _)| *known == number) {
                        Some((_, shape)) => {
                            self.as_expected(kind, shape)?;
                            self.follow(shape)?;
                        }
                        None => self.skip(kind)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn as_expected(&self, kind: Kind, shape: &Shape) -> Result<()> {
        if kind == shape.kind() {
            return Ok(());
        }
        Err(self.broken(&format!("a value of the kind {kind:?} in place of {:?}", shape.kind())))
    }

    fn enough(&self, count: u64) -> Result<()> {
        let left = self.bytes.len() - self.at;
        // Every element takes a byte, truth values in lists included.
        if count > left as u64 {
            return Err(self.broken(&format!("{count} elements with {left} bytes left")));
        }
        Ok(())
    }

    fn elements(&mut self, count: u64, kinds: &[Kind], depth: usize) -> Result<()> {
        self.enough(count)?;
        for _ in 0..count {
            for kind in kinds {
                let kind = if *kind == Kind::Bool { Kind::Byte } else { *kind };
                self.skip_below(kind, depth)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struct_length(bytes: &[u8]) -> Result<usize> {
        let mut compact = Compact::new(bytes, 100);
        compact.skip(Kind::Struct).map(|()| compact.read())
    }

    #[test]
    fn a_struct_of_every_kind_is_passed_over_to_its_stop() {
        let fields = [
            &[0x11, 0x12][..],                             // fields 1 and 2, truth values
            &[0x13, 9, 0x15, 0x80, 0x01],                  // a byte, a number
            &[0x17, 0, 0, 0, 0, 0, 0, 0, 0],               // a double
            &[0x18, 2, b'h', b'i'],                        // text
            &[0x19, 0x21, 1, 2, 0x19, 0xf5, 2, 4, 6],      // lists of two, the second with a long head
            &[0x1b, 0, 0x1b, 1, 0x58, 2, 1, b'x'],         // an empty map and one pair
            &[0x1c, 0x15, 2, 0, 0x05, 0x40, 4, 0, 99, 99], // a struct, field 32 and the stop
        ];
        let bytes = fields.concat();
        assert_eq!(struct_length(&bytes).unwrap(), bytes.len() - 2);
        for length in 0..bytes.len() - 2 {
            assert!(struct_length(&bytes[..length]).is_err(), "cut at {length}");
        }
    }

    #[test]
    fn lengths_beyond_the_bytes_are_refused_where_they_stand() {
        let error = struct_length(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap_err();
        assert_eq!(error.place(), Some("byte 106"));
        assert!(struct_length(&[0x19, 0xf3, 0xff, 0xff, 0x03, 0, 0]).is_err());
        assert!(struct_length(&[0x1b, 0xff, 0xff, 0x03, 0x33, 0, 0]).is_err());
        assert!(struct_length(&[[0x15].as_slice(), &[0xff; 11], &[0]].concat()).is_err());
        assert!(struct_length(&[0x1c; 400]).unwrap_err().to_string().contains("too deep"));
        assert!(struct_length(&[0x1f, 0]).is_err());
    }

    #[test]
    fn a_field_of_another_kind_is_refused_where_its_shape_is_known() {
        let shape = Shape::Struct(&[(1, Shape::Plain(Kind::Int)), (2, Shape::List(&Shape::Struct(&[])))]);
        let follow = |bytes: &[u8]| Compact::new(bytes, 0).follow(&shape);
        assert!(follow(&[0x15, 2, 0x19, 0x1c, 0, 0x15, 4, 0]).is_ok());
        assert!(follow(&[0x18, 0, 0]).unwrap_err().to_string().contains("Binary in place of Int"));
        assert!(follow(&[0x15, 2, 0x19, 0x15, 2, 0]).is_err());
        assert!(follow(&[0x25, 2, 0]).is_err());
    }

    #[test]
    fn numbers_carry_their_sign() {
        let read = |bytes: &[u8]| Compact::new(bytes, 0).int().unwrap();
        assert_eq!([read(&[0]), read(&[1]), read(&[2]), read(&[0x83, 1])], [0, -1, 1, -66]);
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), i64::MIN);
    }
}
