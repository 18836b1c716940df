//! How far predicted numbers move.

use calipers_core::{Doc, Number};

use super::super::fidelity_reading::{Side, absolute_error, squared_error};
use super::{Line, NON_NEGATIVE, higher, lower};

pub(super) const FID_PLUS_MAE: Line = Line {
    id: "fid_plus_mae",
    group: "regression",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far predicted numbers move when the explanation is removed.",
        formula: "Mean of |d| over all N D values, d = y_hat - y_comp; pooled.",
        undefined: "\"no explained instances\"; \"infinite: beyond the largest number\".",
        differs: "Only with --task regression, where label metrics do not exist.",
        reference: "Calipers",
        example: ("regression", "1.6666666666666667"),
    },
    number: Number::Rows(|_, rows| absolute_error(rows, Side::Plus)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_MAE: Line = Line {
    id: "fid_minus_mae",
    group: "regression",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far predicted numbers move when the explanation is kept alone.",
        formula: "Mean of |d| over all N D values, d = y_hat - y_sub; pooled.",
        undefined: "\"no explained instances\"; \"infinite: beyond the largest number\".",
        differs: "Only with --task regression, where label metrics do not exist.",
        reference: "Calipers",
        example: ("regression", "0.25"),
    },
    number: Number::Rows(|_, rows| absolute_error(rows, Side::Minus)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_MSE: Line = Line {
    id: "fid_plus_mse",
    group: "regression",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far predicted numbers move when the explanation is removed, large moves weighing \
                  more.",
        formula: "Mean of d^2 over all N D values, d = y_hat - y_comp; pooled.",
        undefined: "\"no explained instances\"; \"infinite: beyond the largest number\".",
        differs: "Only with --task regression, where label metrics do not exist.",
        reference: "Calipers",
        example: ("regression", "3.8333333333333335"),
    },
    number: Number::Rows(|_, rows| squared_error(rows, Side::Plus)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_MSE: Line = Line {
    id: "fid_minus_mse",
    group: "regression",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far predicted numbers move when the explanation is kept alone, large moves \
                  weighing more.",
        formula: "Mean of d^2 over all N D values, d = y_hat - y_sub; pooled.",
        undefined: "\"no explained instances\"; \"infinite: beyond the largest number\".",
        differs: "Only with --task regression, where label metrics do not exist.",
        reference: "Calipers",
        example: ("regression", "0.10416666666666667"),
    },
    number: Number::Rows(|_, rows| squared_error(rows, Side::Minus)),
    ..Line::DEFAULTS
};
