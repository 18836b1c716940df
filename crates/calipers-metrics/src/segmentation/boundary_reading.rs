//! Bands and contours added up over images and read.

use super::old_sums::{Sum, Term};
use calipers_core::{Rows, Value};

use super::protocol::{Conventions, Measure, Segmentation};
use super::reading::{NO_UNIT, Reading, Reason, guarded_quotient, mean, per_label, pixels, quotient};
use super::row::{BandCounts, ContourCounts, PixelRow, Row};
use super::sparse::Sparse;

const NO_BOUNDARY: &str = "no boundary in truth or prediction";
const NO_CONTOUR: &str = "no contour in truth or prediction";

/// The sizes of a band in both maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Band {
    both: i128,
    truth: i128,
    pred: i128,
}

impl Band {
    fn add(mut self, counts: &BandCounts) -> Self {
        self.both += i128::from(counts.both);
        self.truth += i128::from(counts.truth);
        self.pred += i128::from(counts.pred);
        self
    }

    /// The band of all classes of the images together.
    pub(crate) fn pooled<'a>(images: impl IntoIterator<Item = &'a Sparse<u32, BandCounts>>) -> Self {
        images.into_iter().flat_map(Sparse::values).fold(Self::default(), Self::add)
    }

    /// The band of one class.
    fn of_class<'a>(class: usize, images: impl IntoIterator<Item = &'a Sparse<u32, BandCounts>>) -> Self {
        images.into_iter().filter_map(|bands| bands.get(&(class as u32))).fold(Self::default(), Self::add)
    }

    pub(crate) fn terms(self) -> [Term; 3] {
        [self.both, self.truth, self.pred].map(Term::Whole)
    }

    /// The band whose [`pooled_terms`] were summed.
    pub(crate) fn from_sums(sums: &[Sum]) -> Self {
        let [both, truth, pred] = [0, 1, 2].map(|k| sums[k].whole());
        Self { both, truth, pred }
    }

    fn exact_iou(&self) -> Reading {
        quotient(self.both, self.truth + self.pred - self.both, NO_BOUNDARY)
    }

    pub(crate) fn iou(&self, conventions: &Conventions) -> Reading {
        if conventions.boundary_epsilon {
            Ok(guarded_quotient(self.both, self.truth + self.pred - self.both))
        } else {
            self.exact_iou()
        }
    }

    pub(crate) fn precision(&self, conventions: &Conventions) -> Reading {
        if conventions.boundary_epsilon {
            Ok(guarded_quotient(self.both, self.pred))
        } else {
            quotient(self.both, self.pred, "no boundary in prediction")
        }
    }

    pub(crate) fn recall(&self, conventions: &Conventions) -> Reading {
        if conventions.boundary_epsilon {
            Ok(guarded_quotient(self.both, self.truth))
        } else {
            quotient(self.both, self.truth, "no boundary in truth")
        }
    }

    pub(crate) fn f1(&self, conventions: &Conventions) -> Reading {
        if conventions.boundary_epsilon {
            let (precision, recall) = (self.precision(conventions)?, self.recall(conventions)?);
            Ok(2.0 * precision * recall / (precision + recall + 1e-6))
        } else {
            quotient(2 * self.both, self.truth + self.pred, NO_BOUNDARY)
        }
    }
}

/// A number of the outer band, all classes and images together.
pub(crate) fn pooled(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    read: fn(&Band, &Conventions) -> Reading,
) -> Reading {
    let images = pixels(protocol, rows, Measure::Boundary)?;
    read(&Band::pooled(images.iter().map(|image| &image.band)), &protocol.conventions)
}

/// The mean over images of the outer band's own intersection over union.
pub(crate) fn over_units(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Reading {
    let images = pixels(protocol, rows, Measure::Boundary)?;
    mean(images.iter().map(|image| Band::pooled([&image.band]).iou(&protocol.conventions)), NO_UNIT)
}

/// Which band is read by class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Around the class.
    Outer,
    /// The rim of the class.
    Inner,
}

impl Side {
    fn measure(self) -> Measure {
        match self {
            Self::Outer => Measure::Boundary,
            Self::Inner => Measure::Cheng,
        }
    }

    fn bands(self, image: &PixelRow) -> &Sparse<u32, BandCounts> {
        match self {
            Self::Outer => &image.band,
            Self::Inner => &image.cheng,
        }
    }
}

/// What a row adds to the outer band of all classes.
pub(crate) fn pooled_terms(_: &Segmentation, row: &Row) -> Vec<Term> {
    Band::pooled(row.pixels.iter().map(|image| &image.band)).terms().into()
}

/// What a row adds to the band of each foreground class.
pub(crate) fn class_terms(protocol: &Segmentation, row: &Row, side: Side) -> Vec<Term> {
    let image = || row.pixels.iter().map(|image| side.bands(image));
    protocol.foreground().flat_map(|class| Band::of_class(class, image()).terms()).collect()
}

/// The band's intersection over union of each foreground class, from summed terms.
pub(crate) fn ious_from_sums<'p>(protocol: &'p Segmentation, sums: &[Sum]) -> Vec<(&'p str, Reading)> {
    let bands = sums.chunks_exact(3).map(Band::from_sums);
    foreground(protocol).zip(bands).map(|((_, name), band)| (name, band.exact_iou())).collect()
}

/// The mean over the foreground classes that have a band.
pub(crate) fn mean_iou(classes: Vec<(&str, Reading)>) -> Reading {
    mean(classes.into_iter().map(|(_, value)| value), NO_BOUNDARY.into())
}

/// The band's intersection over union of each foreground class.
pub(crate) fn iou_by_class(protocol: &Segmentation, rows: &Rows<'_, Row>, side: Side) -> Value {
    per_label(class_ious(protocol, rows, side))
}

/// Its mean over the foreground classes that have it.
pub(crate) fn iou_over_classes(protocol: &Segmentation, rows: &Rows<'_, Row>, side: Side) -> Reading {
    mean_iou(class_ious(protocol, rows, side)?)
}

fn class_ious<'p>(
    protocol: &'p Segmentation,
    rows: &Rows<'_, Row>,
    side: Side,
) -> Result<Vec<(&'p str, Reading)>, Reason> {
    let images = pixels(protocol, rows, side.measure())?;
    let one = |class| Band::of_class(class, images.iter().map(|image| side.bands(image))).exact_iou();
    Ok(foreground(protocol).map(|(class, name)| (name, one(class))).collect())
}

fn foreground(protocol: &Segmentation) -> impl Iterator<Item = (usize, &str)> {
    protocol.foreground().map(|class| (class, protocol.labels.global[class].as_str()))
}

/// Contour pixels, and those of them that lie near the other contour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contour {
    pred_matched: i128,
    pred: i128,
    truth_matched: i128,
    truth: i128,
}

impl Contour {
    fn add(mut self, counts: &ContourCounts) -> Self {
        self.pred_matched += i128::from(counts.pred_matched);
        self.pred += i128::from(counts.pred);
        self.truth_matched += i128::from(counts.truth_matched);
        self.truth += i128::from(counts.truth);
        self
    }

    fn terms(self) -> [Term; 4] {
        [self.pred_matched, self.pred, self.truth_matched, self.truth].map(Term::Whole)
    }

    /// The contours whose [`contour_terms`] were summed.
    pub(crate) fn from_sums(sums: &[Sum]) -> Self {
        let [pred_matched, pred, truth_matched, truth] = [0, 1, 2, 3].map(|k| sums[k].whole());
        Self { pred_matched, pred, truth_matched, truth }
    }

    pub(crate) fn precision(&self) -> Reading {
        quotient(self.pred_matched, self.pred, "no contour in prediction")
    }

    pub(crate) fn recall(&self) -> Reading {
        quotient(self.truth_matched, self.truth, "no contour in truth")
    }

    /// 2PR/(P+R) over a common denominator.
    pub(crate) fn f1(&self) -> Reading {
        if self.pred == 0 && self.truth == 0 {
            return Err(NO_CONTOUR.into());
        }
        let both = self.pred_matched * self.truth + self.truth_matched * self.pred;
        Ok(quotient(2 * self.pred_matched * self.truth_matched, both, "").unwrap_or(0.0))
    }
}

/// A number of the contours, all classes and images together.
pub(crate) fn contours(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    read: fn(&Contour) -> Reading,
) -> Reading {
    let images = pixels(protocol, rows, Measure::Contour)?;
    let all = images.iter().flat_map(|image| image.contour.values());
    read(&all.fold(Contour::default(), Contour::add))
}

/// What a row adds to the contours of all classes.
pub(crate) fn contour_terms(_: &Segmentation, row: &Row) -> Vec<Term> {
    let all = row.pixels.iter().flat_map(|image| image.contour.values());
    all.fold(Contour::default(), Contour::add).terms().into()
}

/// F1 of the contours of each foreground class.
pub(crate) fn contour_f1_by_class(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Value {
    per_label(class_contours(protocol, rows))
}

/// Its mean over the foreground classes that have it.
pub(crate) fn contour_f1_over_classes(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Reading {
    mean_contour_f1(class_contours(protocol, rows)?)
}

/// The mean over the foreground classes that have a contour.
pub(crate) fn mean_contour_f1(classes: Vec<(&str, Reading)>) -> Reading {
    mean(classes.into_iter().map(|(_, value)| value), NO_CONTOUR.into())
}

/// What a row adds to the contours of each foreground class.
pub(crate) fn class_contour_terms(protocol: &Segmentation, row: &Row) -> Vec<Term> {
    let of = |class: usize| row.pixels.iter().filter_map(move |image| image.contour.get(&(class as u32)));
    protocol.foreground().flat_map(|class| of(class).fold(Contour::default(), Contour::add).terms()).collect()
}

/// F1 of the contours of each foreground class, from summed terms.
pub(crate) fn contour_f1s_from_sums<'p>(protocol: &'p Segmentation, sums: &[Sum]) -> Vec<(&'p str, Reading)> {
    let contours = sums.chunks_exact(4).map(Contour::from_sums);
    foreground(protocol).zip(contours).map(|((_, name), contour)| (name, contour.f1())).collect()
}

fn class_contours<'p>(
    protocol: &'p Segmentation,
    rows: &Rows<'_, Row>,
) -> Result<Vec<(&'p str, Reading)>, Reason> {
    let images = pixels(protocol, rows, Measure::Contour)?;
    let one = |class: usize| {
        let counts = images.iter().filter_map(|image| image.contour.get(&(class as u32)));
        counts.fold(Contour::default(), Contour::add).f1()
    };
    Ok(foreground(protocol).map(|(class, name)| (name, one(class))).collect())
}
