//! Estimation bias of one condition.

use calipers_core::{Doc, Number};

use super::super::conditions::{bias_curve, bias_node_quantiles, bias_per_node, scalar};
use super::super::reading::Scalar;
use super::{Line, NON_NEGATIVE, SHARE, lower, neither};

pub(super) const BIAS_TOTAL: Line = Line {
    id: "bias_total",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far the attack moved the features of all nodes together.",
        formula: "Sum over the chosen nodes of b_i = ‖F_i - F*_i‖^2, exact; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\".",
        differs: "Sums over all nodes, training nodes too, unless --nodes narrows them.",
        reference: "Estimation Bias Measurement, compute_estimation_bias",
        example: ("four-nodes", "16.0"),
    },
    headline: Some(2),
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::BiasTotal)),
    ..Line::DEFAULTS
};

pub(super) const BIAS_MEAN: Line = Line {
    id: "bias_mean",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far the attack moved a node on average.",
        formula: "bias_total / n, n = the number of chosen nodes.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"node subset is empty\".",
        differs: "Divided by nodes, not by nodes times columns.",
        reference: "Estimation Bias Measurement, compute_estimation_bias",
        example: ("four-nodes", "4.0"),
    },
    headline: Some(3),
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::BiasMean)),
    ..Line::DEFAULTS
};

pub(super) const BIAS_PER_NODE: Line = Line {
    id: "bias_per_node",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How far the attack moved each chosen node, in node order.",
        formula: "b_i = sum over c of (F_ic - F*_ic)^2, exact and rounded once.",
        undefined: "\"report holds K units; use --per-node\".",
        differs: "",
        reference: "Estimation Bias Measurement, compute_estimation_bias",
        example: ("four-nodes", "[0.0, 4.0, 4.0, 8.0]"),
    },
    number: Number::Rows(bias_per_node),
    ..Line::DEFAULTS
};

pub(super) const BIAS_CURVE: Line = Line {
    id: "bias_curve",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "The bias at every condition: Figure 6.",
        formula: "{condition: {bias_total, bias_mean}}, means over repetitions.",
        undefined: "\"node subset is empty\".",
        differs: "Budget 0 gives 0 and stays in the curve.",
        reference: "Estimation Bias Measurement, compute_bias_curve",
        example: (
            "curve",
            r#"{"0.1": {"bias_total": 1.0, "bias_mean": 0.25}, "0.2": {"bias_total": 2.0, "bias_mean": 0.5}, "0.4": {"bias_total": 7.0, "bias_mean": 1.75}}"#,
        ),
    },
    number: Number::Rows(bias_curve),
    ..Line::DEFAULTS
};

pub(super) const BIAS_RELATIVE: Line = Line {
    id: "bias_relative",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The bias beside the size of the features: comparable between models.",
        formula: "sum b_i / sum ‖F*_i‖^2 over the chosen nodes; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean features are all zero\".",
        differs: "A model with twice the logits has four times the bias and the same relative bias.",
        reference: "Calipers",
        example: ("four-nodes", "0.5161290322580645"),
    },
    headline: Some(1),
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::BiasRelative)),
    ..Line::DEFAULTS
};

pub(super) const BIAS_NODE_QUANTILES: Line = Line {
    id: "bias_node_quantiles",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How the bias is spread over nodes.",
        formula: "For q = 0.5, 0.9, 0.99 and 1 the ceil(q n)-th smallest b_i; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"node subset is empty\".",
        differs: "An order statistic, never between two nodes.",
        reference: "Calipers",
        example: ("four-nodes", r#"{"0.5": 4.0, "0.9": 8.0, "0.99": 8.0, "1": 8.0}"#),
    },
    number: Number::Rows(bias_node_quantiles),
    ..Line::DEFAULTS
};

pub(super) const BIAS_TOUCHED_SHARE: Line = Line {
    id: "bias_touched_share",
    group: "bias",
    better: neither,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How much of the bias lies on nodes at an end of a flip.",
        formula: "Sum of b_i over chosen nodes at an end of an added or removed edge / bias_total; mean over \
                   repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"bias is zero\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "1.0"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::BiasTouchedShare)),
    ..Line::DEFAULTS
};
