//! Set size: how many nodes are predicted, and against what.

use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{
    NONE_LABELLED, ZERO_REFERENCE, labels, reference, scores, yes_or_no,
};
use crate::independent_set::row::pooled::{
    FN, FP, LABELLED, ONES, PREDICTED, PREDICTED_OF_REFERENCE, REFERENCE, TP, compared, counted, pooled,
    ratio, scored, some, total,
};
use crate::independent_set::row::published;

const SET_SIZE: Line = Line { group: "set size", range: UP_TO_NODES, ..PUBLISHED };

pub(crate) const NUM_PRED_1S: Line = Line {
    id: "num_pred_1s",
    measures: "Predicted nodes, whether or not they are independent.",
    formula: "Nodes with z > 0, p > 0.5 or a 1 in the set; over several graphs the mean.",
    undefined: "\"no scores given\".",
    differs: "p = 0.5 is not predicted and z = 1e-30 is. Presets document and trm-mis-head round p to single \
              precision first and report the total.",
    reference: document!("Set Size Metrics 1"),
    example: ("path3", "3.0"),
    number: Number::Chosen(|protocol| by_preset(protocol, num_pred_1s, published::num_pred_1s)),
    ..SET_SIZE
};

pub(crate) const NUM_TRUE_1S: Line = Line {
    id: "num_true_1s",
    measures: "Nodes labelled 1.",
    formula: "Y; over several graphs the mean.",
    undefined: "\"no labels given\".",
    differs: "Presets document and trm-mis-head report the total.",
    reference: document!("Set Size Metrics 2"),
    example: ("path3", "2.0"),
    number: Number::Chosen(|protocol| by_preset(protocol, num_true_1s, published::num_true_1s)),
    ..SET_SIZE
};

pub(crate) const SET_SIZE_RATIO: Line = Line {
    id: "set_size_ratio",
    range: NON_NEGATIVE,
    measures: "Predicted nodes for each node labelled 1: below 1 too few, above 1 too many.",
    formula: "num_pred_1s / num_true_1s.",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
    differs: "Always against the labels, also when an optimum is declared. The presets of the published code \
              divide totals by Y + 1e-8 and so give about 1e8 for each predicted node when nothing is \
              labelled.",
    reference: document!("Set Size Metrics 3"),
    example: ("path3", "1.5"),
    number: Number::Chosen(|protocol| by_preset(protocol, set_size_ratio, published::set_size_ratio)),
    ..SET_SIZE
};

pub(crate) const APPROX_RATIO_RAW: Line = Line {
    id: "approx_ratio_raw",
    range: NON_NEGATIVE,
    measures: "The size of the raw prediction relative to the reference. No approximation ratio in the usual \
               sense, because the prediction may violate edges.",
    formula: "num_pred_1s / R.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\". The presets of \
                the published code: \"no labels given\".",
    differs: "Equal to set_size_ratio unless an optimum is declared. Preset document repeats set_size_ratio; \
              trm-mis-head takes the mean over all graphs of pred/Y, 0 for a graph without a label 1.",
    reference: document!("Set Size Metrics 4"),
    example: ("path3", "1.5"),
    number: Number::Chosen(|protocol| by_preset(protocol, approx_ratio_raw, published::approx_ratio_raw)),
    ..SET_SIZE
};

pub(crate) const SET_SIZE_RATIO_MICRO: Line = Line {
    id: "set_size_ratio_micro",
    range: NON_NEGATIVE,
    measures: "All predicted nodes for each node labelled 1.",
    formula: "sum num_pred_1s / sum num_true_1s over labelled graphs.",
    undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
    differs: "A graph without a label 1 adds its predicted nodes here, while set_size_ratio leaves it out.",
    example: ("batch", "1.3333333333333333"),
    number: pooled(|_, sums| {
        let (predicted, ones) = (sums.whole(TP) + sums.whole(FP), sums.whole(TP) + sums.whole(FN));
        ratio(counted(sums), predicted, ones, NONE_LABELLED)
    }),
    ..POOLED
};

pub(crate) const APPROX_RATIO_RAW_MICRO: Line = Line {
    id: "approx_ratio_raw_micro",
    range: NON_NEGATIVE,
    measures: "All predicted nodes relative to the summed reference.",
    formula: "sum num_pred_1s / sum R over graphs with a reference.",
    undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
    example: ("batch", "1.3333333333333333"),
    number: pooled(|protocol, sums| {
        let predicted = sums.whole(PREDICTED_OF_REFERENCE);
        ratio(compared(protocol, sums), predicted, sums.whole(REFERENCE), ZERO_REFERENCE)
    }),
    ..POOLED
};

pub(crate) const NUM_PRED_1S_TOTAL: Line = Line {
    id: "num_pred_1s_total",
    range: UP_TO_NODES,
    measures: "Predicted nodes of all graphs.",
    formula: "sum num_pred_1s.",
    example: ("batch", "4"),
    undefined: NO_SCORES,
    number: pooled(|_, sums| total(scored(sums), sums.whole(PREDICTED))),
    ..TOTAL
};

pub(crate) const NUM_TRUE_1S_TOTAL: Line = Line {
    id: "num_true_1s_total",
    range: UP_TO_NODES,
    measures: "Nodes labelled 1 of all labelled graphs.",
    formula: "sum Y.",
    undefined: "\"no labels given\".",
    example: ("batch", "3"),
    number: pooled(|_, sums| total(some(sums, sums.whole(LABELLED), labels), sums.whole(ONES))),
    ..TOTAL
};

pub(crate) const OPTIMAL_SIZE: Line = Line {
    id: "optimal_size",
    group: "set size",
    range: UP_TO_NODES,
    measures: "The reference size that gaps and ratios compare with.",
    formula: "R: the declared optimum if there is one, else Y (reference auto); or only one of the two \
              (labels, optimum).",
    undefined: "\"no labels or optimum given\".",
    example: ("drop", "2.5"),
    number: Number::mean(|protocol, row| number(reference(protocol, row).map(|size| size as f64))),
    ..PER_GRAPH
};

pub(crate) const SOLVED_ANY_OPTIMUM: Line = Line {
    id: "solved_any_optimum",
    group: "set size",
    better: higher,
    range: YES_OR_NO,
    measures: "Whether the raw prediction is independent and as large as the reference, whichever optimum it \
               is.",
    formula: "1 if viol = 0 and num_pred_1s >= R, else 0.",
    differs: "solved asks for the labelled optimum itself.",
    example: ("set", "0.3333333333333333"),
    undefined: NO_REFERENCE,
    number: Number::mean(|protocol, row| {
        let solves = |size| scores(row).map(|of| of.violations == 0 && of.predicted >= size);
        yes_or_no(scores(row).and_then(|_| reference(protocol, row)).and_then(solves))
    }),
    ..PER_GRAPH
};

fn num_pred_1s(_: &IndependentSet, row: &Row) -> Value {
    number(scores(row).map(|scores| scores.predicted as f64))
}

fn num_true_1s(_: &IndependentSet, row: &Row) -> Value {
    number(labels(row).map(|labels| labels.ones as f64))
}

fn set_size_ratio(_: &IndependentSet, row: &Row) -> Value {
    number(scores(row).and_then(|of| quotient(of.predicted, labels(row)?.ones, NONE_LABELLED)))
}

fn approx_ratio_raw(protocol: &IndependentSet, row: &Row) -> Value {
    number(scores(row).and_then(|of| quotient(of.predicted, reference(protocol, row)?, ZERO_REFERENCE)))
}
