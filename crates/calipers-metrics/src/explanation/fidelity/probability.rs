//! How far probabilities move.

use super::{KINDS, Of, SIDES, Side, need, place};
use crate::explanation::metrics::*;

const PLUS_MODEL: Need = need!("y_hat" "y_comp", Plus, |side| side.model.is_some());
const MINUS_MODEL: Need = need!("y_hat" "y_sub", Minus, |side| side.model.is_some());
const PLUS_TRUTH: Need = need!("y" "y_hat" "y_comp", Plus, |side| side.phenomenon.is_some());
const MINUS_TRUTH: Need = need!("y" "y_hat" "y_sub", Minus, |side| side.phenomenon.is_some());

/// Where the sizes of the drops are added up.
const fn sizes(side: Side, of: Of) -> Pooled {
    Pooled(place(0, side, of))
}

/// Where the drops themselves are added up.
const fn drops(side: Side, of: Of) -> Pooled {
    Pooled(place(4, side, of))
}

fn moves<'r>(_: &Explanation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(instances) = row.instances else { return };
    for side in SIDES {
        let Some(found) = side.of(row) else { continue };
        for of in KINDS {
            if let Some(drop) = of.pick(&found.model, &found.phenomenon) {
                sizes(side, of).exact(terms, &drop.absolute, instances);
                drops(side, of).exact(terms, &drop.signed, instances);
            }
        }
    }
}

/// What the lines of moves in either direction share.
const SIZE: Line = Line {
    group: "probability",
    better: higher,
    range: SHARE,
    per_unit: true,
    undefined: "\"no explained instances\".",
    differs: "Needs scores. A move in either direction counts.",
    reference: SURVEY,
    ..BEYOND
};

/// What the lines of signed moves share.
const DROP: Line = Line { range: SIGNED, differs: "Needs scores. Gains cancel losses.", ..SIZE };

pub(crate) const FID_PLUS_PROB_MODEL: Line = Line {
    id: "fid_plus_prob_model",
    needs: &[PLUS_MODEL],
    measures: "How far the probability of the predicted class L moves when the explanation is removed.",
    formula: "Mean over all instances of |p_hat[c] - p[c]|, c = L, p from y_comp.",
    example: ("probabilities", "0.4375"),
    number: Number::pooled(moves, |_, sums| given(sizes(Side::Plus, Of::Model).mean(sums))),
    ..SIZE
};

pub(crate) const FID_MINUS_PROB_MODEL: Line = Line {
    id: "fid_minus_prob_model",
    better: lower,
    needs: &[MINUS_MODEL],
    measures: "How far the probability of the predicted class L moves when the explanation is kept alone.",
    formula: "Mean over all instances of |p_hat[c] - p[c]|, c = L, p from y_sub.",
    example: ("probabilities", "0.125"),
    number: Number::pooled(moves, |_, sums| given(sizes(Side::Minus, Of::Model).mean(sums))),
    ..SIZE
};

pub(crate) const FID_PLUS_PROB_PHENOMENON: Line = Line {
    id: "fid_plus_prob_phenomenon",
    needs: &[PLUS_TRUTH],
    measures: "How far the probability of the true class y moves when the explanation is removed.",
    formula: "Mean over all instances of |p_hat[c] - p[c]|, c = y, p from y_comp.",
    example: ("probabilities", "0.1875"),
    number: Number::pooled(moves, |_, sums| given(sizes(Side::Plus, Of::Phenomenon).mean(sums))),
    ..SIZE
};

pub(crate) const FID_MINUS_PROB_PHENOMENON: Line = Line {
    id: "fid_minus_prob_phenomenon",
    better: lower,
    needs: &[MINUS_TRUTH],
    measures: "How far the probability of the true class y moves when the explanation is kept alone.",
    formula: "Mean over all instances of |p_hat[c] - p[c]|, c = y, p from y_sub.",
    example: ("probabilities", "0.125"),
    number: Number::pooled(moves, |_, sums| given(sizes(Side::Minus, Of::Phenomenon).mean(sums))),
    ..SIZE
};

pub(crate) const FID_PLUS_PROB_SIGNED_MODEL: Line = Line {
    id: "fid_plus_prob_signed_model",
    needs: &[PLUS_MODEL],
    measures: "How far the probability of the predicted class L drops when the explanation is removed.",
    formula: "Mean over all instances of p_hat[c] - p[c], c = L, p from y_comp.",
    example: ("probabilities", "0.4375"),
    number: Number::pooled(moves, |_, sums| given(drops(Side::Plus, Of::Model).mean(sums))),
    ..DROP
};

pub(crate) const FID_MINUS_PROB_SIGNED_MODEL: Line = Line {
    id: "fid_minus_prob_signed_model",
    better: lower,
    needs: &[MINUS_MODEL],
    measures: "How far the probability of the predicted class L drops when the explanation is kept alone.",
    formula: "Mean over all instances of p_hat[c] - p[c], c = L, p from y_sub.",
    example: ("probabilities", "0.125"),
    number: Number::pooled(moves, |_, sums| given(drops(Side::Minus, Of::Model).mean(sums))),
    ..DROP
};

pub(crate) const FID_PLUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "fid_plus_prob_signed_phenomenon",
    needs: &[PLUS_TRUTH],
    measures: "How far the probability of the true class y drops when the explanation is removed.",
    formula: "Mean over all instances of p_hat[c] - p[c], c = y, p from y_comp.",
    example: ("probabilities", "0.0625"),
    number: Number::pooled(moves, |_, sums| given(drops(Side::Plus, Of::Phenomenon).mean(sums))),
    ..DROP
};

pub(crate) const FID_MINUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "fid_minus_prob_signed_phenomenon",
    better: lower,
    needs: &[MINUS_TRUTH],
    measures: "How far the probability of the true class y drops when the explanation is kept alone.",
    formula: "Mean over all instances of p_hat[c] - p[c], c = y, p from y_sub.",
    example: ("probabilities", "0.125"),
    number: Number::pooled(moves, |_, sums| given(drops(Side::Minus, Of::Phenomenon).mean(sums))),
    ..DROP
};
