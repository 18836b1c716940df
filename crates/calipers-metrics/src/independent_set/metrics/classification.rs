//! Classification: the prediction against the labels, node by node.

use calipers_core::{Doc, Number};

use super::super::published::Batch;
use super::super::strict;
use super::{Line, SHARE, by_preset, document, each, higher};

pub(super) const ACCURACY: Line = Line {
    id: "accuracy",
    group: "classification",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of nodes whose prediction equals the label.",
        formula: "(tp + tn) / N.",
        undefined: "\"no scores given\"; \"no labels given\"; \"graph has no nodes\".",
        differs: "Compares with one of many optima: another optimal set scores below 1. See solved_any_optimum.",
        reference: document!("Classification Metrics 1"),
        example: ("path3", "0.6666666666666666"),
    },
    headline: Some(7),
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, each(strict::accuracy), Batch::accuracy)),
    ..Line::DEFAULTS
};

pub(super) const PRECISION: Line = Line {
    id: "precision",
    group: "classification",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of predicted nodes that are labelled 1.",
        formula: "tp / (tp + fp).",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted\".",
        differs: "Without an epsilon. Preset document has tp / (tp + fp + 1e-8), trm-mis-head tp / max(tp + fp, 1e-8): \
                  both give 0 when nothing is predicted.",
        reference: document!("Classification Metrics 2"),
        example: ("path3", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::precision), Batch::precision)
    }),
    ..Line::DEFAULTS
};

pub(super) const RECALL: Line = Line {
    id: "recall",
    group: "classification",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of nodes labelled 1 that are predicted.",
        formula: "tp / (tp + fn).",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
        differs: "Without an epsilon. Preset document has tp / (tp + fn + 1e-8), trm-mis-head tp / max(tp + fn, 1e-8).",
        reference: document!("Classification Metrics 2"),
        example: ("path3", "1.0"),
    },
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, each(strict::recall), Batch::recall)),
    ..Line::DEFAULTS
};

pub(super) const F1: Line = Line {
    id: "f1",
    group: "classification",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The harmonic mean of precision and recall.",
        formula: "2 tp / (2 tp + fp + fn).",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted or labelled 1\".",
        differs: "From counts, so that it is 0 and not 0/0 when tp = 0 but something is predicted or labelled. Preset \
                  document has 2PR / (P + R + 1e-8), trm-mis-head 2 tp / max(2 tp + fp + fn, 1e-8).",
        reference: document!("Classification Metrics 2"),
        example: ("path3", "0.8"),
    },
    headline: Some(6),
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, each(strict::f1), Batch::f1)),
    ..Line::DEFAULTS
};
