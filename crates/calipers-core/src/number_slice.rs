//! Numbers of an array in the type that their file or program gave them.

use std::ops::Range;

use half::{bf16, f16};

/// Numbers in C order, borrowed in their own type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberSlice<'a> {
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

/// Runs the same code on the numbers of whichever type there is.
#[macro_export]
macro_rules! on_numbers {
    ($numbers:expr, $values:ident => $body:expr) => {
        match $numbers {
            $crate::NumberSlice::F16($values) => $body,
            $crate::NumberSlice::BF16($values) => $body,
            $crate::NumberSlice::F32($values) => $body,
            $crate::NumberSlice::F64($values) => $body,
            $crate::NumberSlice::Int($values) => $body,
            $crate::NumberSlice::Bool($values) => $body,
        }
    };
}

/// A number of an array, whatever its type.
pub trait Wide: Copy {
    /// The number as f64; whole numbers beyond 2^53 are rounded.
    fn wide(self) -> f64;
}

macro_rules! wide {
    ($($number:ty),*) => {
        $(impl Wide for $number {
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
        })*
    };
}
wide!(f16, bf16, f32, f64, bool);

impl Wide for i64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self as f64
    }
}

impl<'a> NumberSlice<'a> {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        on_numbers!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the numbers have a floating point type.
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

    /// The number at a position; whole numbers beyond 2^53 are rounded.
    #[inline(always)]
    pub fn get(&self, position: usize) -> f64 {
        on_numbers!(self, values => values[position].wide())
    }

    /// The number at a position as a message shows it.
    pub fn shown(&self, position: usize) -> String {
        match self {
            Self::Int(values) => values[position].to_string(),
            _ => shown(self.get(position)),
        }
    }

    /// The numbers of a part of the array.
    pub fn part(&self, range: Range<usize>) -> NumberSlice<'a> {
        match self {
            Self::F16(values) => Self::F16(&values[range]),
            Self::BF16(values) => Self::BF16(&values[range]),
            Self::F32(values) => Self::F32(&values[range]),
            Self::F64(values) => Self::F64(&values[range]),
            Self::Int(values) => Self::Int(&values[range]),
            Self::Bool(values) => Self::Bool(&values[range]),
        }
    }

    /// Puts some of the numbers into `out`, from `start` on.
    #[inline(always)]
    pub fn widen(&self, start: usize, out: &mut [f64]) {
        on_numbers!(self, values => {
            for (out, value) in out.iter_mut().zip(&values[start..]) {
                *out = value.wide();
            }
        });
    }
}

/// A number as messages show it: `nan`, `inf`, and a point in every other one.
pub fn shown(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_shown_without_a_point() {
        assert_eq!(NumberSlice::F32(&[1.0]).shown(0), "1.0");
        assert_eq!(NumberSlice::F64(&[f64::NAN]).shown(0), "nan");
        assert_eq!(NumberSlice::F64(&[f64::NEG_INFINITY]).shown(0), "-inf");
        assert_eq!(NumberSlice::Int(&[8]).shown(0), "8");
    }
}
