//! What is measured around the objects of one image: three forms of boundary, and void in each of them.
//!
//! Every foreground class (all but the background) is looked at alone, in the truth and in the prediction,
//! and pixels are counted: of the truth, of the prediction, and what the two share. Rows keep these counts;
//! nothing is divided before they are read. The boundary of a class c is one of these:
//!
//! * The **outer band** ([`outer_band`], the document's form): pixels that are *not* c with a c at most
//!   `thickness` columns and rows away, that is, c dilated by a square, less c. It gives `biou*`,
//!   `boundary_precision`, `boundary_recall` and `boundary_f1`.
//! * The **inner band** ([`inner_band`], Cheng's form): pixels of c with another label, or the outside of the
//!   image, at most d columns and rows away; d is a share of the diagonal. It gives `boundary_iou_cheng*`.
//! * The **contour** ([`contours`]): pixels of c with another label above, below, left or right. A pixel
//!   matches when the other map has a contour pixel of c within a disk around it. It gives `contour_*`.
//!
//! Twelve pixels from the middle of an image whose rows are all the same, seen from class 1, void as dots:
//!
//! ```text
//! map             0 0 0 0 1 1 1 1 . . 0 0
//! outer, t = 2        # #                     the 0s on the right are three columns away
//! inner, d = 1            #                   void is no other label: no rim on the right
//! contour                 #
//! ```
//!
//! **Void** are the pixels whose truth is ignored. They are neither c nor not c: none lies in a band or on
//! a contour, and none makes its neighbour do so. Both maps are masked by the truth's void, so that whatever
//! a model predicts there moves no number. The outside of the image is like void, but for the inner band.
//! A scored pixel *without a prediction* is another matter: it is of no class, hence of another label than
//! every class, and lies in the predicted band of a class nearby.
//!
//! Preset `coral-mtl` alone departs from this, in the outer band alone: void pixels take part, of no class in
//! the truth and of whatever class is predicted there, and a class that the truth of an image lacks has no
//! band in it.

pub(crate) mod band;
pub(crate) mod biou;
pub(crate) mod cheng;
mod contour;
pub(crate) mod contour_f1;
mod inner_band;
mod outer_band;
mod pixel_set;
#[cfg(test)]
mod random_maps;
mod tile;
mod window;

pub use contour::contours;
pub use inner_band::inner_band;
pub use outer_band::outer_band;

use crate::segmentation::labels::ClassId;
use crate::segmentation::protocol::{Boundary, Head, Measure, Segmentation};
use crate::segmentation::row::sparse::Sparse;
use crate::segmentation::row::{BandCounts, PixelRow};
use crate::segmentation::unit::LabelMap;

/// Which classes have bands and contours, and what void pixels are to outer bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandRules {
    /// The number of classes.
    pub classes: usize,
    /// The class without a band or contour.
    pub background: Option<usize>,
    /// Whether void pixels take part in outer bands, as pixels of no class.
    pub keep_void: bool,
    /// Whether a class absent from the truth has no outer band.
    pub skip_absent: bool,
}

/// The bands and contours of global classes, as far as they are asked for.
pub(crate) fn boundaries<T: ClassId>(
    protocol: &Segmentation,
    size: &LabelMap<'_>,
    truth: &[T],
    pred: &[T],
) -> PixelRow {
    let (width, height, boundary) = (size.width, size.height, &protocol.boundary);
    let outer = outer_rules(protocol, protocol.classes(), protocol.labels.background);
    // Only outer bands know of conventions that differ.
    let rules = BandRules { keep_void: false, skip_absent: false, ..outer };
    let mut pixels = PixelRow::default();
    if protocol.measures(Measure::Boundary) {
        pixels.band = outer_band(truth, pred, width, height, boundary.thickness, &outer).into();
    }
    if protocol.measures(Measure::Cheng) {
        let distance = cheng_distance(boundary, height, width);
        pixels.cheng = inner_band(truth, pred, width, height, distance, &rules).into();
    }
    if protocol.measures(Measure::Contour) {
        let radius_squared = contour_radius_squared(boundary, height, width);
        pixels.contour = contours(truth, pred, width, height, radius_squared, &rules).into();
    }
    pixels
}

/// The outer bands of a head's own channels, where boundaries are asked for; its rest is the background.
pub(crate) fn channel_bands<T: ClassId>(
    protocol: &Segmentation,
    head: &Head,
    size: &LabelMap<'_>,
    truth: &[T],
    pred: &[T],
) -> Sparse<u32, BandCounts> {
    if !protocol.measures(Measure::Boundary) {
        return Sparse::default();
    }
    let rules = outer_rules(protocol, head.channels.len(), head.rest);
    outer_band(truth, pred, size.width, size.height, protocol.boundary.thickness, &rules).into()
}

fn outer_rules(protocol: &Segmentation, classes: usize, background: Option<usize>) -> BandRules {
    let conventions = &protocol.conventions;
    BandRules {
        classes,
        background,
        keep_void: conventions.keep_void_in_bands,
        skip_absent: conventions.skip_absent_in_bands,
    }
}

/// How far the inner band reaches: its share of the diagonal, rounded to even, and at least one pixel.
fn cheng_distance(boundary: &Boundary, height: usize, width: usize) -> u32 {
    let distance = boundary.cheng * squared_diagonal(height, width).sqrt();
    distance.round_ties_even().max(1.0) as u32
}

/// How far contours match, squared: given in pixels, or as a share of the diagonal.
fn contour_radius_squared(boundary: &Boundary, height: usize, width: usize) -> f64 {
    match boundary.tolerance_px {
        Some(pixels) => pixels * pixels,
        None => (boundary.tolerance * boundary.tolerance) * squared_diagonal(height, width),
    }
}

fn squared_diagonal(height: usize, width: usize) -> f64 {
    ((height as u128).pow(2) + (width as u128).pow(2)) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::segmentation::boundary::random_maps::Maps;
    use crate::segmentation::row::ContourCounts;

    #[test]
    fn the_drawing_above_is_what_is_counted() {
        let image = ["00001111..00"; 7].join(" ");
        let Maps { truth, width, height, rules, .. } = Maps::drawn(2, &image, &image);
        let rules = BandRules { background: Some(0), ..rules };
        let band = |pixels| BTreeMap::from([(1, BandCounts { both: pixels, truth: pixels, pred: pixels })]);
        assert_eq!(outer_band(&truth, &truth, width, height, 2, &rules), band(2 * 7));
        // In the first and the last row the outside of the image is near every pixel.
        assert_eq!(inner_band(&truth, &truth, width, height, 1, &rules), band(5 + 2 * 4));
        let contour = ContourCounts { pred_matched: 7, pred: 7, truth_matched: 7, truth: 7 };
        assert_eq!(contours(&truth, &truth, width, height, 0.0, &rules), BTreeMap::from([(1, contour)]));
    }

    #[test]
    fn what_is_predicted_in_void_moves_no_band_and_no_contour() {
        let truth = "00.1 00.1 0..1";
        let counted = |pred: &str| {
            let Maps { truth, pred, width, height, rules } = Maps::drawn(2, truth, pred);
            (
                outer_band(&truth, &pred, width, height, 2, &rules),
                inner_band(&truth, &pred, width, height, 1, &rules),
                contours(&truth, &pred, width, height, 1.0, &rules),
            )
        };
        assert_eq!(counted("00.1 0101 0001"), counted("0011 01.1 01-1"));
        assert_ne!(counted("00.1 0101 0001"), counted("00.1 0001 0001"));
    }

    #[test]
    fn the_inner_band_is_rounded_to_even_and_never_empty() {
        let boundary = |cheng, tolerance_px| Boundary { thickness: 2, cheng, tolerance: 0.5, tolerance_px };
        let distances = [0.5, 0.7, 0.01].map(|cheng| cheng_distance(&boundary(cheng, None), 3, 4));
        assert_eq!(distances, [2, 4, 1]);
        let radii = [None, Some(1.5)].map(|pixels| contour_radius_squared(&boundary(0.1, pixels), 3, 4));
        assert_eq!(radii.map(f64::to_bits), [6.25, 2.25].map(f64::to_bits));
    }
}
