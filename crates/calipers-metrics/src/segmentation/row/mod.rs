//! What is kept of one image: counts and exact sums, never the pixels.

mod check;
pub(super) mod evidence;
pub(super) mod measure;
mod raw;
pub(super) mod sparse;

use std::collections::BTreeMap;

use calipers_core::CompactSum;
use serde::{Deserialize, Serialize};

use crate::segmentation::overlap::Confusion;
use crate::segmentation::row::sparse::Sparse;
use crate::segmentation::surface::Space;

/// One measured image, or one given confusion matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Height in pixels; 0 for a given confusion matrix.
    pub height: u32,
    /// Width in pixels; 0 for a given confusion matrix.
    pub width: u32,
    /// Pixels whose truth is ignored.
    pub ignored: u64,
    /// Scored pixels by truth class and predicted class.
    pub confusion: Confusion,
    /// What the pixels say beside the matrix; `None` for a given confusion matrix.
    #[serde(with = "stored")]
    pub pixels: Option<PixelRow>,
}

/// What is kept of pixels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PixelRow {
    /// The outer band of each foreground class, where anything is not 0.
    pub band: Sparse<u32, BandCounts>,
    /// Cheng's band of each foreground class, where anything is not 0.
    pub cheng: Sparse<u32, BandCounts>,
    /// The contours of each foreground class, where anything is not 0.
    pub contour: Sparse<u32, ContourCounts>,
    /// The probabilities, when the prediction has any and somebody asks for them; apart, so that rows
    /// without stay small.
    pub calibration: Option<Box<CalibrationRow>>,
    /// Each head in its own channels, by position in the protocol; only with two or more heads.
    pub heads: Sparse<u32, HeadRow>,
    /// Heads of the protocol that this unit lacks, by position.
    pub missing_heads: Box<[u32]>,
    /// Whether logits look like probabilities: all in [0, 1], every pixel summing to 1 within 0.001.
    pub looks_like_probabilities: bool,
    /// Of volumes and where surfaces are measured: how the unit lies in space, and its surfaces.
    #[serde(skip)]
    pub space: Option<Box<Space>>,
}

/// A band in both maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandCounts {
    /// Pixels in both bands.
    pub both: u64,
    /// Pixels in the truth's band.
    pub truth: u64,
    /// Pixels in the prediction's band.
    pub pred: u64,
}

/// Contours matched within a radius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContourCounts {
    /// Predicted contour pixels near a true one.
    pub pred_matched: u64,
    /// Predicted contour pixels.
    pub pred: u64,
    /// True contour pixels near a predicted one.
    pub truth_matched: u64,
    /// True contour pixels.
    pub truth: u64,
}

/// Exact sums over the scored pixels of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRow {
    /// Scored pixels.
    pub pixels: u64,
    /// Pixels whose true class has probability 0.
    pub infinite: u64,
    /// Sum of -ln p of the true class where that is finite.
    pub nll: CompactSum,
    /// Sum of the squared distances between probabilities and truth.
    pub brier: CompactSum,
    /// The bins of the largest probability.
    pub bins: Box<[BinRow]>,
    /// The bins of each class's probability; empty unless asked for.
    pub classwise: Box<[Box<[BinRow]>]>,
    /// Sum of -ln p at each temperature factor; empty unless asked for.
    pub temperature: Box<[CompactSum]>,
    /// Pixels whose largest probability rounds to 1 in single precision.
    pub saturated: u64,
}

/// One bin of confidences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinRow {
    /// Pixels in it.
    pub count: u64,
    /// Pixels in it that are right.
    pub correct: u64,
    /// Sum of their confidences in units of 2^-62, the finest at which 1 fits a machine word.
    pub confidence: u128,
}

/// One head in its own channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadRow {
    /// Scored pixels by true and predicted channel.
    pub confusion: Confusion,
    /// The outer band of each foreground channel, where anything is not 0.
    pub band: Sparse<u32, BandCounts>,
}

/// Rows of images whose surfaces nobody asked for take the bytes that they have always taken: what is kept
/// of space stands in a form of its own.
mod stored {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{PixelRow, Space};

    #[derive(Serialize)]
    enum Borrowed<'a> {
        None,
        Flat(&'a PixelRow),
        Spatial(&'a PixelRow, &'a Space),
    }

    #[derive(Deserialize)]
    enum Owned {
        None,
        Flat(PixelRow),
        Spatial(PixelRow, Box<Space>),
    }

    pub(super) fn serialize<S: Serializer>(
        pixels: &Option<PixelRow>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let stored = match pixels {
            None => Borrowed::None,
            Some(pixels) => match &pixels.space {
                None => Borrowed::Flat(pixels),
                Some(space) => Borrowed::Spatial(pixels, space),
            },
        };
        stored.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PixelRow>, D::Error> {
        Ok(match Owned::deserialize(deserializer)? {
            Owned::None => None,
            Owned::Flat(pixels) => Some(pixels),
            Owned::Spatial(pixels, space) => Some(PixelRow { space: Some(space), ..pixels }),
        })
    }
}

/// The pixels of each true class.
type TruePixels = BTreeMap<u32, u64>;

impl Row {
    /// Whether both may come from one truth map: its size, its void, and the pixels of every class in the
    /// map, in bands and on contours.
    pub(crate) fn same_truth(&self, other: &Self) -> bool {
        let size = |row: &Self| (row.height, row.width, row.ignored, row.space().map(Space::truth));
        let pixels = |row: &Self| row.pixels.as_ref().map(PixelRow::truth);
        size(self) == size(other)
            && self.confusion.truth() == other.confusion.truth()
            && pixels(self) == pixels(other)
    }

    /// How the unit lies in space, where that was kept.
    pub fn space(&self) -> Option<&Space> {
        self.pixels.as_ref()?.space.as_deref()
    }

    /// Whether the unit has more than one slice.
    pub(crate) fn is_volume(&self) -> bool {
        self.space().is_some_and(|space| space.depth > 1)
    }
}

impl PixelRow {
    /// Bands, Cheng's bands, contours, and the channels of every head with their bands.
    fn truth(&self) -> ([TruePixels; 3], BTreeMap<u32, [TruePixels; 2]>) {
        let heads = self.heads.iter().map(|(&head, row)| (head, [row.confusion.truth(), bands(&row.band)]));
        let contours = nonzero(self.contour.iter().map(|(&class, counts)| (class, counts.truth)));
        ([bands(&self.band), bands(&self.cheng), contours], heads.collect())
    }
}

fn bands(bands: &Sparse<u32, BandCounts>) -> TruePixels {
    nonzero(bands.iter().map(|(&class, counts)| (class, counts.truth)))
}

/// An entry may be there for the prediction's sake alone.
fn nonzero(pixels: impl Iterator<Item = (u32, u64)>) -> TruePixels {
    pixels.filter(|(_, pixels)| *pixels > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct WithoutSpace<'a> {
        height: u32,
        width: u32,
        ignored: u64,
        confusion: &'a Confusion,
        pixels: &'a Option<PixelRow>,
    }

    #[test]
    fn a_row_without_space_has_the_bytes_that_it_always_had_and_one_with_space_comes_back() {
        let confusion: Confusion = [((0, 0), 5), ((1, 0), 2)].into_iter().collect();
        let flat = PixelRow { missing_heads: [1].into(), ..PixelRow::default() };
        let space = Space { depth: 3, spacing: Some([2.0, 1.0, 0.5]), surfaces: Sparse::default() };
        let spatial = PixelRow { space: Some(Box::new(space)), ..flat.clone() };
        for pixels in [None, Some(flat), Some(spatial)] {
            let row = Row { height: 4, width: 3, ignored: 7, confusion: confusion.clone(), pixels };
            let Row { height, width, ignored, confusion, pixels } = &row;
            let bytes = postcard::to_stdvec(&row).unwrap();
            let before =
                WithoutSpace { height: *height, width: *width, ignored: *ignored, confusion, pixels };
            let before = postcard::to_stdvec(&before).unwrap();
            assert_eq!(bytes == before, row.space().is_none());
            assert_eq!(postcard::from_bytes::<Row>(&bytes).unwrap(), row);
        }
    }
}
