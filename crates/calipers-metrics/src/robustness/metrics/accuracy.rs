//! Accuracies of one condition.

use calipers_core::{Doc, Number};

use super::super::conditions::scalar;
use super::super::reading::Scalar;
use super::{Line, SHARE, SIGNED, higher, lower};

pub(super) const ROBUST_ACCURACY: Line = Line {
    id: "robust_accuracy",
    group: "accuracy",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often the model is right on the attacked graph.",
        formula: "Test nodes with argmax F_i = label / test nodes, the first of equal scores; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no labels given\"; \"no test nodes given\"; \
                   \"test set is empty\"; \"features are not class scores\".",
        differs: "Nothing is assumed to be a test node.",
        reference: "Estimation Bias Measurement, compute_robust_accuracy",
        example: ("four-nodes", "0.5"),
    },
    headline: Some(5),
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::RobustAccuracy)),
    ..Line::DEFAULTS
};

pub(super) const CLEAN_ACCURACY: Line = Line {
    id: "clean_accuracy",
    group: "accuracy",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often the model is right on the clean graph.",
        formula: "Test nodes with argmax F*_i = label / test nodes; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no labels given\"; \"no test nodes given\"; \
                   \"test set is empty\"; \"features are not class scores\".",
        differs: "",
        reference: "Estimation Bias Measurement, compute_clean_and_attacked_accuracy",
        example: ("four-nodes", "1.0"),
    },
    headline: Some(4),
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::CleanAccuracy)),
    ..Line::DEFAULTS
};

pub(super) const ATTACKED_ACCURACY: Line = Line {
    id: "attacked_accuracy",
    group: "accuracy",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "robust_accuracy under the name of the function that gives both.",
        formula: "= robust_accuracy.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no labels given\"; \"no test nodes given\"; \
                   \"test set is empty\"; \"features are not class scores\".",
        differs: "",
        reference: "Estimation Bias Measurement, compute_clean_and_attacked_accuracy",
        example: ("four-nodes", "0.5"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::RobustAccuracy)),
    ..Line::DEFAULTS
};

pub(super) const ACCURACY_DROP: Line = Line {
    id: "accuracy_drop",
    group: "accuracy",
    better: lower,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "What the attack costs in accuracy.",
        formula: "clean_accuracy - robust_accuracy of each unit; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no labels given\"; \"no test nodes given\"; \
                   \"test set is empty\"; \"features are not class scores\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "0.5"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::AccuracyDrop)),
    ..Line::DEFAULTS
};

pub(super) const ATTACK_SUCCESS_RATE: Line = Line {
    id: "attack_success_rate",
    group: "accuracy",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often the attack turns a right answer into a wrong one.",
        formula: "Test nodes right on the clean graph and wrong on the attacked one / test nodes right on the clean \
                   graph; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"no labels given\"; \"no test nodes given\"; \
                   \"test set is empty\"; \"features are not class scores\"; \"no test node was correct on the clean \
                   graph\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "0.5"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::AttackSuccessRate)),
    ..Line::DEFAULTS
};
