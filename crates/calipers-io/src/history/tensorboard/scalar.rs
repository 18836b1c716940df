//! The value of one tag in one event: a number, or what else it is.

use std::fmt;

use calipers_core::Stored;

use crate::history::wire::{Field, Fields, Malformed};

/// What a summary holds under a tag.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Held {
    /// One number, and the precision in which it was stored.
    Number(f64, Stored),
    /// Something that is no single number, in words.
    Other(String),
}

/// One value of a summary.
pub(super) struct Tagged<'a> {
    /// Its tag.
    pub(super) tag: &'a [u8],
    /// The field that holds it, not yet read.
    content: Option<(u64, Field<'a>)>,
}

impl<'a> Tagged<'a> {
    /// Finds the tag and the content of a value without reading the content.
    pub(super) fn of(value: &'a [u8]) -> Result<Self, Malformed> {
        let mut tagged = Self { tag: b"", content: None };
        for field in Fields::of(value) {
            match field? {
                (1, Field::Bytes(tag)) => tagged.tag = tag,
                content @ (2, Field::Fixed32(_)) | content @ (3..=6 | 8, Field::Bytes(_)) => {
                    tagged.content = Some(content);
                }
                _ => {}
            }
        }
        Ok(tagged)
    }

    /// Reads the content.
    pub(super) fn held(&self) -> Result<Held, Malformed> {
        Ok(match self.content {
            Some((2, Field::Fixed32(bits))) => Held::Number(f64::from(f32::from_bits(bits)), Stored::Single),
            Some((8, Field::Bytes(tensor))) => Tensor::of(tensor)?.held(),
            Some((3 | 5, _)) => Held::Other("a histogram".to_owned()),
            Some((4, _)) => Held::Other("an image".to_owned()),
            Some((6, _)) => Held::Other("a sound".to_owned()),
            _ => Held::Other("no value".to_owned()),
        })
    }
}

const FLOAT: u64 = 1;
const DOUBLE: u64 = 2;

/// The parts of a tensor that decide whether it is one number.
#[derive(Default)]
struct Tensor<'a> {
    kind: u64,
    shape: Vec<i64>,
    content: &'a [u8],
    floats: Listed,
    doubles: Listed,
}

/// How many numbers a field lists, and the last of them.
#[derive(Default)]
struct Listed {
    count: usize,
    last: f64,
}

impl Listed {
    fn packed<const N: usize>(&mut self, bytes: &[u8], read: fn([u8; N]) -> f64) -> Result<(), Malformed> {
        let (numbers, rest) = bytes.as_chunks::<N>();
        if !rest.is_empty() {
            return Err(Malformed::new("packed numbers that end inside a number"));
        }
        self.count += numbers.len();
        self.last = numbers.last().map_or(self.last, |bytes| read(*bytes));
        Ok(())
    }
}

fn single(bytes: [u8; 4]) -> f64 {
    f64::from(f32::from_le_bytes(bytes))
}

impl<'a> Tensor<'a> {
    fn of(message: &'a [u8]) -> Result<Self, Malformed> {
        let mut tensor = Self::default();
        for field in Fields::of(message) {
            match field? {
                (1, Field::Varint(kind)) => tensor.kind = kind,
                (2, Field::Bytes(shape)) => tensor.add_shape(shape)?,
                (4, Field::Bytes(content)) => tensor.content = content,
                (5, Field::Bytes(packed)) => tensor.floats.packed(packed, single)?,
                (5, Field::Fixed32(bits)) => tensor.floats.packed(&bits.to_le_bytes(), single)?,
                (6, Field::Bytes(packed)) => tensor.doubles.packed(packed, f64::from_le_bytes)?,
                (6, Field::Fixed64(bits)) => {
                    tensor.doubles.packed(&bits.to_le_bytes(), f64::from_le_bytes)?
                }
                _ => {}
            }
        }
        Ok(tensor)
    }

    fn add_shape(&mut self, shape: &'a [u8]) -> Result<(), Malformed> {
        for field in Fields::of(shape) {
            if let (2, Field::Bytes(axis)) = field? {
                let mut size = 0;
                for field in Fields::of(axis) {
                    if let (1, Field::Varint(number)) = field? {
                        size = number.cast_signed();
                    }
                }
                self.shape.push(size);
            }
        }
        Ok(())
    }

    fn held(&self) -> Held {
        let kind = Kind(self.kind);
        let (content, listed, width, stored) = match self.kind {
            FLOAT => (self.content.try_into().ok().map(single), &self.floats, 4, Stored::Single),
            DOUBLE => {
                let content = self.content.try_into().ok().map(f64::from_le_bytes);
                (content, &self.doubles, 8, Stored::Double)
            }
            _ => return Held::Other(format!("a tensor of {kind}")),
        };
        // A short list stands for a tensor that repeats its last element, so that the shape decides.
        if self.shape.iter().any(|size| *size != 1) {
            return Held::Other(format!("a tensor of shape {:?} ({kind})", self.shape));
        }
        match (content, listed.count) {
            (Some(number), 0) => Held::Number(number, stored),
            (None, 1) if self.content.is_empty() => Held::Number(listed.last, stored),
            (_, count) => {
                let elements = self.content.len() / width + count;
                Held::Other(format!("a tensor of {elements} elements ({kind})"))
            }
        }
    }
}

/// The element type of a tensor in words.
struct Kind(u64);

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            FLOAT => f.write_str("float"),
            DOUBLE => f.write_str("double"),
            3..=6 | 9 | 17 | 22 | 23 => f.write_str("whole numbers"),
            7 => f.write_str("text"),
            10 => f.write_str("truth values"),
            14 | 19 => f.write_str("half-precision numbers"),
            other => write!(f, "type {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of bytes.
    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, content.len() as u8][..], content].concat()
    }

    fn tensor(parts: &[Vec<u8>]) -> Held {
        let value = [bytes(1, b"tag"), bytes(8, &parts.concat())].concat();
        let tagged = Tagged::of(&value).unwrap();
        assert_eq!(tagged.tag, b"tag");
        tagged.held().unwrap()
    }

    fn other(held: Held) -> String {
        match held {
            Held::Number(number, _) => panic!("{number} was read"),
            Held::Other(what) => what,
        }
    }

    const F: [u8; 2] = [0x08, 1];
    const D: [u8; 2] = [0x08, 2];

    #[test]
    fn one_element_is_a_number_however_it_is_stored() {
        let (f, d) = (0.1_f32.to_le_bytes(), 0.1_f64.to_le_bytes());
        let singles = [bytes(4, &f), bytes(5, &f), [&[0x2d][..], &f].concat()];
        let doubles = [bytes(4, &d), bytes(6, &d), [&[0x31][..], &d].concat()];
        let row = bytes(2, &bytes(2, &[0x08, 1]));
        for (single, double) in singles.into_iter().zip(doubles) {
            assert_eq!(
                tensor(&[F.to_vec(), single.clone()]),
                Held::Number(f64::from(0.1_f32), Stored::Single)
            );
            assert_eq!(
                tensor(&[F.to_vec(), row.clone(), single]),
                Held::Number(f64::from(0.1_f32), Stored::Single)
            );
            assert_eq!(tensor(&[D.to_vec(), double]), Held::Number(0.1, Stored::Double));
        }
    }

    #[test]
    fn many_elements_are_told_by_their_number_or_shape() {
        let f = 0.5_f32.to_le_bytes();
        let three = [f, f, f].concat();
        for stored in [bytes(4, &three), bytes(5, &three)] {
            assert_eq!(other(tensor(&[F.to_vec(), stored])), "a tensor of 3 elements (float)");
        }
        let repeated = bytes(2, &[bytes(2, &[0x08, 3]), bytes(2, &[0x08, 1])].concat());
        assert_eq!(other(tensor(&[F.to_vec(), repeated, bytes(5, &f)])), "a tensor of shape [3, 1] (float)");
        assert_eq!(other(tensor(&[D.to_vec()])), "a tensor of 0 elements (double)");
        assert_eq!(other(tensor(&[D.to_vec(), bytes(5, &f)])), "a tensor of 0 elements (double)");
    }

    #[test]
    fn other_kinds_are_named() {
        assert_eq!(other(tensor(&[vec![0x08, 7], bytes(8, b"text")])), "a tensor of text");
        assert_eq!(other(tensor(&[vec![0x08, 9]])), "a tensor of whole numbers");
        assert_eq!(other(tensor(&[])), "a tensor of type 0");
        for (number, what) in [(3, "a histogram"), (4, "an image"), (5, "a histogram"), (6, "a sound")] {
            assert_eq!(other(Tagged::of(&bytes(number, b"")).unwrap().held().unwrap()), what);
        }
        assert_eq!(other(Tagged::of(&bytes(1, b"tag")).unwrap().held().unwrap()), "no value");
    }

    #[test]
    fn packed_numbers_that_end_inside_one_are_malformed() {
        let value = bytes(8, &[F.to_vec(), bytes(5, &[0; 5])].concat());
        assert!(Tagged::of(&value).unwrap().held().is_err());
    }
}
