//! One image as it was read: borrowed arrays of the file's own type, not yet classes.

use calipers_core::{Error, NumberSlice, Result};

use crate::segmentation::protocol::{Head, Layout};
use crate::segmentation::surface::Grid;

/// The pixels of a label map, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MapData<'a> {
    /// A byte a pixel.
    U8(&'a [u8]),
    /// Two bytes per pixel.
    U16(&'a [u16]),
    /// Every other integer type, widened.
    I64(&'a [i64]),
}

impl MapData<'_> {
    fn len(&self) -> usize {
        match self {
            Self::U8(ids) => ids.len(),
            Self::U16(ids) => ids.len(),
            Self::I64(ids) => ids.len(),
        }
    }
}

/// An image of ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelMap<'a> {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// The ids.
    pub data: MapData<'a>,
}

impl LabelMap<'_> {
    /// The id of a pixel, by its position row by row.
    pub fn id(&self, at: usize) -> Option<i64> {
        match self.data {
            MapData::U8(ids) => ids.get(at).copied().map(i64::from),
            MapData::U16(ids) => ids.get(at).copied().map(i64::from),
            MapData::I64(ids) => ids.get(at).copied(),
        }
    }

    /// Refuses an image without pixels, and data of another length than the size says.
    pub(super) fn check(&self, what: &str) -> Result<()> {
        let size = size(self.height, self.width);
        if self.height == 0 || self.width == 0 {
            return Err(Error::value(format!("the {what} has no pixels")).found(size));
        }
        let length = self.data.len();
        if self.height.checked_mul(self.width) != Some(length) {
            return Err(Error::value(format!("the {what} has another length than its size says"))
                .found(format!("{length} values"))
                .allowed(size));
        }
        Ok(())
    }

    /// Refuses a prediction of another size than its truth.
    pub(super) fn check_against(&self, truth: &Self) -> Result<()> {
        self.check("prediction")?;
        if (self.height, self.width) == (truth.height, truth.width) {
            return Ok(());
        }
        Err(Error::value("truth and prediction differ in size")
            .found(format!("prediction {}", size(self.height, self.width)))
            .allowed(format!("{}, the size of the truth", size(truth.height, truth.width)))
            .advice("score predictions at the size of the truth, and check that the two belong together"))
    }
}

/// The output of one head for one image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreArray<'a> {
    /// The axes in the order that the head's layout declares.
    pub shape: [usize; 3],
    /// The scores.
    pub data: NumberSlice<'a>,
}

impl ScoreArray<'_> {
    /// Refuses an array that is not the head's channels over the pixels of the truth.
    pub(super) fn check(&self, head: &Head, height: usize, width: usize) -> Result<()> {
        if !self.data.is_float() {
            return Err(Error::value("an array of whole numbers holds no scores")
                .at(format!("head {}", head.name))
                .found(self.data.dtype())
                .allowed("f16, bf16, f32, f64")
                .advice("if these are label maps, say --kind labels"));
        }
        let channels = head.channels.len();
        let (chw, hwc) = ([channels, height, width], [height, width, channels]);
        let (expected, other) = match head.layout {
            Layout::Chw => (chw, hwc),
            Layout::Hwc => (hwc, chw),
        };
        let named = |shape: [usize; 3]| format!("{} x {} x {}", shape[0], shape[1], shape[2]);
        if self.shape != expected {
            let error = Error::value("the scores have another shape than truth and head ask for")
                .at(format!("head {}", head.name))
                .found(named(self.shape));
            let (axes, other_name) = match head.layout {
                Layout::Chw => ("channels x height x width", "HWC"),
                Layout::Hwc => ("height x width x channels", "CHW"),
            };
            let error = error.allowed(format!("{} ({axes})", named(expected)));
            return Err(if self.shape == other {
                error.advice(format!("the other order of axes fits: --layout {other_name}"))
            } else {
                error.advice("check the head's channels, and that scores and truth belong together")
            });
        }
        let length = self.data.len();
        let product = expected.iter().try_fold(1usize, |product, &axis| product.checked_mul(axis));
        if product != Some(length) {
            return Err(Error::value("the scores have another length than their shape says")
                .at(format!("head {}", head.name))
                .found(format!("{length} values"))
                .allowed(named(expected)));
        }
        Ok(())
    }
}

/// What a model says about one image.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction<'a> {
    /// One class a pixel.
    Labels(LabelMap<'a>),
    /// The arrays of the heads, in the protocol's order; `None` for a head that is missing.
    Scores(Vec<Option<ScoreArray<'a>>>),
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Unit<'a> {
    /// An image with its truth.
    Pixels {
        /// The truth.
        truth: LabelMap<'a>,
        /// The prediction, of the same size.
        pred: Prediction<'a>,
    },
    /// A volume, or an image with a spacing, with its truth. The rows of all slices stand one below the
    /// other in its maps and scores: their height is that of all slices together.
    Spatial {
        /// Its axes and its spacing.
        grid: Grid,
        /// The truth.
        truth: LabelMap<'a>,
        /// The prediction, of the same size.
        pred: Prediction<'a>,
    },
    /// A confusion matrix over the listed originals in id order: rows are truth, columns prediction,
    /// one more column for pixels without a prediction.
    Confusion {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// The cells, row by row.
        counts: &'a [u64],
    },
}

pub(super) fn size(height: usize, width: usize) -> String {
    format!("{height} x {width} pixels (height x width)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::protocol::Segmentation;

    fn refusal(layout: Layout, shape: [usize; 3], length: usize) -> Option<String> {
        let head = Head { layout, ..Segmentation::default().heads.remove(0) };
        let values = vec![0.0; length];
        let array = ScoreArray { shape, data: NumberSlice::F32(&values) };
        array.check(&head, 3, 4).err().map(|error| error.to_string())
    }

    #[test]
    fn a_shape_that_fits_the_other_layout_is_recognised() {
        assert_eq!(refusal(Layout::Chw, [2, 3, 4], 24), None);
        assert_eq!(refusal(Layout::Hwc, [3, 4, 2], 24), None);
        let text = refusal(Layout::Chw, [3, 4, 2], 24).unwrap();
        assert!(
            text.contains("3 x 4 x 2") && text.contains("2 x 3 x 4") && text.contains("--layout HWC"),
            "{text}"
        );
        let text = refusal(Layout::Hwc, [2, 3, 4], 24).unwrap();
        assert!(text.contains("--layout CHW"), "{text}");
        let text = refusal(Layout::Chw, [5, 3, 4], 60).unwrap();
        assert!(text.contains("5 x 3 x 4") && !text.contains("--layout"), "{text}");
    }

    #[test]
    fn values_that_do_not_fill_the_shape_are_refused() {
        let text = refusal(Layout::Chw, [2, 3, 4], 23).unwrap();
        assert!(text.contains("23 values") && text.contains("2 x 3 x 4"), "{text}");
    }
}
