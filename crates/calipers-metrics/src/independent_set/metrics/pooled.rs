//! Pooled values: numerators and denominators summed over all graphs, then one division.

use calipers_core::{Doc, Number};

use super::super::pooled;
use super::{Line, NON_NEGATIVE, SHARE, UP_TO_ONE, higher, lower, neither, number};

pub(super) const LOSS_BCE_MICRO: Line = Line {
    id: "loss_bce_micro",
    group: "pooled",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "The weighted cross-entropy over all nodes of all graphs.",
        formula: "sum(w_g s_pos + s_neg) / sum N over the graphs where loss_bce is defined; w_g as in \
                  loss_bce.",
        undefined: "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has \
                    no nodes\"; \"infinite: a probability of 0 or 1 contradicts a label\".",
        differs: "With pos_weight pooled this is the batch loss of the published code.",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.6326145647452633"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::loss_bce(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const LOSS_FEASIBILITY_MICRO: Line = Line {
    id: "loss_feasibility_micro",
    group: "pooled",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "The relaxed violations over all edges of all graphs.",
        formula: "sum s_edge / sum m.",
        undefined: "\"no scores given\"; \"a set was given, not scores\"; \"graph has no edges\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.24375"),
    },
    number: Number::Rows(|_, rows| number(pooled::loss_feasibility(rows))),
    ..Line::DEFAULTS
};

pub(super) const LOSS_TOTAL_MICRO: Line = Line {
    id: "loss_total_micro",
    group: "pooled",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "The training objective from the two pooled losses.",
        formula: "loss_bce_micro + lambda loss_feasibility_micro; lambda = 0: loss_bce_micro.",
        undefined: "Where a part it needs is: \"no scores given\"; \"a set was given, not scores\"; \"no \
                    labels given\"; \"graph has no nodes\"; \"infinite: a probability of 0 or 1 contradicts \
                    a label\"; and, unless lambda = 0, \"graph has no edges\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.7544895647452633"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::loss_total(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const FEASIBILITY_MICRO: Line = Line {
    id: "feasibility_micro",
    group: "pooled",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of all edges that the predictions respect.",
        formula: "sum(m - viol) / sum m.",
        undefined: "\"no scores given\"; \"graph has no edges\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.8"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::FEASIBILITY.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const ACCURACY_MICRO: Line = Line {
    id: "accuracy_micro",
    group: "pooled",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of all nodes whose prediction equals the label.",
        formula: "sum(tp + tn) / sum N over labelled graphs.",
        undefined: "\"no scores given\"; \"no labels given\"; \"graph has no nodes\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.5714285714285714"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::ACCURACY.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const PRECISION_MICRO: Line = Line {
    id: "precision_micro",
    group: "pooled",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of all predicted nodes that are labelled 1.",
        formula: "sum tp / sum(tp + fp) over labelled graphs.",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.5"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::PRECISION.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const RECALL_MICRO: Line = Line {
    id: "recall_micro",
    group: "pooled",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The share of all nodes labelled 1 that are predicted.",
        formula: "sum tp / sum(tp + fn) over labelled graphs.",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.6666666666666666"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::RECALL.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const F1_MICRO: Line = Line {
    id: "f1_micro",
    group: "pooled",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The harmonic mean of precision_micro and recall_micro.",
        formula: "2 sum tp / sum(2 tp + fp + fn) over labelled graphs.",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is predicted or labelled 1\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.5714285714285714"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::F1.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const SET_SIZE_RATIO_MICRO: Line = Line {
    id: "set_size_ratio_micro",
    group: "pooled",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "All predicted nodes for each node labelled 1.",
        formula: "sum num_pred_1s / sum num_true_1s over labelled graphs.",
        undefined: "\"no scores given\"; \"no labels given\"; \"no node is labelled 1\".",
        differs: "A graph without a label 1 adds its predicted nodes here, while set_size_ratio leaves it \
                  out.",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "1.3333333333333333"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::SET_SIZE_RATIO.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const APPROX_RATIO_RAW_MICRO: Line = Line {
    id: "approx_ratio_raw_micro",
    group: "pooled",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "All predicted nodes relative to the summed reference.",
        formula: "sum num_pred_1s / sum R over graphs with a reference.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "1.3333333333333333"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::APPROX_RATIO_RAW.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const GAP_RATIO_MICRO: Line = Line {
    id: "gap_ratio_micro",
    group: "pooled",
    better: lower,
    range: UP_TO_ONE,
    doc: Doc {
        measures: "The share of the summed reference that the decode loses.",
        formula: "sum(R - K) / sum R over graphs with a reference.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "-0.3333333333333333"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::GAP_RATIO.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const APPROX_RATIO_POSTPROCESSED_MICRO: Line = Line {
    id: "approx_ratio_postprocessed_micro",
    group: "pooled",
    better: higher,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "All decoded nodes relative to the summed reference.",
        formula: "sum K / sum R over graphs with a reference.",
        undefined: "\"no scores given\"; \"no labels or optimum given\"; \"reference size is 0\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "1.3333333333333333"),
    },
    number: Number::Rows(|protocol, rows| number(pooled::APPROX_RATIO_POSTPROCESSED.read(protocol, rows))),
    ..Line::DEFAULTS
};

pub(super) const Q_HAT_MICRO: Line = Line {
    id: "q_hat_micro",
    group: "pooled",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The confidence of the correct nodes over all nodes of all graphs.",
        formula: "sum s_conf / sum N over labelled graphs.",
        undefined: "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has \
                    no nodes\".",
        differs: "",
        reference: "Calipers; the formula of the document, summed over graphs",
        example: ("batch", "0.32142857142857145"),
    },
    number: Number::Rows(|_, rows| number(pooled::q_hat(rows))),
    ..Line::DEFAULTS
};
