//! Nested JSON lists as one array: integers, truth values or floats, by how they are written.

use calipers_io::limits;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::stored::{Stored, Values};

/// An array that grows as its lists are read.
pub(super) struct Growing<'p> {
    values: Values,
    /// The length of each axis, known when the first list along it ends.
    shape: Vec<Option<usize>>,
    /// How many lists are around a value.
    depth: Option<usize>,
    /// Where the reader is, for messages; it stays there when reading fails.
    place: &'p mut Vec<usize>,
}

/// Reads one value: a number, `true`, `false` or lists of them.
pub(super) struct ArraySeed<'p>(pub(super) &'p mut Vec<usize>);

impl<'de> DeserializeSeed<'de> for ArraySeed<'_> {
    type Value = Stored;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Stored, D::Error> {
        self.0.clear();
        let mut array =
            Growing { values: Values::Int(Vec::new().into()), shape: Vec::new(), depth: None, place: self.0 };
        deserializer.deserialize_any(Level { array: &mut array, depth: 0 })?;
        Ok(array.finish())
    }
}

impl Growing<'_> {
    pub(super) fn finish(self) -> Stored {
        Stored { shape: self.shape.into_iter().map(Option::unwrap_or_default).collect(), values: self.values }
    }

    fn is_empty(&self) -> bool {
        self.depth.is_none()
    }

    /// Every value is inside equally many lists.
    fn value_at<E: Error>(&mut self, depth: usize) -> Result<(), E> {
        if self.depth.is_some_and(|known| known != depth) || self.shape.len() > depth {
            return Err(E::custom("a ragged list: a value where other places have a list"));
        }
        self.depth = Some(depth);
        Ok(())
    }

    fn whole<E: Error>(&mut self, value: i64) -> Result<(), E> {
        match &mut self.values {
            Values::Int(values) => values.to_mut().push(value),
            Values::F64(values) => values.to_mut().push(value as f64),
            _ => return Err(E::custom("a number among truth values")),
        }
        Ok(())
    }

    fn float<E: Error>(&mut self, value: f64) -> Result<(), E> {
        if let Values::Int(values) = &self.values {
            self.values = Values::F64(values.iter().map(|value| *value as f64).collect());
        }
        match &mut self.values {
            Values::F64(values) => values.to_mut().push(value),
            _ => return Err(E::custom("a number among truth values")),
        }
        Ok(())
    }

    fn truth<E: Error>(&mut self, value: bool, first: bool) -> Result<(), E> {
        if first {
            self.values = Values::Bool(Vec::new().into());
        }
        match &mut self.values {
            Values::Bool(values) => values.to_mut().push(value),
            _ => return Err(E::custom("a truth value among numbers")),
        }
        Ok(())
    }

    fn list_at<E: Error>(&mut self, depth: usize) -> Result<(), E> {
        if self.depth.is_some_and(|values| values <= depth) {
            return Err(E::custom("a ragged list: a list where other places have a value"));
        }
        if depth == limits::RANK {
            return Err(E::custom(format_args!("lists within lists, more than {} deep", limits::RANK)));
        }
        if self.shape.len() == depth {
            self.shape.push(None);
        }
        Ok(())
    }

    fn list_ends<E: Error>(&mut self, depth: usize, length: usize) -> Result<(), E> {
        match self.shape[depth] {
            Some(known) if known != length => {
                Err(E::custom(format_args!("a ragged list: {length} entries where others have {known}")))
            }
            _ => {
                self.shape[depth] = Some(length);
                Ok(())
            }
        }
    }
}

/// A value or list inside so many lists.
struct Level<'a, 'p> {
    array: &'a mut Growing<'p>,
    depth: usize,
}

calipers_io::seed!(Level<'_, '_> => (), deserialize_any);

impl<'de> Visitor<'de> for Level<'_, '_> {
    type Value = ();

    calipers_io::expecting!("a number, true or false, or lists of them");

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.array.value_at(self.depth)?;
        self.array.whole(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.array.value_at(self.depth)?;
        match i64::try_from(value) {
            Ok(value) => self.array.whole(value),
            Err(_) if matches!(self.array.values, Values::F64(_)) => self.array.float(value as f64),
            Err(_) => Err(E::custom(format_args!("the integer {value} is beyond 64 bits with a sign"))),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.array.value_at(self.depth)?;
        self.array.float(value)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        let first = self.array.is_empty();
        self.array.value_at(self.depth)?;
        self.array.truth(value, first)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { array, depth } = self;
        array.list_at(depth)?;
        let mut length = 0;
        array.place.push(length);
        while list.next_element_seed(Level { array, depth: depth + 1 })?.is_some() {
            length += 1;
            array.place[depth] = length;
        }
        array.place.pop();
        array.list_ends(depth, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Stored, (String, Vec<usize>)> {
        let mut place = Vec::new();
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = ArraySeed(&mut place).deserialize(&mut reader);
        read.map_err(|error| (error.to_string(), place))
    }

    #[test]
    fn a_point_or_exponent_anywhere_makes_all_numbers_floats() {
        let values = |text: &str| read(text).unwrap().values;
        assert_eq!(values("[1, -2]"), Values::Int(vec![1, -2].into()));
        assert_eq!(values("[1, 2.0]"), Values::F64(vec![1.0, 2.0].into()));
        assert_eq!(values("[[1], [1e0]]"), Values::F64(vec![1.0, 1.0].into()));
        assert_eq!(values("[true, false]"), Values::Bool(vec![true, false].into()));
        assert_eq!(values("[]"), Values::Int(Vec::new().into()));
        assert_eq!(
            values("[0.5, 18446744073709551615]"),
            Values::F64(vec![0.5, 18446744073709551615.0].into())
        );
    }

    #[test]
    fn shapes_are_the_lengths_of_the_lists() {
        for (text, shape) in [
            ("3", &[][..]),
            ("[]", &[0]),
            ("[[], []]", &[2, 0]),
            ("[[1, 2, 3], [4, 5, 6]]", &[2, 3]),
            ("[[[1]], [[2]]]", &[2, 1, 1]),
        ] {
            assert_eq!(read(text).unwrap().shape, shape, "{text}");
        }
    }

    #[test]
    fn what_is_no_array_is_refused_with_its_place() {
        for (text, words, index) in [
            ("[1, null]", "null", &[1][..]),
            ("[1, \"a\"]", "string", &[1]),
            ("[[1, 2], [3]]", "1 entries where others have 2", &[1]),
            ("[[1], 2]", "ragged", &[1]),
            ("[1, [2]]", "ragged", &[1]),
            ("[[], [[1]]]", "ragged", &[1]),
            ("[[], 1]", "ragged", &[1]),
            ("[true, 1]", "among truth values", &[1]),
            ("[0, 0.5, true]", "among numbers", &[2]),
            ("[[0.5, NaN]]", "expected value", &[0, 1]),
            ("[9223372036854775808]", "beyond 64 bits", &[0]),
            ("[{\"a\": 1}]", "map", &[0]),
        ] {
            let (error, place) = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
            assert_eq!(place, index, "{text}: {error}");
        }
    }
}
