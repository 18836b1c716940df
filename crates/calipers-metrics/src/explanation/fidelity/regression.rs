//! How far predicted numbers move.

use super::{SIDES, Side, need};
use crate::explanation::metrics::*;

const PLUS: Need = need!("y_hat" "y_comp", Plus, |side| side.regression.is_some());
const MINUS: Need = need!("y_hat" "y_sub", Minus, |side| side.regression.is_some());

/// Where absolute differences are added up.
const fn absolute(side: Side) -> Pooled {
    Pooled(side as usize)
}

/// Where squared differences are added up.
const fn squared(side: Side) -> Pooled {
    Pooled(2 + side as usize)
}

fn differences<'r>(_: &Explanation, row: &'r Row, terms: &mut Terms<'r>) {
    for side in SIDES {
        if let Some(sums) = side.of(row).and_then(|side| side.regression.as_ref()) {
            absolute(side).exact(terms, &sums.absolute, sums.values);
            squared(side).exact(terms, &sums.squared, sums.values);
        }
    }
}

const REGRESSION: Line = Line {
    group: "regression",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    undefined: "\"no explained instances\"; \"infinite: beyond the largest number\".",
    differs: "Only with --task regression, where label metrics do not exist.",
    ..BEYOND
};

pub(crate) const FID_PLUS_MAE: Line = Line {
    id: "fid_plus_mae",
    needs: &[PLUS],
    measures: "How far predicted numbers move when the explanation is removed.",
    formula: "Mean of |d| over all N D values, d = y_hat - y_comp; pooled.",
    example: ("regression", "1.6666666666666667"),
    number: Number::pooled(differences, |_, sums| given(absolute(Side::Plus).mean(sums))),
    ..REGRESSION
};

pub(crate) const FID_MINUS_MAE: Line = Line {
    id: "fid_minus_mae",
    better: lower,
    needs: &[MINUS],
    measures: "How far predicted numbers move when the explanation is kept alone.",
    formula: "Mean of |d| over all N D values, d = y_hat - y_sub; pooled.",
    example: ("regression", "0.25"),
    number: Number::pooled(differences, |_, sums| given(absolute(Side::Minus).mean(sums))),
    ..REGRESSION
};

pub(crate) const FID_PLUS_MSE: Line = Line {
    id: "fid_plus_mse",
    needs: &[PLUS],
    measures: "How far predicted numbers move when the explanation is removed, large moves weighing more.",
    formula: "Mean of d^2 over all N D values, d = y_hat - y_comp; pooled.",
    example: ("regression", "3.8333333333333335"),
    number: Number::pooled(differences, |_, sums| given(squared(Side::Plus).mean(sums))),
    ..REGRESSION
};

pub(crate) const FID_MINUS_MSE: Line = Line {
    id: "fid_minus_mse",
    better: lower,
    needs: &[MINUS],
    measures: "How far predicted numbers move when the explanation is kept alone, large moves weighing more.",
    formula: "Mean of d^2 over all N D values, d = y_hat - y_sub; pooled.",
    example: ("regression", "0.10416666666666667"),
    number: Number::pooled(differences, |_, sums| given(squared(Side::Minus).mean(sums))),
    ..REGRESSION
};
