//! The calibration of each class's own probability.

use crate::segmentation::metrics::*;
use calipers_core::exact::exact_mean;

use super::bins::{COLUMNS, add_bins, bins_at, gaps};
use super::calibration::{PIXELS, without_pixels};

const BY_CLASS: Line = Line {
    group: "class-wise calibration",
    better: lower,
    range: SHARE,
    undefined: reasons!(scores, "no scored pixel"),
    reference: "Kull et al., Beyond temperature scaling, NeurIPS 2019",
    ..Line::DEFAULTS
};

pub(crate) const METRICS: &[Line] = &[ECE_PER_CLASS, ECE_CLASSWISE];

fn add_row<'r>(protocol: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(scores) = scores(row, terms) else { return };
    terms.whole(PIXELS, scores.pixels);
    for (class, bins) in scores.classwise.iter().enumerate() {
        add_bins(terms, column(protocol, class), bins);
    }
}

/// The first column of a class.
fn column(protocol: &Segmentation, class: usize) -> usize {
    FIRST + 1 + COLUMNS * protocol.bins.count * class
}

fn errors<'p>(protocol: &'p Segmentation, sums: &Sums<'_, Row>) -> Result<Vec<(&'p str, Reading)>, Reason> {
    has_scores(protocol, sums, Measure::Classwise)?;
    let error = |class| {
        let bins = bins_at(sums, column(protocol, class), protocol.bins.count);
        without_pixels(protocol, sums).unwrap_or_else(|| Ok(pixel_mean(gaps(bins), sums.whole(PIXELS))))
    };
    let names = protocol.labels.global.iter().enumerate();
    Ok(names.map(|(class, name)| (name.as_str(), error(class))).collect())
}

/// The mean over all classes, which must all have one.
fn mean(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    let errors: Result<Vec<f64>, Reason> =
        errors(protocol, sums)?.into_iter().map(|(_, error)| error).collect();
    exact_mean(errors?).ok_or(NO_SCORED_PIXEL)
}

const ECE_PER_CLASS: Line = Line {
    id: "ece_per_class",
    measures: "The calibration error of the probability of each class.",
    formula: "Bins of p_g over all scored pixels: sum of |pixels of g - sum of p_g| / N. Preset coral-mtl: 0 \
              without a scored pixel.",
    differs: "Every pixel counts for every class, not only where the class wins.",
    example: ("classwise", r#"{"oak": 0.0, "elm": 0.25, "ash": 0.25}"#),
    number: Number::pooled(add_row, |protocol, sums| per_label(errors(protocol, sums))),
    ..BY_CLASS
};

const ECE_CLASSWISE: Line = Line {
    id: "ece_classwise",
    per_unit: true,
    measures: "The calibration error with each class counting the same.",
    formula: "Mean of ece_per_class over all classes.",
    example: ("classwise", "0.16666666666666666"),
    number: Number::pooled(add_row, |protocol, sums| number(mean(protocol, sums))),
    ..BY_CLASS
};
