//! Totals: whole numbers summed over all graphs.

use calipers_core::{Doc, Number};

use super::super::aggregate::total;
use super::super::evidence::{counts, labels, scores};
use super::super::pooled;
use super::{Line, NON_NEGATIVE, UP_TO_EDGES, UP_TO_NODES, UP_TO_REFERENCE, higher, lower, neither};

pub(super) const NUM_VIOLATIONS_TOTAL: Line = Line {
    id: "num_violations_total",
    group: "totals",
    better: lower,
    range: UP_TO_EDGES,
    doc: Doc {
        measures: "Violated edges of all graphs.",
        formula: "sum viol.",
        undefined: "\"no scores given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "1"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(scores(row)?.violations.into()))),
    ..Line::DEFAULTS
};

pub(super) const NUM_PRED_1S_TOTAL: Line = Line {
    id: "num_pred_1s_total",
    group: "totals",
    better: neither,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "Predicted nodes of all graphs.",
        formula: "sum num_pred_1s.",
        undefined: "\"no scores given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "4"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(scores(row)?.predicted.into()))),
    ..Line::DEFAULTS
};

pub(super) const NUM_TRUE_1S_TOTAL: Line = Line {
    id: "num_true_1s_total",
    group: "totals",
    better: neither,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "Nodes labelled 1 of all labelled graphs.",
        formula: "sum Y.",
        undefined: "\"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "3"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(labels(row)?.ones.into()))),
    ..Line::DEFAULTS
};

pub(super) const POSTPROCESSED_SIZE_TOTAL: Line = Line {
    id: "postprocessed_size_total",
    group: "totals",
    better: higher,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "Decoded nodes of all graphs.",
        formula: "sum K.",
        undefined: "\"no scores given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "4"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(scores(row)?.decoded.into()))),
    ..Line::DEFAULTS
};

pub(super) const GAP_TOTAL: Line = Line {
    id: "gap_total",
    group: "totals",
    better: lower,
    range: UP_TO_REFERENCE,
    doc: Doc {
        measures: "How many nodes all decodes together are short of the reference.",
        formula: "sum(R - K) over graphs with a reference.",
        undefined: "\"no scores given\"; \"no labels or optimum given\".",
        differs: "Graphs whose decode beats the reference make up for others; the total may be negative.",
        reference: "Calipers",
        example: ("batch", "-1"),
    },
    number: Number::Rows(|protocol, rows| total(rows, |row| pooled::gap_of(protocol, row))),
    ..Line::DEFAULTS
};

pub(super) const TP_TOTAL: Line = Line {
    id: "tp_total",
    group: "totals",
    better: higher,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "Nodes of all labelled graphs that are predicted and labelled 1.",
        formula: "sum tp.",
        undefined: "\"no scores given\"; \"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "2"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(counts(row)?.tp.into()))),
    ..Line::DEFAULTS
};

pub(super) const FP_TOTAL: Line = Line {
    id: "fp_total",
    group: "totals",
    better: lower,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "Nodes of all labelled graphs that are predicted and labelled 0.",
        formula: "sum fp.",
        undefined: "\"no scores given\"; \"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "2"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(counts(row)?.fp.into()))),
    ..Line::DEFAULTS
};

pub(super) const FN_TOTAL: Line = Line {
    id: "fn_total",
    group: "totals",
    better: lower,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "Nodes of all labelled graphs that are not predicted and labelled 1.",
        formula: "sum fn.",
        undefined: "\"no scores given\"; \"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "1"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(counts(row)?.fn_.into()))),
    ..Line::DEFAULTS
};

pub(super) const TN_TOTAL: Line = Line {
    id: "tn_total",
    group: "totals",
    better: higher,
    range: UP_TO_NODES,
    doc: Doc {
        measures: "Nodes of all labelled graphs that are not predicted and labelled 0.",
        formula: "sum tn.",
        undefined: "\"no scores given\"; \"no labels given\".",
        differs: "",
        reference: "Calipers",
        example: ("batch", "2"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(counts(row)?.tn.into()))),
    ..Line::DEFAULTS
};

pub(super) const NODES_TOTAL: Line = Line {
    id: "nodes_total",
    group: "totals",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "Nodes of all graphs.",
        formula: "sum N.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("batch", "7"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(row.nodes.into()))),
    ..Line::DEFAULTS
};

pub(super) const EDGES_TOTAL: Line = Line {
    id: "edges_total",
    group: "totals",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "Undirected edges of all simple graphs.",
        formula: "sum m.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("batch", "5"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(row.edges.into()))),
    ..Line::DEFAULTS
};

pub(super) const SELF_LOOPS_TOTAL: Line = Line {
    id: "self_loops_total",
    group: "totals",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "Stored entries that join a node to itself; they are dropped.",
        formula: "Stored entries (u, u).",
        undefined: "",
        differs: "Some pipelines add a loop to every node. A node with a loop may still be chosen.",
        reference: "Calipers",
        example: ("storage", "1"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(row.self_loops.into()))),
    ..Line::DEFAULTS
};

pub(super) const DUPLICATE_EDGES_TOTAL: Line = Line {
    id: "duplicate_edges_total",
    group: "totals",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "Stored entries that repeat another one; they are dropped.",
        formula: "Proper entries minus distinct ordered pairs where both directions are stored (arrays, \
                  METIS, ml4co), minus distinct unordered pairs elsewhere.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("storage", "1"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(row.duplicate_edges.into()))),
    ..Line::DEFAULTS
};

pub(super) const ONE_DIRECTIONAL_EDGES_TOTAL: Line = Line {
    id: "one_directional_edges_total",
    group: "totals",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "Edges stored in one direction where both are expected; they are read as undirected.",
        formula: "Unordered pairs of which exactly one direction is stored (arrays, METIS, ml4co), else 0.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("storage", "1"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(row.one_directional_edges.into()))),
    ..Line::DEFAULTS
};

pub(super) const ISOLATED_NODES_TOTAL: Line = Line {
    id: "isolated_nodes_total",
    group: "totals",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "Nodes without a proper edge. They are ordinary nodes and belong to every maximum \
                   independent set.",
        formula: "Nodes of degree 0.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("storage", "2"),
    },
    number: Number::Rows(|_, rows| total(rows, |row| Ok(row.isolated_nodes.into()))),
    ..Line::DEFAULTS
};
