//! Arrays as a file holds them, owned until their unit is measured.

use std::ops::Range;

use calipers_core::{Error, Result};
use calipers_io::array::{AnyElements, Array as FileArray};
use calipers_metrics::explanation::Array;

/// Values of one type in C order.
pub(super) type Values = AnyElements<'static>;

/// Values and the lengths of their axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub(super) shape: Vec<usize>,
    pub(super) values: Values,
}

impl Stored {
    /// The array of a file; text is refused.
    pub(super) fn new(array: &FileArray) -> Result<Self> {
        let values = array.any_elements()?.into_owned();
        // An array in memory has axes that fit a usize, unless it is empty.
        let axis =
            |&axis: &u64| usize::try_from(axis).map_err(|_| Error::value("an axis is too long").found(axis));
        Ok(Self { shape: array.shape().iter().map(axis).collect::<Result<_>>()?, values })
    }

    /// An array that stands for a key nothing uses.
    pub(super) fn nothing() -> Self {
        Self { shape: vec![0], values: Values::Bool(Vec::new().into()) }
    }

    /// The array as the family takes it.
    pub(super) fn view(&self) -> Result<Array<'_>> {
        Array::new(self.shape.clone(), self.values.view())
    }

    /// The part of the array within a range of one of its axes.
    pub(super) fn cut(&self, axis: usize, range: Range<usize>) -> Self {
        let inner: usize = self.shape[axis + 1..].iter().product();
        let whole = self.shape[axis] * inner;
        let values = self.values.pieces(whole, &(range.start * inner..range.end * inner));
        let mut shape = self.shape.clone();
        shape[axis] = range.len();
        Self { shape, values }
    }
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
