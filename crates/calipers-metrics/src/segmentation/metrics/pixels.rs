//! How many pixels there are.

use calipers_core::{Doc, Number};

use super::super::overlap_reading::{Overlap, confusion, count, counts_by_class};
use super::{Line, NON_NEGATIVE, UP_TO_PIXELS, document, lower, neither, reasons};

pub(super) const TRUTH_PIXELS: Line = Line {
    id: "truth_pixels",
    group: "pixels",
    better: neither,
    range: UP_TO_PIXELS,
    doc: Doc {
        measures: "The scored pixels of each class.",
        formula: "T = row sum of the confusion matrix, pixels without a prediction included.",
        undefined: reasons!(overlap),
        differs: "",
        reference: "Calipers",
        example: ("unpredicted", r#"{"grass": 2, "tree": 2}"#),
    },
    number: Number::Rows(|protocol, rows| counts_by_class(protocol, rows, Overlap::truth_pixels)),
    ..Line::DEFAULTS
};

pub(super) const PRED_PIXELS: Line = Line {
    id: "pred_pixels",
    group: "pixels",
    better: neither,
    range: UP_TO_PIXELS,
    doc: Doc {
        measures: "The scored pixels predicted as each class.",
        formula: "P = column sum of the confusion matrix.",
        undefined: reasons!(overlap),
        differs: "",
        reference: "Calipers",
        example: ("unpredicted", r#"{"grass": 2, "tree": 1}"#),
    },
    number: Number::Rows(|protocol, rows| counts_by_class(protocol, rows, Overlap::pred_pixels)),
    ..Line::DEFAULTS
};

pub(super) const SCORED_PIXELS: Line = Line {
    id: "scored_pixels",
    group: "pixels",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "The pixels whose truth is not ignored.",
        formula: "N = sum of truth_pixels.",
        undefined: reasons!(overlap),
        differs: "",
        reference: "Calipers",
        example: ("void", "9"),
    },
    number: Number::Rows(|protocol, rows| {
        count(protocol, rows, |rows| Overlap::new(protocol, rows).scored_pixels())
    }),
    ..Line::DEFAULTS
};

pub(super) const IGNORED_PIXELS: Line = Line {
    id: "ignored_pixels",
    group: "pixels",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "The pixels whose truth is ignored.",
        formula: "Pixels with an ignored truth value; no other number depends on them.",
        undefined: reasons!(overlap),
        differs: "",
        reference: "Calipers",
        example: ("void", "3"),
    },
    number: Number::Rows(|protocol, rows| {
        count(protocol, rows, |rows| rows.iter().map(|row| i128::from(row.ignored)).sum())
    }),
    ..Line::DEFAULTS
};

pub(super) const UNPREDICTED_PIXELS: Line = Line {
    id: "unpredicted_pixels",
    group: "pixels",
    better: lower,
    range: UP_TO_PIXELS,
    doc: Doc {
        measures: "The scored pixels for which a label map holds no class.",
        formula: "Last column of the confusion matrix.",
        undefined: reasons!(overlap),
        differs: "They are in N and in T, in nobody's P: never right.",
        reference: "Calipers",
        example: ("unpredicted", "1"),
    },
    number: Number::Rows(|protocol, rows| {
        count(protocol, rows, |rows| Overlap::new(protocol, rows).unpredicted_pixels())
    }),
    ..Line::DEFAULTS
};

pub(super) const CONFUSION: Line = Line {
    id: "confusion",
    group: "pixels",
    better: neither,
    range: UP_TO_PIXELS,
    doc: Doc {
        measures: "The confusion matrix of all units.",
        formula: "C x (C + 1) counts row by row: rows are truth, columns prediction, the last column no \
                  prediction.",
        undefined: reasons!(overlap),
        differs: "",
        reference: document!("1) Confusion-Matrix Family"),
        example: ("unpredicted", "[1, 0, 1, 1, 1, 0]"),
    },
    number: Number::Rows(confusion),
    ..Line::DEFAULTS
};
