//! Samples: the best of several decodes.

use calipers_core::{Doc, Number};

use super::super::aggregate::series;
use super::super::{beyond, curves};
use super::{Line, NON_NEGATIVE, UP_TO_NODES, higher, over_graphs};

pub(super) const BEST_OF_SIZE: Line = Line {
    id: "best_of_size",
    group: "samples",
    better: higher,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "The largest decode over the samples of a graph.",
        formula: "max over samples of K.",
        undefined: "\"no scores given\"; \"no samples given\".",
        differs: "postprocessed_size is the decode of the first sample alone.",
        reference: "Calipers",
        example: ("samples", "3.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::best_of_size)),
    ..Line::DEFAULTS
};

pub(super) const BEST_OF_APPROX_RATIO: Line = Line {
    id: "best_of_approx_ratio",
    group: "samples",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The approximation ratio of the best sample.",
        formula: "best_of_size / R.",
        undefined: "\"no scores given\"; \"no samples given\"; \"no labels or optimum given\"; \"reference \
                    size is 0\".",
        differs: "",
        reference: "Calipers",
        example: ("samples", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::best_of_approx_ratio)),
    ..Line::DEFAULTS
};

pub(super) const BEST_OF_CURVE: Line = Line {
    id: "best_of_curve",
    group: "samples",
    better: higher,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "What more samples bring: the best size after 1, 2, ... samples.",
        formula: "For k = 1 .. smallest number of samples: mean over graphs of the largest K of the first k \
                  samples.",
        undefined: "\"no scores given\"; \"no samples given\".",
        differs: "",
        reference: "Calipers",
        example: ("samples", "[2.0, 3.0]"),
    },
    number: Number::Rows(|_, rows| series(curves::best_of_curve(rows))),
    ..Line::DEFAULTS
};
