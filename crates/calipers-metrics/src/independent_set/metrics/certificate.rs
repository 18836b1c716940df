//! Certificate: what a clique cover proves.

use calipers_core::{Doc, Number};

use super::super::beyond;
use super::{Line, SHARE, UP_TO_NODES, YES_OR_NO, higher, lower, neither, over_graphs};

pub(super) const UPPER_BOUND: Line = Line {
    id: "upper_bound",
    group: "certificate",
    better: neither,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "A size that no independent set of the graph exceeds.",
        formula: "The smallest of three greedy clique covers: in node order; by degree ascending, then \
                  number; in elimination order. A node joins the largest clique wholly adjacent to it, the \
                  first made among equals, else starts one. An independent set has at most one node of each \
                  clique.",
        undefined: "\"not requested: --certificate on\".",
        differs: "",
        reference: "Calipers; the clique cover bound of the independence number",
        example: ("triangle", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::upper_bound)),
    ..Line::DEFAULTS
};

pub(super) const CERTIFIED_GAP: Line = Line {
    id: "certified_gap",
    group: "certificate",
    better: lower,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "How many nodes the decode can at most be short of the optimum.",
        formula: "upper_bound - K.",
        undefined: "\"no scores given\"; \"not requested: --certificate on\".",
        differs: "Needs neither labels nor an optimum.",
        reference: "Calipers",
        example: ("path3", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::certified_gap)),
    ..Line::DEFAULTS
};

pub(super) const CERTIFIED_RATIO: Line = Line {
    id: "certified_ratio",
    group: "certificate",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "An approximation ratio that is guaranteed: never above the true one.",
        formula: "K / upper_bound.",
        undefined: "\"no scores given\"; \"not requested: --certificate on\"; \"graph has no nodes\".",
        differs: "Needs neither labels nor an optimum.",
        reference: "Calipers",
        example: ("path3", "0.5"),
    },
    headline: Some(5),
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::certified_ratio)),
    ..Line::DEFAULTS
};

pub(super) const CERTIFIED_OPTIMAL: Line = Line {
    id: "certified_optimal",
    group: "certificate",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the decode is proved to be a maximum independent set.",
        formula: "1 if K = upper_bound, else 0. A 0 proves nothing.",
        undefined: "\"no scores given\"; \"not requested: --certificate on\".",
        differs: "",
        reference: "Calipers",
        example: ("star", "1.0"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::certified_optimal)),
    ..Line::DEFAULTS
};
