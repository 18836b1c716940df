//! Where the wrong pixels are: a split of 1 - accuracy.

use calipers_core::{Doc, Number};

use super::super::overlap_reading::{Mistake, total};
use super::super::reading::number;
use super::{Line, SHARE, document, lower, reasons};

pub(super) const CLASSIFICATION_ERROR: Line = Line {
    id: "classification_error",
    group: "mistakes",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of pixels where one foreground class is taken for another.",
        formula: "Pixels with truth and prediction foreground and different / N. Preset coral-mtl: / (N + \
                  1e-6).",
        undefined: reasons!(overlap, "no background class is declared", "no scored pixel"),
        differs: "Called TIDE-style, but it is no TIDE: no objects are matched. With background_error, \
                  missed_error and the pixels without a prediction it adds up to 1 - sum TP / N.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("void", "0.1111111111111111"),
    },
    number: Number::Rows(|protocol, rows| {
        number(total(protocol, rows, |totals| totals.mistakes(Mistake::Classification)))
    }),
    ..Line::DEFAULTS
};

pub(super) const BACKGROUND_ERROR: Line = Line {
    id: "background_error",
    group: "mistakes",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of pixels where background is taken for foreground.",
        formula: "Background pixels predicted as a foreground class / N. Preset coral-mtl: / (N + 1e-6).",
        undefined: reasons!(overlap, "no background class is declared", "no scored pixel"),
        differs: "See classification_error.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("void", "0.1111111111111111"),
    },
    number: Number::Rows(|protocol, rows| {
        number(total(protocol, rows, |totals| totals.mistakes(Mistake::Background)))
    }),
    ..Line::DEFAULTS
};

pub(super) const MISSED_ERROR: Line = Line {
    id: "missed_error",
    group: "mistakes",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of pixels where foreground is taken for background.",
        formula: "Foreground pixels predicted as background / N. Preset coral-mtl: / (N + 1e-6).",
        undefined: reasons!(overlap, "no background class is declared", "no scored pixel"),
        differs: "See classification_error.",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("void", "0.1111111111111111"),
    },
    number: Number::Rows(|protocol, rows| {
        number(total(protocol, rows, |totals| totals.mistakes(Mistake::Missed)))
    }),
    ..Line::DEFAULTS
};
