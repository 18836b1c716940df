//! Score arrays of heads, borrowed from the arrays of files.

use crate::array_file::shape_text;
use calipers_core::{Error, Result};
use calipers_io::array::{AnyElements, Array};
use calipers_metrics::segmentation::{Grid, Layout, ScoreArray};

/// A score array, borrowed where memory allows.
pub struct Scores<'a> {
    shape: [usize; 3],
    values: AnyElements<'a>,
}

impl<'a> Scores<'a> {
    /// Checks that an array holds floats on three axes, or with a leading one of length 1.
    pub fn new(array: &'a Array) -> Result<Self> {
        let (&[a, b, c] | &[1, a, b, c]) = array.shape() else {
            return Err(Error::value("scores have three axes: channels, height and width")
                .found(found(array))
                .advice("save one array C,H,W or H,W,C for each unit"));
        };
        Self::of(array, [a, b, c])
    }

    /// The same for the scores of a unit whose truth has this grid: those of a volume have four axes. The rows
    /// of all slices stand one below the other.
    pub fn on(array: &'a Array, layout: Layout, grid: &Grid) -> Result<Self> {
        let given = match (array.shape(), grid.is_volume()) {
            ([1, axes @ ..], true) if axes.len() == 4 => axes,
            (axes, _) => axes,
        };
        let (channels, axes) = match (layout, given) {
            (Layout::Chw, [channels, axes @ ..]) | (Layout::Hwc, [axes @ .., channels]) => (*channels, axes),
            (_, []) => return Self::new(array),
        };
        if !grid.is_volume() && (axes.len() != 3 || given[0] == 1) {
            return Self::new(array);
        }
        let expected = grid.axes().map(|length| length as u64);
        // A volume of one slice is an image, whichever axis that slice lies on.
        let left = |axes: &[u64]| axes.iter().copied().filter(|length| *length != 1).collect::<Vec<_>>();
        let fits = axes.len() == 3
            && if grid.is_volume() { axes == expected } else { left(axes) == left(&expected) };
        if !fits {
            let axes = match layout {
                Layout::Chw => "channels x depth x height x width",
                Layout::Hwc => "depth x height x width x channels",
            };
            return Err(Error::value("the scores have another shape than the truth asks for")
                .found(found(array))
                .allowed(format!("{axes}, the last three as {}", shape_text(&expected)))
                .advice("check --layout, and that scores and truth belong together"));
        }
        let [depth, height, width] = expected;
        Self::of(
            array,
            match layout {
                Layout::Chw => [channels, depth * height, width],
                Layout::Hwc => [depth * height, width, channels],
            },
        )
    }

    /// The array is in memory, so that its axes fit.
    fn of(array: &'a Array, shape: [u64; 3]) -> Result<Self> {
        if !array.dtype().is_float() {
            return Err(Error::value("an array of whole numbers holds no scores")
                .found(found(array))
                .allowed("f16, bf16, f32, f64")
                .advice("if these are label maps, say --kind labels"));
        }
        Ok(Self { shape: shape.map(|axis| axis as usize), values: array.any_elements()? })
    }

    /// The view that is measured.
    pub fn view(&self) -> ScoreArray<'_> {
        ScoreArray { shape: self.shape, data: self.values.view() }
    }
}

fn found(array: &Array) -> String {
    format!("{} {}", array.dtype().name(), shape_text(array.shape()))
}
