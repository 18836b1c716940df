//! Bands added up over images and read, class by class and all classes together.

use calipers_core::exact::exact_mean;
use calipers_core::{Sums, Terms};

use crate::reading::{Reading, Reason, quotient};
use crate::segmentation::protocol::{Conventions, Measure, Segmentation};
use crate::segmentation::row::evidence::{FIRST, guarded, has_pixels};
use crate::segmentation::row::sparse::Sparse;
use crate::segmentation::row::{BandCounts, Row};

const NO_BOUNDARY: &str = "no boundary in truth or prediction";

/// How many columns a band has.
pub(crate) const SIZES: usize = 3;

/// The sizes of a band in both maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Band {
    both: i128,
    truth: i128,
    pred: i128,
}

/// Adds the bands of all classes to the columns of one.
pub(crate) fn add_pooled(terms: &mut Terms<'_>, first: usize, bands: &Sparse<u32, BandCounts>) {
    Band::pooled(bands).add_to(terms, first);
}

/// Adds the bands of single classes, and of all together, to columns of their own.
pub(super) fn add_bands(terms: &mut Terms<'_>, bands: &Sparse<u32, BandCounts>) {
    add_pooled(terms, FIRST, bands);
    bands.iter().for_each(|(&class, counts)| Band::from(counts).add_to(terms, column(class as usize)));
}

/// The columns of a class; those of all classes together come first.
fn column(class: usize) -> usize {
    FIRST + SIZES * (class + 1)
}

/// The band of all foreground classes together.
pub(super) fn pooled(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Result<Band, Reason> {
    has_pixels(protocol, sums, Measure::Boundary).map(|()| Band::at(sums, FIRST))
}

/// The intersection over union of the band of each foreground class.
pub(super) fn class_ious<'p>(
    protocol: &'p Segmentation,
    sums: &Sums<'_, Row>,
    measure: Measure,
) -> Result<Vec<(&'p str, Reading)>, Reason> {
    has_pixels(protocol, sums, measure)?;
    let iou = |(class, name)| (name, Band::at(sums, column(class)).exact_iou());
    Ok(protocol.foreground_names().map(iou).collect())
}

/// Its mean over the classes that have one.
pub(super) fn mean_iou(protocol: &Segmentation, sums: &Sums<'_, Row>, measure: Measure) -> Reading {
    let ious = class_ious(protocol, sums, measure)?;
    exact_mean(ious.into_iter().filter_map(|(_, iou)| iou.ok())).ok_or(NO_BOUNDARY.into())
}

impl From<&BandCounts> for Band {
    fn from(counts: &BandCounts) -> Self {
        Self { both: counts.both.into(), truth: counts.truth.into(), pred: counts.pred.into() }
    }
}

impl Band {
    /// The band of all classes of an image.
    pub(super) fn pooled(bands: &Sparse<u32, BandCounts>) -> Self {
        bands.values().map(Self::from).fold(Self::default(), |all, band| Self {
            both: all.both + band.both,
            truth: all.truth + band.truth,
            pred: all.pred + band.pred,
        })
    }

    fn add_to(self, terms: &mut Terms<'_>, first: usize) {
        [self.both, self.truth, self.pred]
            .into_iter()
            .zip(first..)
            .for_each(|(size, column)| terms.whole(column, size));
    }

    /// The band whose columns begin there.
    pub(crate) fn at(sums: &Sums<'_, Row>, first: usize) -> Self {
        let [both, truth, pred] = [0, 1, 2].map(|size| sums.whole(first + size));
        Self { both, truth, pred }
    }

    fn exact_iou(&self) -> Reading {
        quotient(self.both, self.truth + self.pred - self.both, NO_BOUNDARY)
    }

    pub(crate) fn iou(&self, conventions: &Conventions) -> Reading {
        let either = self.truth + self.pred - self.both;
        guarded(self.both, either, conventions.boundary_epsilon, NO_BOUNDARY)
    }

    pub(super) fn precision(&self, conventions: &Conventions) -> Reading {
        guarded(self.both, self.pred, conventions.boundary_epsilon, "no boundary in prediction")
    }

    pub(super) fn recall(&self, conventions: &Conventions) -> Reading {
        guarded(self.both, self.truth, conventions.boundary_epsilon, "no boundary in truth")
    }

    pub(super) fn f1(&self, conventions: &Conventions) -> Reading {
        if conventions.boundary_epsilon {
            let (precision, recall) = (self.precision(conventions)?, self.recall(conventions)?);
            Ok(2.0 * precision * recall / (precision + recall + 1e-6))
        } else {
            quotient(2 * self.both, self.truth + self.pred, NO_BOUNDARY)
        }
    }
}
