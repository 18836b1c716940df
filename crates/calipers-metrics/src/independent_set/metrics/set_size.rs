//! Set size: how many nodes are predicted, and against what.

use calipers_core::{Doc, Number};

use super::super::published::Batch;
use super::super::strict;
use super::{Line, NON_NEGATIVE, UP_TO_NODES, by_preset, document, each, neither};

pub(super) const NUM_PRED_1S: Line = Line {
    id: "num_pred_1s",
    group: "set size",
    better: neither,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "Predicted nodes, whether or not they are independent.",
        formula: "Nodes with z > 0, p > 0.5 or a 1 in the set; over several graphs the mean.",
        undefined: "\"no scores given\".",
        differs: "p = 0.5 is not predicted and z = 1e-30 is. Presets document and trm-mis-head round p to single \
                  precision first and report the total.",
        reference: document!("Set Size Metrics 1"),
        example: ("path3", "3.0"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::num_pred_1s), Batch::num_pred_1s)
    }),
    ..Line::DEFAULTS
};

pub(super) const NUM_TRUE_1S: Line = Line {
    id: "num_true_1s",
    group: "set size",
    better: neither,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "Nodes labelled 1.",
        formula: "Y; over several graphs the mean.",
        undefined: "\"no labels given\".",
        differs: "Presets document and trm-mis-head report the total.",
        reference: document!("Set Size Metrics 2"),
        example: ("path3", "2.0"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::num_true_1s), Batch::num_true_1s)
    }),
    ..Line::DEFAULTS
};

pub(super) const SET_SIZE_RATIO: Line = Line {
    id: "set_size_ratio",
    group: "set size",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "Predicted nodes for each node labelled 1: below 1 too few, above 1 too many.",
        formula: "num_pred_1s / num_true_1s.",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
        differs: "Always against the labels, also when an optimum is declared. The presets of the published code \
                  divide totals by Y + 1e-8 and so give about 1e8 for each predicted node when nothing is labelled.",
        reference: document!("Set Size Metrics 3"),
        example: ("path3", "1.5"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::set_size_ratio), Batch::set_size_ratio)
    }),
    ..Line::DEFAULTS
};

pub(super) const APPROX_RATIO_RAW: Line = Line {
    id: "approx_ratio_raw",
    group: "set size",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The size of the raw prediction relative to the reference. No approximation ratio in the usual \
                   sense, because the prediction may violate edges.",
        formula: "num_pred_1s / R.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\". \
                    The presets of the published code: \"no labels given\".",
        differs: "Equal to set_size_ratio unless an optimum is declared. Preset document repeats set_size_ratio; \
                  trm-mis-head takes the mean over all graphs of pred/Y, 0 for a graph without a label 1.",
        reference: document!("Set Size Metrics 4"),
        example: ("path3", "1.5"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::approx_ratio_raw), Batch::approx_ratio_raw)
    }),
    ..Line::DEFAULTS
};
