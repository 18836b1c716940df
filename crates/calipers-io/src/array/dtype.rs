//! The element types of arrays, and their exact widening.

use calipers_core::{Error, Result};
use half::{bf16, f16};

/// What the elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// One byte, 0 or 1.
    Bool,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// IEEE half precision.
    F16,
    /// The upper half of an `F32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Unicode text of any length.
    Text,
}

impl Dtype {
    /// The name that messages use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Text => "text",
        }
    }

    /// Whether the elements are whole numbers; `Bool` is not.
    pub fn is_integer(self) -> bool {
        use Dtype::*;
        matches!(self, U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64)
    }

    /// Whether the elements are floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Bytes of one element; 0 for text, whose elements have no common size.
    pub fn size(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// Reverses the bytes of every element, from big-endian to little-endian.
pub(super) fn swap_bytes(bytes: &mut [u8], size: usize) {
    match size {
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|c| c.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|c| c.reverse()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|c| c.reverse()),
        _ => {}
    }
}

/// Puts widened elements into `out`. A `None` is a value that cannot be widened exactly.
fn widen<const N: usize, T>(
    bytes: &[u8],
    out: &mut [T],
    read: impl Fn([u8; N]) -> Option<T>,
) -> Option<usize> {
    for (index, (slot, element)) in out.iter_mut().zip(bytes.as_chunks::<N>().0).enumerate() {
        match read(*element) {
            Some(value) => *slot = value,
            None => return Some(index),
        }
    }
    None
}

/// Refuses element types that are neither integers nor bools.
pub(super) fn whole_numbers(dtype: Dtype) -> Result<()> {
    if dtype.is_integer() || dtype == Dtype::Bool {
        return Ok(());
    }
    Err(Error::value("the array must hold whole numbers")
        .found(dtype.name())
        .allowed("bool, u8, u16, u32, u64, i8, i16, i32, i64")
        .advice("convert it to int64"))
}

/// Widens little-endian elements to i64; `first` is the number of the first one, for messages.
pub(super) fn to_i64s(dtype: Dtype, bytes: &[u8], out: &mut [i64], first: u64) -> Result<()> {
    whole_numbers(dtype)?;
    let bad = match dtype {
        Dtype::Bool => widen(bytes, out, |[b]| (b < 2).then_some(i64::from(b))),
        Dtype::U8 => widen(bytes, out, |b| Some(u8::from_le_bytes(b).into())),
        Dtype::U16 => widen(bytes, out, |b| Some(u16::from_le_bytes(b).into())),
        Dtype::U32 => widen(bytes, out, |b| Some(u32::from_le_bytes(b).into())),
        Dtype::U64 => widen(bytes, out, |b| i64::try_from(u64::from_le_bytes(b)).ok()),
        Dtype::I8 => widen(bytes, out, |b| Some(i8::from_le_bytes(b).into())),
        Dtype::I16 => widen(bytes, out, |b| Some(i16::from_le_bytes(b).into())),
        Dtype::I32 => widen(bytes, out, |b| Some(i32::from_le_bytes(b).into())),
        Dtype::I64 => widen(bytes, out, |b| Some(i64::from_le_bytes(b))),
        Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64 | Dtype::Text => None,
    };
    refuse(bad, dtype, bytes, first, "-2^63 to 2^63 - 1")
}

/// Widens little-endian elements to f64; `first` is the number of the first one, for messages.
pub(super) fn to_f64s(dtype: Dtype, bytes: &[u8], out: &mut [f64], first: u64) -> Result<()> {
    let bad = match dtype {
        Dtype::Bool => widen(bytes, out, |[b]| (b < 2).then_some(f64::from(b))),
        Dtype::U8 => widen(bytes, out, |b| Some(u8::from_le_bytes(b).into())),
        Dtype::U16 => widen(bytes, out, |b| Some(u16::from_le_bytes(b).into())),
        Dtype::U32 => widen(bytes, out, |b| Some(u32::from_le_bytes(b).into())),
        Dtype::U64 => widen(bytes, out, |b| exact(u64::from_le_bytes(b).into())),
        Dtype::I8 => widen(bytes, out, |b| Some(i8::from_le_bytes(b).into())),
        Dtype::I16 => widen(bytes, out, |b| Some(i16::from_le_bytes(b).into())),
        Dtype::I32 => widen(bytes, out, |b| Some(i32::from_le_bytes(b).into())),
        Dtype::I64 => widen(bytes, out, |b| exact(i64::from_le_bytes(b).into())),
        Dtype::F16 => widen(bytes, out, |b| Some(f16::from_le_bytes(b).to_f64())),
        Dtype::BF16 => widen(bytes, out, |b| Some(bf16::from_le_bytes(b).to_f64())),
        Dtype::F32 => widen(bytes, out, |b| Some(f32::from_le_bytes(b).into())),
        Dtype::F64 => widen(bytes, out, |b| Some(f64::from_le_bytes(b))),
        Dtype::Text => {
            return Err(Error::value("the array must hold numbers").found(dtype.name()));
        }
    };
    refuse(bad, dtype, bytes, first, "whole numbers that a 64-bit float holds exactly")
}

fn exact(whole: i128) -> Option<f64> {
    let float = whole as f64;
    (float as i128 == whole).then_some(float)
}

fn refuse(bad: Option<usize>, dtype: Dtype, bytes: &[u8], first: u64, allowed: &str) -> Result<()> {
    let Some(index) = bad else { return Ok(()) };
    let element = &bytes[index * dtype.size()..][..dtype.size()];
    let mut wide = [0; 8];
    wide[..element.len()].copy_from_slice(element);
    let too_large = || Error::value("a number is too large").allowed(allowed);
    let error = match dtype {
        Dtype::Bool => Error::value("a bool is neither 0 nor 1").found(element[0]).allowed("0 and 1"),
        Dtype::U64 => too_large().found(u64::from_le_bytes(wide)),
        _ => too_large().found(i64::from_le_bytes(wide)),
    };
    let error = error.advice("check what wrote the array");
    Err(error.at(format!("element {}", first + index as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_that_a_float_cannot_hold_are_named() {
        let bytes: Vec<u8> = [1_i64, (1 << 53) + 1].iter().flat_map(|v| v.to_le_bytes()).collect();
        let error = to_f64s(Dtype::I64, &bytes, &mut [0.0; 2], 10).unwrap_err();
        assert_eq!(error.place(), Some("element 11"));
        assert!(error.to_string().contains("9007199254740993"));
        let large = (1_u64 << 63).to_le_bytes();
        let mut out = [0.0];
        to_f64s(Dtype::U64, &large, &mut out, 0).unwrap();
        assert_eq!(out[0].to_bits(), 9_223_372_036_854_775_808_f64.to_bits());
        assert!(
            to_i64s(Dtype::U64, &large, &mut [0], 0).unwrap_err().to_string().contains("9223372036854775808")
        );
        assert!(to_f64s(Dtype::U64, &[255; 8], &mut out, 0).is_err());
    }

    #[test]
    fn half_precision_is_widened_exactly() {
        for bits in 0..=u16::MAX {
            let mut out = [0.0; 1];
            to_f64s(Dtype::BF16, &bits.to_le_bytes(), &mut out, 0).unwrap();
            let oracle = f64::from(f32::from_bits(u32::from(bits) << 16));
            assert!(out[0].to_bits() == oracle.to_bits() || (out[0].is_nan() && oracle.is_nan()));
            to_f64s(Dtype::F16, &bits.to_le_bytes(), &mut out, 0).unwrap();
            let fraction = f64::from(bits & 0x3ff);
            let magnitude = match i32::from(bits >> 10 & 0x1f) {
                0 => fraction * 2f64.powi(-24),
                31 if fraction > 0.0 => f64::NAN,
                31 => f64::INFINITY,
                exponent => (1024.0 + fraction) * 2f64.powi(exponent - 25),
            };
            let oracle = if bits >> 15 == 1 { -magnitude } else { magnitude };
            assert!(out[0].to_bits() == oracle.to_bits() || (out[0].is_nan() && oracle.is_nan()));
        }
    }

    #[test]
    fn a_bool_of_two_is_refused_and_floats_are_not_whole_numbers() {
        assert!(
            to_i64s(Dtype::Bool, &[0, 1, 2], &mut [0; 3], 0).unwrap_err().to_string().contains("element 2")
        );
        assert!(to_i64s(Dtype::F32, &[0; 4], &mut [0], 0).unwrap_err().to_string().contains("f32"));
    }

    #[test]
    fn swapping_twice_gives_the_same_bytes() {
        for size in [1, 2, 4, 8] {
            let bytes: Vec<u8> = (0..16).collect();
            let mut twice = bytes.clone();
            swap_bytes(&mut twice, size);
            let oracle: Vec<u8> = bytes.chunks(size).flat_map(|c| c.iter().rev().copied()).collect();
            assert_eq!(twice, oracle);
            swap_bytes(&mut twice, size);
            assert_eq!(twice, bytes);
        }
    }
}
