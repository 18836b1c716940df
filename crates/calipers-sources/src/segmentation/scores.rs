//! Score arrays of heads, borrowed from the arrays of files.

use crate::array_file::shape_text;
use calipers_core::{Error, Result};
use calipers_io::array::{AnyElements, Array};
use calipers_metrics::segmentation::ScoreArray;

/// A score array, borrowed where memory allows.
pub struct Scores<'a> {
    shape: [usize; 3],
    values: AnyElements<'a>,
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
        Ok(Self { shape: [a, b, c].map(|axis| axis as usize), values: array.any_elements()? })
    }

    /// The view that is measured.
    pub fn view(&self) -> ScoreArray<'_> {
        ScoreArray { shape: self.shape, data: self.values.view() }
    }
}
