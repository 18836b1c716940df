//! The prediction checked on the graph itself, and against any optimum.

use calipers_core::{Doc, Number};

use super::super::beyond;
use super::{Line, SHARE, UP_TO_NODES, YES_OR_NO, higher, lower, neither, over_graphs};

pub(super) const OPTIMAL_SIZE: Line = Line {
    id: "optimal_size",
    group: "set size",
    better: neither,
    range: UP_TO_NODES,
    per_unit: true,
    doc: Doc {
        measures: "The reference size that gaps and ratios compare with.",
        formula: "R: the declared optimum if there is one, else Y (reference auto); or only one of the two \
                  (labels, optimum).",
        undefined: "\"no labels or optimum given\".",
        differs: "",
        reference: "Calipers",
        example: ("drop", "2.5"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::optimal_size)),
    ..Line::DEFAULTS
};

pub(super) const IS_INDEPENDENT: Line = Line {
    id: "is_independent",
    group: "feasibility",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the prediction is an independent set.",
        formula: "1 if viol = 0, else 0; over several graphs the share.",
        undefined: "\"no scores given\".",
        differs: "feasibility is a share of edges and can be 0.997 for a set that is not independent in any \
                  graph.",
        reference: "Calipers",
        example: ("set", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::is_independent)),
    ..Line::DEFAULTS
};

pub(super) const IS_MAXIMAL: Line = Line {
    id: "is_maximal",
    group: "feasibility",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the prediction is independent and no node can be added.",
        formula: "1 if viol = 0 and every unpredicted node has a predicted neighbour, else 0.",
        undefined: "\"no scores given\".",
        differs: "",
        reference: "Calipers",
        example: ("set", "0.3333333333333333"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::is_maximal)),
    ..Line::DEFAULTS
};

pub(super) const CONFLICT_RATE: Line = Line {
    id: "conflict_rate",
    group: "feasibility",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The share of predicted nodes that have a predicted neighbour.",
        formula: "Predicted nodes with a predicted neighbour / num_pred_1s.",
        undefined: "\"no scores given\"; \"no node is predicted\".",
        differs: "Counts nodes, not edges: it cannot be made small by adding edges elsewhere.",
        reference: "Calipers",
        example: ("set", "0.3333333333333333"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::conflict_rate)),
    ..Line::DEFAULTS
};

pub(super) const SOLVED_ANY_OPTIMUM: Line = Line {
    id: "solved_any_optimum",
    group: "set size",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the raw prediction is independent and as large as the reference, whichever \
                   optimum it is.",
        formula: "1 if viol = 0 and num_pred_1s >= R, else 0.",
        undefined: "\"no scores given\"; \"no labels or optimum given\".",
        differs: "solved asks for the labelled optimum itself.",
        reference: "Calipers",
        example: ("set", "0.3333333333333333"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::solved_any_optimum)),
    ..Line::DEFAULTS
};

pub(super) const OPTIMAL_RATE: Line = Line {
    id: "optimal_rate",
    group: "decode",
    better: higher,
    range: YES_OR_NO,
    per_unit: true,
    doc: Doc {
        measures: "Whether the decode is as large as the reference.",
        formula: "1 if K >= R, else 0.",
        undefined: "\"no scores given\"; \"no labels or optimum given\".",
        differs: "",
        reference: "Calipers",
        example: ("drop", "0.5"),
    },
    number: Number::Rows(|protocol, rows| over_graphs(protocol, rows, beyond::optimal_rate)),
    ..Line::DEFAULTS
};
