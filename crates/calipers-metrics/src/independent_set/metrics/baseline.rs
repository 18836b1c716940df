//! Baseline: what a decoder reaches without scores.

use calipers_core::{Doc, Number};

use super::super::beyond;
use super::{ANY, Line, NON_NEGATIVE, UP_TO_NODES, higher, neither, over_graphs};

pub(super) const BASELINE_SIZE: Line = Line {
    id: "baseline_size",
    group: "baseline",
    better: neither,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "The size that a decoder without scores reaches on the same graph.",
        formula: "B: by default repeatedly take the node of smallest residual degree, the lower number \
                  among equals, and remove it with its neighbours. Other orders: low-degree, high-degree, \
                  high-degree-cut, index, random.",
        undefined: "\"not requested: --baseline NAME\".",
        differs: "",
        reference: "Calipers; high-degree-cut is a published decoder-only baseline",
        example: ("path3", "2.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::baseline_size)),
    ..Line::DEFAULTS
};

pub(super) const BASELINE_APPROX_RATIO: Line = Line {
    id: "baseline_approx_ratio",
    group: "baseline",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The approximation ratio of the baseline.",
        formula: "B / R.",
        undefined: "\"not requested: --baseline NAME\"; \"no labels or optimum given\"; \"reference size is \
                    0\".",
        differs: "",
        reference: "Calipers",
        example: ("star", "3.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::baseline_approx_ratio)),
    ..Line::DEFAULTS
};

pub(super) const MODEL_LIFT: Line = Line {
    id: "model_lift",
    group: "baseline",
    better: higher,
    range: ANY,
    per_unit: true,
    doc: Doc {
        measures: "What the scores add to a decode without them, relative to the reference.",
        formula: "(K - B) / R.",
        undefined: "\"no scores given\"; \"not requested: --baseline NAME\"; \"no labels or optimum \
                    given\"; \"reference size is 0\".",
        differs: "Negative when the scores do harm. An approximation ratio alone does not show how much of \
                  it the decoder reaches by itself.",
        reference: "Calipers",
        example: ("path3", "-0.5"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::model_lift)),
    ..Line::DEFAULTS
};
