//! Whether probabilities mean what they say, over all pixels and image by image.

use super::bins::{Bin, add_bins, bins_at, confidences, gaps};
use crate::segmentation::metrics::*;
use crate::segmentation::row::CalibrationRow;

/// The columns of all pixels together; the bins come last.
pub(super) const PIXELS: usize = FIRST;
pub(super) const INFINITE: usize = FIRST + 1;
const SURPRISES: usize = FIRST + 2;
const DISTANCES: usize = FIRST + 3;
const BINS: usize = FIRST + 4;

/// The columns of means over images, two each, and of images whose NLL is infinite.
const OWN_NLL: usize = FIRST;
const OWN_BRIER: usize = FIRST + 2;
const OWN_ECE: usize = FIRST + 4;
const INFINITE_IMAGES: usize = FIRST + 6;

const OF_PIXELS: Line = Line {
    group: "calibration",
    better: lower,
    range: SHARE,
    per_unit: true,
    undefined: reasons!(scores, "no scored pixel"),
    ..Line::DEFAULTS
};
const OF_IMAGES: Line = Line { undefined: reasons!(scores, "no unit with a defined value"), ..OF_PIXELS };

pub(crate) const METRICS: &[Line] = &[NLL, NLL_INFINITE_PIXELS, BRIER, ECE, MCE, MEAN_CONFIDENCE];
pub(crate) const IMAGE_METRICS: &[Line] = &[NLL_IMAGE, BRIER_IMAGE, ECE_IMAGE];

pub(super) fn add_row<'r>(_: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(scores) = scores(row, terms) else { return };
    terms.whole(PIXELS, scores.pixels);
    terms.whole(INFINITE, scores.infinite);
    terms.exact(SURPRISES, &scores.nll);
    terms.exact(DISTANCES, &scores.brier);
    add_bins(terms, BINS, &scores.bins);
}

/// The bins of all images together.
pub(super) fn all_bins(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Result<Vec<Bin>, Reason> {
    has_scores(protocol, sums, Measure::Calibration)?;
    Ok(bins_at(sums, BINS, protocol.bins.count))
}

/// What is read where no pixel is scored: a reason, or 0 by convention.
pub(super) fn without_pixels(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Option<Reading> {
    let value = if protocol.conventions.empty_is_zero { Ok(0.0) } else { Err(NO_SCORED_PIXEL) };
    (sums.whole(PIXELS) == 0).then_some(value)
}

/// Why there is no NLL, if there is none.
pub(super) fn finite(infinite: i128) -> Result<(), Reason> {
    match infinite {
        0 => Ok(()),
        pixels => Err(format!("infinite: the true class has probability 0 at {pixels} pixel(s)").into()),
    }
}

fn nll(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    has_scores(protocol, sums, Measure::Calibration)?;
    without_pixels(protocol, sums).unwrap_or_else(|| {
        finite(sums.whole(INFINITE)).map(|()| sums.number_over(SURPRISES, sums.whole(PIXELS)))
    })
}

fn infinite_pixels(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Value {
    let asked = has_scores(protocol, sums, Measure::Calibration);
    asked.map_or_else(Value::Undefined, |()| Value::Count(sums.whole(INFINITE)))
}

fn brier(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    has_scores(protocol, sums, Measure::Calibration)?;
    without_pixels(protocol, sums).unwrap_or_else(|| Ok(sums.number_over(DISTANCES, sums.whole(PIXELS))))
}

fn ece(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    let bins = all_bins(protocol, sums)?;
    without_pixels(protocol, sums).unwrap_or_else(|| Ok(pixel_mean(gaps(bins), sums.whole(PIXELS))))
}

fn mce(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    let filled = all_bins(protocol, sums)?.into_iter().filter(|bin| bin.count > 0);
    filled.map(|bin| bin.gap() / bin.count as f64).max_by(f64::total_cmp).ok_or(NO_SCORED_PIXEL)
}

fn mean_confidence(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    let bins = all_bins(protocol, sums)?;
    match sums.whole(PIXELS) {
        0 => Err(NO_SCORED_PIXEL),
        pixels => Ok(pixel_mean(confidences(&bins), pixels)),
    }
}

/// What an image with a scored pixel adds to the means over images.
fn add_own_values<'r>(_: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(scores) = scores(row, terms).filter(|scores| scores.pixels > 0) else { return };
    let mean = |sum| Ok(pixel_mean(sum, scores.pixels.into()));
    terms.whole(INFINITE_IMAGES, scores.infinite > 0);
    add_own(terms, OWN_NLL, &mean(scores.nll.to_sum()));
    add_own(terms, OWN_BRIER, &mean(scores.brier.to_sum()));
    add_own(terms, OWN_ECE, &mean(gaps(scores.bins.iter().map(Bin::from))));
}

fn image_mean(protocol: &Segmentation, sums: &Sums<'_, Row>, column: usize) -> Reading {
    has_scores(protocol, sums, Measure::Calibration)?;
    mean_of_images(sums, column)
}

fn nll_image(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    has_scores(protocol, sums, Measure::Calibration)?;
    if sums.whole(INFINITE_IMAGES) > 0 {
        let images = || sums.rows().iter().filter_map(|row| row.pixels.as_ref()?.calibration.as_deref());
        let infinite = |image: &&CalibrationRow| image.pixels > 0 && image.infinite > 0;
        finite(images().find(infinite).map_or(0, |image| image.infinite.into()))?;
    }
    mean_of_images(sums, OWN_NLL)
}

const NLL: Line = Line {
    id: "nll",
    range: NON_NEGATIVE,
    measures: "How improbable the truth is under the predicted probabilities.",
    formula: "Mean over the scored pixels of -ln p of the true global class. Preset coral-mtl: -ln(p + \
              1e-8), and 0 without a scored pixel.",
    undefined: reasons!(
        scores,
        "no scored pixel",
        "infinite: the true class has probability 0 at K pixel(s)"
    ),
    differs: "No floor: a true class with probability 0 makes it infinite, which is said and counted in \
              nll_infinite_pixels. Several heads are fused as for miou, with log-sum-exp throughout: the \
              document's exp of a sum underflows where heads disagree.",
    reference: document!("3) Probabilistic / Calibration Metrics"),
    example: ("reliability", "0.8016133262174109"),
    headline: Some(6),
    number: Number::pooled(add_row, |protocol, sums| number(nll(protocol, sums))),
    ..OF_PIXELS
};

const NLL_INFINITE_PIXELS: Line = Line {
    id: "nll_infinite_pixels",
    range: UP_TO_PIXELS,
    measures: "The pixels whose true class has probability 0.",
    formula: "Scored pixels with p = 0 for the true global class.",
    undefined: reasons!(scores),
    example: ("veto", "1"),
    number: Number::pooled(add_row, infinite_pixels),
    ..OF_PIXELS
};

const BRIER: Line = Line {
    id: "brier",
    range: UP_TO_TWO,
    measures: "The squared distance between the predicted probabilities and the truth.",
    formula: "Mean over the scored pixels of the sum over classes g of (p_g - [g = y])^2. Preset coral-mtl: \
              0 without a scored pixel.",
    differs: "Summed over classes, so 2 at worst; some divide by the number of classes.",
    reference: "Brier, Verification of forecasts expressed in terms of probability, 1950",
    example: ("reliability", "0.52125"),
    headline: Some(7),
    number: Number::pooled(add_row, |protocol, sums| number(brier(protocol, sums))),
    ..OF_PIXELS
};

/// The expected calibration error.
pub const ECE: Line = Line {
    id: "ece",
    measures: "How far confidence and accuracy lie apart, over bins of confidence.",
    formula: "Confidence = largest p_g, right when that class is the true one. sum over bins of |right - sum \
              of confidences| / N. Bins of equal width; a confidence within 1e-6 of an edge lies on it. \
              Preset coral-mtl: 0 without a scored pixel.",
    differs: "Depends on the number of bins; the sums are exact, so it does not drift with the number of \
              pixels.",
    reference: "Guo et al., On Calibration of Modern Neural Networks, ICML 2017",
    example: ("reliability", "0.3625"),
    headline: Some(8),
    number: Number::pooled(add_row, |protocol, sums| number(ece(protocol, sums))),
    ..OF_PIXELS
};

const MCE: Line = Line {
    id: "mce",
    measures: "The largest distance between confidence and accuracy in a bin.",
    formula: "Largest |right - sum of confidences| / count over the bins that are not empty, bins as in ece.",
    differs: "A bin with a single pixel counts as much as any other.",
    reference: "Naeini, Cooper and Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian \
                Binning, AAAI 2015",
    example: ("reliability", "0.4"),
    number: Number::pooled(add_row, |protocol, sums| number(mce(protocol, sums))),
    ..OF_PIXELS
};

const MEAN_CONFIDENCE: Line = Line {
    id: "mean_confidence",
    better: neither,
    measures: "How sure the model is on average.",
    formula: "sum of confidences / N; compare with pixel_accuracy.",
    example: ("reliability", "0.7875"),
    number: Number::pooled(add_row, |protocol, sums| number(mean_confidence(protocol, sums))),
    ..OF_PIXELS
};

const NLL_IMAGE: Line = Line {
    id: "nll_image",
    range: NON_NEGATIVE,
    measures: "NLL with each image counting the same.",
    formula: "Mean over the units with a scored pixel of the unit's own nll.",
    undefined: reasons!(
        scores,
        "no unit with a defined value",
        "infinite: the true class has probability 0 at K pixel(s)"
    ),
    differs: "One infinite image makes it undefined, with that image's count.",
    example: ("reliability", "0.8016133262174109"),
    number: Number::pooled(add_own_values, |protocol, sums| number(nll_image(protocol, sums))),
    ..OF_IMAGES
};

const BRIER_IMAGE: Line = Line {
    id: "brier_image",
    range: UP_TO_TWO,
    measures: "The Brier score with each image counting the same.",
    formula: "Mean over the units with a scored pixel of the unit's own brier.",
    example: ("reliability", "0.52125"),
    number: Number::pooled(add_own_values, |protocol, sums| number(image_mean(protocol, sums, OWN_BRIER))),
    ..OF_IMAGES
};

const ECE_IMAGE: Line = Line {
    id: "ece_image",
    measures: "The calibration error of single images.",
    formula: "Mean over the units with a scored pixel of the unit's own ece.",
    differs: "Errors of opposite sign cancel within an image only.",
    example: ("reliability", "0.3625"),
    number: Number::pooled(add_own_values, |protocol, sums| number(image_mean(protocol, sums, OWN_ECE))),
    ..OF_IMAGES
};
