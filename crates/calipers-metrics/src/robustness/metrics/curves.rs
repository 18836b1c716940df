//! Every scalar by condition.

use calipers_core::{Doc, Number};

use super::super::conditions::{curve, curve_std};
use super::{ANY, Line, NON_NEGATIVE, neither};

pub(super) const CURVE: Line = Line {
    id: "curve",
    group: "curve",
    better: neither,
    range: ANY,
    doc: Doc {
        measures: "Every scalar at every condition.",
        formula: "{condition: {n, bias_total, ..., budget_used}}, means over the n repetitions.",
        undefined: "\"no attacked edges given\"; \"attacked graph has no edges\"; \"clean and attacked edges are both \
                   needed\"; \"attack added no edge\"; \"no clean edge was kept\"; \"kept edges have no difference\"; \
                   \"node subset is empty\"; \"clean features are all zero\"; \"no labels given\"; \"no test nodes \
                   given\"; \"test set is empty\"; \"features are not class scores\"; \"no test node was correct on the \
                   clean graph\"; \"clean graph has no edges\".",
        differs: "",
        reference: "Calipers",
        example: (
            "repetitions",
            r#"{"0.2": {"n": 2, "bias_total": 3.0, "bias_mean": 1.5, "bias_relative": 0.375, "mean_diff": null, "added_mean_diff": null, "kept_mean_diff": null, "diff_ratio": null, "clean_accuracy": 1.0, "robust_accuracy": 0.75, "accuracy_drop": 0.25, "attack_success_rate": 0.25, "flips_added": null, "flips_removed": null, "budget_used": null}}"#,
        ),
    },
    number: Number::Rows(curve),
    ..Line::DEFAULTS
};

pub(super) const CURVE_STD: Line = Line {
    id: "curve_std",
    group: "curve",
    better: neither,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How much repetitions scatter at every condition.",
        formula: "sqrt(sum (v - mean)^2 / (n - ddof)) over repetitions, within one unit in the last place.",
        undefined: "\"one repetition per condition\"; \"one repetition\"; \"too few repetitions\"; \"no attacked edges \
                   given\"; \"attacked graph has no edges\"; \"clean and attacked edges are both needed\"; \"attack \
                   added no edge\"; \"no clean edge was kept\"; \"kept edges have no difference\"; \"node subset is \
                   empty\"; \"clean features are all zero\"; \"no labels given\"; \"no test nodes given\"; \"test set \
                   is empty\"; \"features are not class scores\"; \"no test node was correct on the clean graph\"; \
                   \"clean graph has no edges\".",
        differs: "ddof is 1 unless set; published drivers use 0.",
        reference: "Calipers",
        example: (
            "repetitions",
            r#"{"0.2": {"bias_total": 2.8284271247461903, "bias_mean": 1.4142135623730951, "bias_relative": 0.3535533905932738, "mean_diff": null, "added_mean_diff": null, "kept_mean_diff": null, "diff_ratio": null, "clean_accuracy": 0.0, "robust_accuracy": 0.3535533905932738, "accuracy_drop": 0.3535533905932738, "attack_success_rate": 0.3535533905932738, "flips_added": null, "flips_removed": null, "budget_used": null}}"#,
        ),
    },
    number: Number::Rows(curve_std),
    ..Line::DEFAULTS
};
