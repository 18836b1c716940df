//! One explanation as it was read: borrowed arrays of the file's own types under their keys.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use half::{bf16, f16};

/// The values of an array in C order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Data<'a> {
    /// Half precision.
    F16(&'a [f16]),
    /// Half precision with the range of single precision.
    BF16(&'a [bf16]),
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
    /// Integers of any width, widened.
    Int(&'a [i64]),
    /// Truth values.
    Bool(&'a [bool]),
}

/// Runs the same code on the values of whichever type there is.
macro_rules! on_values {
    ($data:expr, $values:ident => $body:expr) => {
        match $data {
            Data::F16($values) => $body,
            Data::BF16($values) => $body,
            Data::F32($values) => $body,
            Data::F64($values) => $body,
            Data::Int($values) => $body,
            Data::Bool($values) => $body,
        }
    };
}
pub(super) use on_values;

/// A value of an array, whatever its type.
pub(super) trait Number: Copy {
    /// The value as f64; whole numbers beyond 2^53 are rounded.
    fn wide(self) -> f64;

    /// The value as masks have it: whole numbers are read as f32.
    #[inline(always)]
    fn importance(self) -> f64 {
        f64::from(self.wide() as f32)
    }
}

macro_rules! widened {
    ($($number:ty),*) => {
        $(impl Number for $number {
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
        })*
    };
}
widened!(f16, bf16, f32, bool);

impl Number for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn importance(self) -> f64 {
        self
    }
}

impl Number for i64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self as f64
    }

    #[inline(always)]
    fn importance(self) -> f64 {
        f64::from(self as f32)
    }
}

impl<'a> Data<'a> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        on_values!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the values have a floating point type.
    pub fn is_float(&self) -> bool {
        !matches!(self, Self::Int(_) | Self::Bool(_))
    }

    /// The name of the type.
    pub fn dtype(&self) -> &'static str {
        match self {
            Self::F16(_) => "float16",
            Self::BF16(_) => "bfloat16",
            Self::F32(_) => "float32",
            Self::F64(_) => "float64",
            Self::Int(_) => "int64",
            Self::Bool(_) => "bool",
        }
    }

    /// The value at a position; whole numbers beyond 2^53 are rounded.
    pub(super) fn get(&self, position: usize) -> f64 {
        on_values!(self, values => values[position].wide())
    }

    /// The value at a position as a message shows it.
    pub(super) fn shown(&self, position: usize) -> String {
        match self {
            Self::Int(values) => values[position].to_string(),
            _ => shown(self.get(position)),
        }
    }

    /// The values of a part of the array.
    pub(super) fn part(&self, range: std::ops::Range<usize>) -> Data<'a> {
        match self {
            Self::F16(values) => Self::F16(&values[range]),
            Self::BF16(values) => Self::BF16(&values[range]),
            Self::F32(values) => Self::F32(&values[range]),
            Self::F64(values) => Self::F64(&values[range]),
            Self::Int(values) => Self::Int(&values[range]),
            Self::Bool(values) => Self::Bool(&values[range]),
        }
    }
}

/// A number as messages show it: `nan`, `inf`, and a point in every other one.
pub(super) fn shown(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value:?}") }
}

/// Values and the lengths of their axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// The lengths of the axes, the slowest first; none for a single value.
    pub shape: Vec<usize>,
    /// The values in C order.
    pub data: Data<'a>,
}

impl<'a> Array<'a> {
    /// Refuses data of another length than the axes say.
    pub fn new(shape: impl Into<Vec<usize>>, data: Data<'a>) -> Result<Self> {
        let shape = shape.into();
        let size = shape.iter().try_fold(1usize, |size, &axis| size.checked_mul(axis));
        if size == Some(data.len()) {
            return Ok(Self { shape, data });
        }
        Err(Error::value("an array has another length than its shape says")
            .found(format!("{} values", data.len()))
            .allowed(format!("shape {shape:?}")))
    }
}

/// Everything that is known of one explanation: arrays by the keys of the family, masks by node or
/// edge type under `pred_mask.TYPE`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence<'a> {
    arrays: BTreeMap<String, Array<'a>>,
}

impl<'a> Evidence<'a> {
    /// No arrays yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an array; one of the same key is replaced.
    pub fn insert(&mut self, key: &str, array: Array<'a>) {
        self.arrays.insert(key.into(), array);
    }

    /// The keys in byte order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// The array of a key that has no types.
    pub(super) fn plain(&self, key: &str) -> Result<Option<&Array<'a>>> {
        if let Some((typed, _)) = self.typed(key).find(|(name, _)| !name.is_empty()) {
            return Err(Error::value(format!("`{key}` cannot be split by type"))
                .found(format!("`{key}.{typed}`"))
                .allowed("masks by node or edge type"));
        }
        Ok(self.arrays.get(key))
    }

    /// The arrays of a key by type, in byte order; the type is empty for a key without one.
    pub(super) fn typed<'s>(&'s self, key: &'s str) -> impl Iterator<Item = (&'s str, &'s Array<'a>)> {
        self.arrays.iter().filter_map(move |(name, array)| {
            let rest = name.strip_prefix(key)?;
            let typed = if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') };
            typed.map(|name| (name, array))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_that_does_not_fit_its_values_is_refused() {
        assert!(Array::new([2, 2], Data::Int(&[1, 2, 3])).is_err());
        assert!(Array::new([usize::MAX, 2], Data::Int(&[])).is_err());
        assert!(Array::new([0, 2], Data::Int(&[])).is_ok());
        assert!(Array::new([], Data::Bool(&[true])).is_ok());
    }

    #[test]
    fn types_are_found_under_their_key_and_no_other() {
        let one = Array::new([1], Data::Int(&[1])).unwrap();
        let mut evidence = Evidence::new();
        for key in ["pred_mask.paper", "pred_mask_samples.paper", "pred_mask.author.x", "y"] {
            evidence.insert(key, one.clone());
        }
        let types: Vec<&str> = evidence.typed("pred_mask").map(|(name, _)| name).collect();
        assert_eq!(types, ["author.x", "paper"]);
        assert!(evidence.plain("y").unwrap().is_some());
        assert!(evidence.plain("y_hat").unwrap().is_none());
        assert!(evidence.plain("pred_mask").is_err());
    }

    #[test]
    fn messages_show_numbers_with_a_point_and_integers_without() {
        assert_eq!(Data::F32(&[1.0]).shown(0), "1.0");
        assert_eq!(Data::F64(&[f64::NAN]).shown(0), "nan");
        assert_eq!(Data::F64(&[f64::NEG_INFINITY]).shown(0), "-inf");
        assert_eq!(Data::Int(&[8]).shown(0), "8");
    }
}
