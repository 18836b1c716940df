//! What a part of the report needs of the rows, why it has no value without, and means over images.

use std::borrow::Cow;

use calipers_core::exact::rounded_quotient;
use calipers_core::{ExactSum, Sums, Terms};

use crate::reading::{Reading, Reason, quotient};
use crate::segmentation::protocol::{Kind, Measure, Segmentation};
use crate::segmentation::row::{CalibrationRow, PixelRow, Row};

pub(crate) const NO_SCORED_PIXEL: Reason = Cow::Borrowed("no scored pixel");
const NO_UNIT: Reason = Cow::Borrowed("no unit with a defined value");
const NOT_REQUESTED: Reason = Cow::Borrowed("not requested");
const NO_PIXELS: Reason = Cow::Borrowed("confusion matrices carry no pixels");
const LABEL_MAPS: Reason = Cow::Borrowed("predictions are label maps, not probabilities");

/// The columns of rows without pixels and of rows without probabilities.
const WITHOUT_PIXELS: usize = 0;
const WITHOUT_SCORES: usize = 1;
/// The column of volumes.
const VOLUMES: usize = 2;
/// The first column that a part has for itself.
pub(crate) const FIRST: usize = 3;

/// How many parts of a unit the published epsilon of 1e-6 is one of.
const EPSILON_PARTS: i128 = 1_000_000;

/// What a row keeps of pixels; a row without is counted, and so is a volume.
pub(crate) fn pixels<'r>(row: &'r Row, terms: &mut Terms<'r>) -> Option<&'r PixelRow> {
    terms.whole(WITHOUT_PIXELS, row.pixels.is_none());
    terms.whole(VOLUMES, row.is_volume());
    row.pixels.as_ref()
}

/// What a row keeps of probabilities; a row without is counted.
pub(crate) fn scores<'r>(row: &'r Row, terms: &mut Terms<'r>) -> Option<&'r CalibrationRow> {
    let scores = pixels(row, terms)?.calibration.as_deref();
    terms.whole(WITHOUT_SCORES, scores.is_none());
    scores
}

/// Refuses a part that was not asked for.
pub(crate) fn requested(protocol: &Segmentation, measure: Measure) -> Result<(), Reason> {
    if protocol.measures(measure) { Ok(()) } else { Err(NOT_REQUESTED) }
}

/// Refuses a part that was not asked for, or that rows without pixels would leave incomplete; volumes have
/// no bands and contours.
pub(crate) fn has_pixels(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    measure: Measure,
) -> Result<(), Reason> {
    requested(protocol, measure)?;
    if sums.whole(WITHOUT_PIXELS) > 0 {
        return Err(NO_PIXELS);
    }
    let is_flat = matches!(measure, Measure::Boundary | Measure::Cheng | Measure::Contour);
    if !is_flat || sums.whole(VOLUMES) == 0 {
        return Ok(());
    }
    let volume = sums.rows().named().find(|(_, row)| row.is_volume()).map_or("a unit", |(name, _)| name);
    Err(format!("bands and contours are measured on 2-D images; {volume} is a volume").into())
}

/// Refuses a part that was not asked for, or that rows without probabilities would leave incomplete.
pub(crate) fn has_scores(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    measure: Measure,
) -> Result<(), Reason> {
    has_pixels(protocol, sums, measure)?;
    let label_maps = protocol.heads.iter().any(|head| head.kind == Kind::Labels);
    if label_maps || sums.whole(WITHOUT_SCORES) > 0 { Err(LABEL_MAPS) } else { Ok(()) }
}

/// Adds an image's own value, where it has one, to a mean in two columns: the sum, and how many.
pub(crate) fn add_own(terms: &mut Terms<'_>, column: usize, value: &Reading) {
    if let Ok(value) = value {
        terms.number(column, *value);
        terms.whole(column + 1, 1);
    }
}

/// The mean over the images that have a value of their own.
pub(crate) fn mean_of_images(sums: &Sums<'_, Row>, column: usize) -> Reading {
    match sums.whole(column + 1) {
        0 => Err(NO_UNIT),
        images => Ok(sums.number_over(column, images)),
    }
}

/// A sum over pixels as a mean, rounded once.
pub(crate) fn pixel_mean(sum: ExactSum, pixels: i128) -> f64 {
    sum.over(u64::try_from(pixels).unwrap_or(u64::MAX))
}

/// `numerator / divisor`, or with the published epsilon `numerator / (divisor + 1e-6)`, rounded once.
pub(crate) fn guarded(numerator: i128, divisor: i128, epsilon: bool, reason: &'static str) -> Reading {
    if epsilon {
        Ok(rounded_quotient(EPSILON_PARTS * numerator, EPSILON_PARTS * divisor + 1))
    } else {
        quotient(numerator, divisor, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guarded_quotient_adds_a_millionth_to_the_divisor() {
        let guarded = |numerator, divisor| guarded(numerator, divisor, true, "").unwrap();
        assert_eq!(guarded(0, 0).to_bits(), 0f64.to_bits());
        assert!((guarded(3, 4) - 3.0 / 4.000_001).abs() < 1e-16);
    }
}
