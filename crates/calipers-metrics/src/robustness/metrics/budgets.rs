//! Numbers along the budgets and over conditions.

use calipers_core::{Doc, Number};

use super::super::budget_reading::{
    accuracy_3_min, accuracy_auc, accuracy_average, accuracy_weighted, bias_linearity, bias_slope,
};
use super::{Line, NON_NEGATIVE, SHARE, UP_TO_ONE, higher, lower, neither};

pub(super) const BIAS_SLOPE: Line = Line {
    id: "bias_slope",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How fast the bias grows with the budget.",
        formula: "The line through the origin: sum x B / sum x^2 over budgets x > 0, B = mean bias_total at x.",
        undefined: "\"report holds K attacks\"; \"no budget above 0\"; \"infinite: beyond the largest number\".",
        differs: "",
        reference: "Calipers",
        example: ("curve", "15.714285714285714"),
    },
    headline: Some(8),
    number: Number::Rows(bias_slope),
    ..Line::DEFAULTS
};

pub(super) const BIAS_LINEARITY: Line = Line {
    id: "bias_linearity",
    group: "bias",
    better: neither,
    range: UP_TO_ONE,
    doc: Doc {
        measures: "Whether the bias grows in proportion to the budget.",
        formula: "1 - sum (B - slope x)^2 / sum (B - mean B)^2 over budgets x > 0.",
        undefined: "\"report holds K attacks\"; \"no budget above 0\"; \"fewer than three budgets above 0\"; \"bias is \
                   the same at every budget\"; \"infinite: beyond the largest number\".",
        differs: "Negative when a constant fits better than the line through the origin.",
        reference: "Calipers",
        example: ("curve", "0.8963133640552995"),
    },
    number: Number::Rows(bias_linearity),
    ..Line::DEFAULTS
};

pub(super) const ACCURACY_AUC: Line = Line {
    id: "accuracy_auc",
    group: "accuracy",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The mean height of the accuracy curve.",
        formula: "Trapezoids under (budget, mean robust_accuracy) from 0 to the largest budget, divided by it. At 0: \
                   the budget-0 condition, else the mean clean_accuracy of all units.",
        undefined: "\"report holds K attacks\"; \"no budget above 0\"; \"no labels given\"; \"no test nodes given\"; \
                   \"test set is empty\"; \"features are not class scores\".",
        differs: "",
        reference: "Calipers",
        example: ("curve", "0.9375"),
    },
    headline: Some(7),
    number: Number::Rows(accuracy_auc),
    ..Line::DEFAULTS
};

pub(super) const ACCURACY_AVERAGE: Line = Line {
    id: "accuracy_average",
    group: "accuracy",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The accuracy over all conditions.",
        formula: "Mean over conditions of the mean robust_accuracy.",
        undefined: "\"no labels given\"; \"no test nodes given\"; \"test set is empty\"; \"features are not class \
                   scores\"; \"report holds 0 conditions\".",
        differs: "The clean graph is left out.",
        reference: "Graph Robustness Benchmark, average",
        example: ("curve", "0.9166666666666666"),
    },
    number: Number::Rows(accuracy_average),
    ..Line::DEFAULTS
};

pub(super) const ACCURACY_3_MIN: Line = Line {
    id: "accuracy_3_min",
    group: "accuracy",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The accuracy under the three worst conditions.",
        formula: "Mean of the three lowest of the mean robust accuracies.",
        undefined: "\"no labels given\"; \"no test nodes given\"; \"test set is empty\"; \"features are not class \
                   scores\"; \"fewer than three conditions\"; \"report holds 0 conditions\".",
        differs: "The clean graph is left out.",
        reference: "Graph Robustness Benchmark, 3-min average",
        example: ("curve", "0.9166666666666666"),
    },
    number: Number::Rows(accuracy_3_min),
    ..Line::DEFAULTS
};

pub(super) const ACCURACY_WEIGHTED: Line = Line {
    id: "accuracy_weighted",
    group: "accuracy",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The accuracy over all conditions, most weight on the worst.",
        formula: "sum w_i s_i / sum w_i, s the mean robust accuracies in ascending order, w_i = 1/i^2.",
        undefined: "\"no labels given\"; \"no test nodes given\"; \"test set is empty\"; \"features are not class \
                   scores\"; \"report holds 0 conditions\".",
        differs: "The clean graph is left out.",
        reference: "Graph Robustness Benchmark, weighted accuracy",
        example: ("curve", "0.8163265306122449"),
    },
    number: Number::Rows(accuracy_weighted),
    ..Line::DEFAULTS
};
