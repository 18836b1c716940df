//! Score arrays of heads, borrowed from the arrays of files.

use std::borrow::Cow;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Dtype};
use calipers_metrics::segmentation::unit::{ScoreArray, ScoreData};
use half::{bf16, f16};

use super::shape_text;

/// The elements of a score array, borrowed where memory allows.
pub enum Scores<'a> {
    /// Half precision.
    F16([usize; 3], Cow<'a, [f16]>),
    /// Half precision with the range of single precision.
    BF16([usize; 3], Cow<'a, [bf16]>),
    /// Single precision.
    F32([usize; 3], Cow<'a, [f32]>),
    /// Double precision.
    F64([usize; 3], Cow<'a, [f64]>),
}

impl<'a> Scores<'a> {
    /// Checks that an array holds floats on three axes, or with a leading one of length 1.
    pub fn new(array: &'a Array) -> Result<Self> {
        let found = || format!("{} {}", array.dtype().name(), shape_text(array.shape()));
        if !array.dtype().is_float() {
            return Err(Error::value("an array of whole numbers holds no scores")
                .found(found())
                .allowed("f16, bf16, f32, f64")
                .advice("if these are label maps, say --kind labels"));
        }
        let (&[a, b, c] | &[1, a, b, c]) = array.shape() else {
            return Err(Error::value("scores have three axes: channels, height and width")
                .found(found())
                .advice("save one array C,H,W or H,W,C for each unit"));
        };
        // The array is in memory, so that its axes fit.
        let shape = [a, b, c].map(|axis| axis as usize);
        let elements = match array.dtype() {
            Dtype::F16 => array.elements().map(|values| Self::F16(shape, values)),
            Dtype::BF16 => array.elements().map(|values| Self::BF16(shape, values)),
            Dtype::F32 => array.elements().map(|values| Self::F32(shape, values)),
            _ => array.elements().map(|values| Self::F64(shape, values)),
        };
        elements.ok_or_else(|| Error::format("the array is not as long as its shape says").found(found()))
    }

    /// The view that is measured.
    pub fn view(&self) -> ScoreArray<'_> {
        match self {
            Self::F16(shape, values) => ScoreArray { shape: *shape, data: ScoreData::F16(values) },
            Self::BF16(shape, values) => ScoreArray { shape: *shape, data: ScoreData::BF16(values) },
            Self::F32(shape, values) => ScoreArray { shape: *shape, data: ScoreData::F32(values) },
            Self::F64(shape, values) => ScoreArray { shape: *shape, data: ScoreData::F64(values) },
        }
    }
}
