//! Feasibility: edges with both ends predicted.

use calipers_core::{Doc, Number};

use super::super::published::Batch;
use super::super::strict;
use super::{Line, SHARE, UP_TO_EDGES, by_preset, document, each, higher, lower};

pub(super) const FEASIBILITY: Line = Line {
    id: "feasibility",
    group: "feasibility",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of edges that the prediction respects. Whether the set is independent is is_independent.",
        formula: "(m - viol) / m with viol = edges that have both ends predicted.",
        undefined: "\"no scores given\"; \"graph has no edges\".",
        differs: "The published code divides raw violations by stored entries, cuts the quotient at 1 and gives 1 \
                  without edges or without a predicted node. On a simple graph stored in both directions the two agree.",
        reference: document!("Feasibility Metrics 2"),
        example: ("star", "1.0"),
    },
    headline: Some(1),
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::feasibility), Batch::feasibility)
    }),
    ..Line::DEFAULTS
};

pub(super) const NUM_VIOLATIONS: Line = Line {
    id: "num_violations",
    group: "feasibility",
    better: lower,
    range: UP_TO_EDGES,
    per_unit: true,
    doc: Doc {
        measures: "Edges with both ends predicted; 0 when the prediction is an independent set.",
        formula: "viol, each edge of the simple graph once; over several graphs the mean.",
        undefined: "\"no scores given\".",
        differs: "The published code halves the raw count over stored entries and rounds up, which is the same only \
                  when every edge is stored in both directions and no node has a loop.",
        reference: document!("Feasibility Metrics 1"),
        example: ("path3", "2.0"),
    },
    number: Number::Rows(|protocol, rows| {
        by_preset(protocol, rows, each(strict::num_violations), Batch::num_violations)
    }),
    ..Line::DEFAULTS
};
