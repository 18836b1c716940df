//! Masks against their truths, all elements together.

use calipers_core::{Doc, Number};

use super::super::mask_reading::{accuracy_of, f1_of, from_sums, jaccard_of, precision_of, recall_of};
use super::{Line, SHARE, higher};

pub(super) const ACCURACY_POOLED: Line = Line {
    id: "accuracy_pooled",
    group: "pooled",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "accuracy with every element counting the same.",
        formula: "(tp + tn)/n of the counts of all units together.",
        undefined: "\"mask has no elements\".",
        differs: "Large masks weigh more than in accuracy.",
        reference: "Calipers",
        example: ("pooled", "0.5"),
    },
    number: Number::Rows(|_, rows| from_sums(rows, accuracy_of)),
    ..Line::DEFAULTS
};

pub(super) const RECALL_POOLED: Line = Line {
    id: "recall_pooled",
    group: "pooled",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "recall with every element counting the same.",
        formula: "tp/(tp + fn) of the counts of all units together.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\".",
        differs: "Large masks weigh more than in recall.",
        reference: "Calipers",
        example: ("pooled", "0.5"),
    },
    number: Number::Rows(|_, rows| from_sums(rows, recall_of)),
    ..Line::DEFAULTS
};

pub(super) const PRECISION_POOLED: Line = Line {
    id: "precision_pooled",
    group: "pooled",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "precision with every element counting the same.",
        formula: "tp/(tp + fp) of the counts of all units together.",
        undefined: "\"mask has no elements\"; \"no element is selected (pred_mask > threshold)\".",
        differs: "Large masks weigh more than in precision.",
        reference: "Calipers",
        example: ("pooled", "0.4"),
    },
    number: Number::Rows(|_, rows| from_sums(rows, precision_of)),
    ..Line::DEFAULTS
};

pub(super) const F1_SCORE_POOLED: Line = Line {
    id: "f1_score_pooled",
    group: "pooled",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "f1_score with every element counting the same.",
        formula: "2tp/(2tp + fp + fn) of the counts of all units together.",
        undefined: "\"mask has no elements\"; \"neither mask has a positive element\".",
        differs: "Large masks weigh more than in f1_score.",
        reference: "Calipers",
        example: ("pooled", "0.4444444444444444"),
    },
    number: Number::Rows(|_, rows| from_sums(rows, f1_of)),
    ..Line::DEFAULTS
};

pub(super) const JACCARD_POOLED: Line = Line {
    id: "jaccard_pooled",
    group: "pooled",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "jaccard with every element counting the same.",
        formula: "tp/(tp + fp + fn) of the counts of all units together.",
        undefined: "\"mask has no elements\"; \"neither mask has a positive element\".",
        differs: "Large masks weigh more than in jaccard.",
        reference: "Calipers",
        example: ("pooled", "0.2857142857142857"),
    },
    number: Number::Rows(|_, rows| from_sums(rows, jaccard_of)),
    ..Line::DEFAULTS
};
