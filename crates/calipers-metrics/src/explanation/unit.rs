//! One explanation as it was read: borrowed arrays of the file's own types under their keys.

use std::collections::BTreeMap;

use calipers_core::{Error, NumberSlice, Result, Wide};
use half::{bf16, f16};

/// A value of a mask.
pub(super) trait Importance: Wide {
    /// The value as masks have it: whole numbers are read as f32.
    #[inline(always)]
    fn importance(self) -> f64 {
        f64::from(self.wide() as f32)
    }
}

impl Importance for f16 {}
impl Importance for bf16 {}
impl Importance for f32 {}
impl Importance for bool {}

impl Importance for f64 {
    #[inline(always)]
    fn importance(self) -> f64 {
        self
    }
}

impl Importance for i64 {
    #[inline(always)]
    fn importance(self) -> f64 {
        f64::from(self as f32)
    }
}

/// Values and the lengths of their axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// The lengths of the axes, the slowest first; none for a single value.
    pub shape: Vec<usize>,
    /// The values in C order.
    pub data: NumberSlice<'a>,
}

impl<'a> Array<'a> {
    /// Refuses data of another length than the axes say.
    pub fn new(shape: impl Into<Vec<usize>>, data: NumberSlice<'a>) -> Result<Self> {
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
        assert!(Array::new([2, 2], NumberSlice::Int(&[1, 2, 3])).is_err());
        assert!(Array::new([usize::MAX, 2], NumberSlice::Int(&[])).is_err());
        assert!(Array::new([0, 2], NumberSlice::Int(&[])).is_ok());
        assert!(Array::new([], NumberSlice::Bool(&[true])).is_ok());
    }

    #[test]
    fn types_are_found_under_their_key_and_no_other() {
        let one = Array::new([1], NumberSlice::Int(&[1])).unwrap();
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
}
