//! Classification: the prediction against the labels, node by node.

use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{
    NO_NODES, NONE_LABELLED, NONE_OF_EITHER, NONE_PREDICTED, counts, nodes,
};
use crate::independent_set::row::pooled::{FN, FP, TN, TP, counted, pooled, ratio, some, total};
use crate::independent_set::row::published;

const CLASSIFICATION: Line = Line { group: "classification", better: higher, range: SHARE, ..PUBLISHED };

const MICRO: Line = Line { better: higher, range: SHARE, ..POOLED };

const NODES: Line =
    Line { range: UP_TO_NODES, undefined: "\"no scores given\"; \"no labels given\".", ..TOTAL };

pub(crate) const ACCURACY: Line = Line {
    id: "accuracy",
    headline: Some(7),
    measures: "The share of nodes whose prediction equals the label.",
    formula: "(tp + tn) / N.",
    undefined: "\"no scores given\"; \"no labels given\"; \"graph has no nodes\".",
    differs: "Compares with one of many optima: another optimal set scores below 1. See solved_any_optimum.",
    reference: document!("Classification Metrics 1"),
    example: ("path3", "0.6666666666666666"),
    number: Number::Chosen(|protocol| by_preset(protocol, accuracy, published::accuracy)),
    ..CLASSIFICATION
};

pub(crate) const PRECISION: Line = Line {
    id: "precision",
    measures: "The share of predicted nodes that are labelled 1.",
    formula: "tp / (tp + fp).",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted\".",
    differs: "Without an epsilon. Preset document has tp / (tp + fp + 1e-8), trm-mis-head tp / max(tp + fp, \
              1e-8): both give 0 when nothing is predicted.",
    reference: document!("Classification Metrics 2"),
    example: ("path3", "0.6666666666666666"),
    number: Number::Chosen(|protocol| by_preset(protocol, precision, published::precision)),
    ..CLASSIFICATION
};

pub(crate) const RECALL: Line = Line {
    id: "recall",
    measures: "The share of nodes labelled 1 that are predicted.",
    formula: "tp / (tp + fn).",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
    differs: "Without an epsilon. Preset document has tp / (tp + fn + 1e-8), trm-mis-head tp / max(tp + fn, 1e-8).",
    reference: document!("Classification Metrics 2"),
    example: ("path3", "1.0"),
    number: Number::Chosen(|protocol| by_preset(protocol, recall, published::recall)),
    ..CLASSIFICATION
};

pub(crate) const F1: Line = Line {
    id: "f1",
    headline: Some(6),
    measures: "The harmonic mean of precision and recall.",
    formula: "2 tp / (2 tp + fp + fn).",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted or labelled 1\".",
    differs: "From counts, so that it is 0 and not 0/0 when tp = 0 but something is predicted or labelled. \
              Preset document has 2PR / (P + R + 1e-8), trm-mis-head 2 tp / max(2 tp + fp + fn, 1e-8).",
    reference: document!("Classification Metrics 2"),
    example: ("path3", "0.8"),
    number: Number::Chosen(|protocol| by_preset(protocol, f1, published::f1)),
    ..CLASSIFICATION
};

pub(crate) const ACCURACY_MICRO: Line = Line {
    id: "accuracy_micro",
    measures: "The share of all nodes whose prediction equals the label.",
    formula: "sum(tp + tn) / sum N over labelled graphs.",
    undefined: "\"no scores given\"; \"no labels given\"; \"graph has no nodes\".",
    example: ("batch", "0.5714285714285714"),
    number: pooled(|_, sums| {
        let right = sums.whole(TP) + sums.whole(TN);
        let all = right + sums.whole(FP) + sums.whole(FN);
        ratio(some(sums, all, |row| counts(row).and_then(|_| nodes(row))), right, all, NO_NODES)
    }),
    ..MICRO
};

pub(crate) const PRECISION_MICRO: Line = Line {
    id: "precision_micro",
    measures: "The share of all predicted nodes that are labelled 1.",
    formula: "sum tp / sum(tp + fp) over labelled graphs.",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted\".",
    example: ("batch", "0.5"),
    number: pooled(|_, sums| {
        ratio(counted(sums), sums.whole(TP), sums.whole(TP) + sums.whole(FP), NONE_PREDICTED)
    }),
    ..MICRO
};

pub(crate) const RECALL_MICRO: Line = Line {
    id: "recall_micro",
    measures: "The share of all nodes labelled 1 that are predicted.",
    formula: "sum tp / sum(tp + fn) over labelled graphs.",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
    example: ("batch", "0.6666666666666666"),
    number: pooled(|_, sums| {
        ratio(counted(sums), sums.whole(TP), sums.whole(TP) + sums.whole(FN), NONE_LABELLED)
    }),
    ..MICRO
};

pub(crate) const F1_MICRO: Line = Line {
    id: "f1_micro",
    measures: "The harmonic mean of precision_micro and recall_micro.",
    formula: "2 sum tp / sum(2 tp + fp + fn) over labelled graphs.",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted or labelled 1\".",
    example: ("batch", "0.5714285714285714"),
    number: pooled(|_, sums| {
        let twice = 2 * sums.whole(TP);
        ratio(counted(sums), twice, twice + sums.whole(FP) + sums.whole(FN), NONE_OF_EITHER)
    }),
    ..MICRO
};

pub(crate) const TP_TOTAL: Line = Line {
    id: "tp_total",
    better: higher,
    measures: "Nodes of all labelled graphs that are predicted and labelled 1.",
    formula: "sum tp.",
    example: ("batch", "2"),
    number: pooled(|_, sums| total(counted(sums), sums.whole(TP))),
    ..NODES
};

pub(crate) const FP_TOTAL: Line = Line {
    id: "fp_total",
    better: lower,
    measures: "Nodes of all labelled graphs that are predicted and labelled 0.",
    formula: "sum fp.",
    example: ("batch", "2"),
    number: pooled(|_, sums| total(counted(sums), sums.whole(FP))),
    ..NODES
};

pub(crate) const FN_TOTAL: Line = Line {
    id: "fn_total",
    better: lower,
    measures: "Nodes of all labelled graphs that are not predicted and labelled 1.",
    formula: "sum fn.",
    example: ("batch", "1"),
    number: pooled(|_, sums| total(counted(sums), sums.whole(FN))),
    ..NODES
};

pub(crate) const TN_TOTAL: Line = Line {
    id: "tn_total",
    better: higher,
    measures: "Nodes of all labelled graphs that are not predicted and labelled 0.",
    formula: "sum tn.",
    example: ("batch", "2"),
    number: pooled(|_, sums| total(counted(sums), sums.whole(TN))),
    ..NODES
};

fn accuracy(_: &IndependentSet, row: &Row) -> Value {
    number(counts(row).and_then(|of| quotient(of.tp + of.tn, row.nodes, NO_NODES)))
}

fn precision(_: &IndependentSet, row: &Row) -> Value {
    number(counts(row).and_then(|of| quotient(of.tp, of.tp + of.fp, NONE_PREDICTED)))
}

fn recall(_: &IndependentSet, row: &Row) -> Value {
    number(counts(row).and_then(|of| quotient(of.tp, of.tp + of.fn_, NONE_LABELLED)))
}

fn f1(_: &IndependentSet, row: &Row) -> Value {
    number(counts(row).and_then(|of| quotient(2 * of.tp, 2 * of.tp + of.fp + of.fn_, NONE_OF_EITHER)))
}
