//! The numbers of an array, whatever their type.

use std::borrow::Cow;

use calipers_core::{Error, NumberSlice, Result};
use half::{bf16, f16};

use super::{Array, Dtype, Element};

/// The numbers of an array: borrowed wherever memory has them as the machine wants them, and copied
/// elsewhere. Integers of other widths are widened.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyElements<'a> {
    /// Half precision.
    F16(Cow<'a, [f16]>),
    /// Half precision with the range of single precision.
    BF16(Cow<'a, [bf16]>),
    /// Single precision.
    F32(Cow<'a, [f32]>),
    /// Double precision.
    F64(Cow<'a, [f64]>),
    /// Integers.
    Int(Cow<'a, [i64]>),
    /// Truth values.
    Bool(Cow<'a, [bool]>),
}

impl Array {
    /// The numbers of the array; text is refused.
    pub fn any_elements(&self) -> Result<AnyElements<'_>> {
        Ok(match self.dtype() {
            Dtype::Text => {
                return Err(Error::value("the array holds text").allowed("numbers or truth values"));
            }
            Dtype::F16 => AnyElements::F16(self.typed()?),
            Dtype::BF16 => AnyElements::BF16(self.typed()?),
            Dtype::F32 => AnyElements::F32(self.typed()?),
            Dtype::F64 => AnyElements::F64(self.typed()?),
            Dtype::I64 => AnyElements::Int(self.typed()?),
            Dtype::Bool => AnyElements::Bool(self.to_i64s()?.into_iter().map(|value| value != 0).collect()),
            _ => AnyElements::Int(self.to_i64s()?.into()),
        })
    }

    fn typed<T: Element>(&self) -> Result<Cow<'_, [T]>> {
        self.elements().ok_or_else(|| Error::format("the memory is not as long as the shape says"))
    }
}

/// Runs the same code on the elements of whichever type there is, and puts what it gives into `$into`.
macro_rules! map_elements {
    ($elements:expr, $values:ident => $into:ident($body:expr)) => {
        match $elements {
            AnyElements::F16($values) => $into::F16($body),
            AnyElements::BF16($values) => $into::BF16($body),
            AnyElements::F32($values) => $into::F32($body),
            AnyElements::F64($values) => $into::F64($body),
            AnyElements::Int($values) => $into::Int($body),
            AnyElements::Bool($values) => $into::Bool($body),
        }
    };
}

impl<'a> AnyElements<'a> {
    /// The numbers, borrowed.
    pub fn view(&self) -> NumberSlice<'_> {
        map_elements!(self, values => NumberSlice(values))
    }

    /// The numbers where they are borrowed, for as long as the array is there.
    pub fn borrowed(&self) -> Option<NumberSlice<'a>> {
        macro_rules! borrowed {
            ($values:expr) => {
                match $values {
                    Cow::Borrowed(values) => *values,
                    Cow::Owned(_) => return None,
                }
            };
        }
        Some(map_elements!(self, values => NumberSlice(borrowed!(values))))
    }

    /// The numbers in memory of their own.
    pub fn into_owned(self) -> AnyElements<'static> {
        map_elements!(self, values => AnyElements(Cow::Owned(values.into_owned())))
    }

    /// The same part of every stretch of `whole` numbers, one behind the other.
    pub fn pieces(&self, whole: usize, part: &std::ops::Range<usize>) -> AnyElements<'static> {
        map_elements!(self, values => AnyElements(Cow::Owned(pieces(values, whole, part))))
    }
}

fn pieces<T: Copy>(values: &[T], whole: usize, part: &std::ops::Range<usize>) -> Vec<T> {
    if whole == 0 {
        return Vec::new();
    }
    values.chunks_exact(whole).flat_map(|stretch| &stretch[part.clone()]).copied().collect()
}
