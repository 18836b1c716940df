//! Arrays as a file holds them, owned until their unit is measured.

use calipers_core::{Error, Result};
use calipers_io::array::{Array as FileArray, Dtype, Element};
use calipers_metrics::explanation::evidence::{Array, Data};
use half::{bf16, f16};

/// Values of one type and the lengths of their axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub(super) shape: Vec<usize>,
    pub(super) values: Values,
}

/// The values in C order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Int(Vec<i64>),
    Bool(Vec<bool>),
}

impl Stored {
    /// The array of a file; text is refused.
    pub(super) fn new(array: &FileArray) -> Result<Self> {
        let values = match array.dtype() {
            Dtype::Text => {
                return Err(Error::value("the array holds text").allowed("numbers or truth values"));
            }
            Dtype::F16 => Values::F16(owned(array)?),
            Dtype::BF16 => Values::BF16(owned(array)?),
            Dtype::F32 => Values::F32(owned(array)?),
            Dtype::F64 => Values::F64(owned(array)?),
            Dtype::Bool => Values::Bool(array.to_i64s()?.into_iter().map(|value| value != 0).collect()),
            _ => Values::Int(array.to_i64s()?),
        };
        // An array in memory has axes that fit a usize, unless it is empty.
        let axis =
            |&axis: &u64| usize::try_from(axis).map_err(|_| Error::value("an axis is too long").found(axis));
        Ok(Self { shape: array.shape().iter().map(axis).collect::<Result<_>>()?, values })
    }

    /// An array that stands for a key nothing uses.
    pub(super) fn nothing() -> Self {
        Self { shape: vec![0], values: Values::Bool(Vec::new()) }
    }

    /// The array as the family takes it.
    pub(super) fn view(&self) -> Result<Array<'_>> {
        let data = match &self.values {
            Values::F16(values) => Data::F16(values),
            Values::BF16(values) => Data::BF16(values),
            Values::F32(values) => Data::F32(values),
            Values::F64(values) => Data::F64(values),
            Values::Int(values) => Data::Int(values),
            Values::Bool(values) => Data::Bool(values),
        };
        Array::new(self.shape.clone(), data)
    }

    /// The part of the array within a range of one of its axes.
    pub(super) fn cut(&self, axis: usize, range: std::ops::Range<usize>) -> Self {
        let inner: usize = self.shape[axis + 1..].iter().product();
        let whole = self.shape[axis] * inner;
        let part = range.start * inner..range.end * inner;
        let values = match &self.values {
            Values::F16(values) => Values::F16(pieces(values, whole, &part)),
            Values::BF16(values) => Values::BF16(pieces(values, whole, &part)),
            Values::F32(values) => Values::F32(pieces(values, whole, &part)),
            Values::F64(values) => Values::F64(pieces(values, whole, &part)),
            Values::Int(values) => Values::Int(pieces(values, whole, &part)),
            Values::Bool(values) => Values::Bool(pieces(values, whole, &part)),
        };
        let mut shape = self.shape.clone();
        shape[axis] = range.len();
        Self { shape, values }
    }
}

fn owned<T: Element>(array: &FileArray) -> Result<Vec<T>> {
    let elements = array.elements::<T>().ok_or_else(|| Error::value("an array of another type"))?;
    Ok(elements.into_owned())
}

/// The same part of every stretch of `whole` values, one behind the other.
fn pieces<T: Copy>(values: &[T], whole: usize, part: &std::ops::Range<usize>) -> Vec<T> {
    if whole == 0 {
        return Vec::new();
    }
    values.chunks_exact(whole).flat_map(|stretch| &stretch[part.clone()]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_takes_every_element_whose_place_on_the_axis_is_in_the_range() {
        let shape = [2, 3, 2];
        let array = Stored { shape: shape.to_vec(), values: Values::Int((0..12).collect()) };
        for axis in 0..3 {
            for start in 0..=shape[axis] {
                for end in start..=shape[axis] {
                    let place = |value: i64| [value / 6, value / 2 % 3, value % 2][axis] as usize;
                    let oracle = (0..12).filter(|value| (start..end).contains(&place(*value))).collect();
                    let cut = array.cut(axis, start..end);
                    assert_eq!(cut.values, Values::Int(oracle), "axis {axis}, {start}..{end}");
                    assert!(cut.view().is_ok());
                }
            }
        }
    }
}
