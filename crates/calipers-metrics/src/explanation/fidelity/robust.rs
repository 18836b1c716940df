//! Fidelity under random perturbations.

use crate::explanation::metrics::*;
use calipers_core::CompactSum;

use super::{KINDS, Of, SIDES, Side, need, place};
use crate::explanation::row::SideRow;

pub(crate) const PLUS_SAMPLES: Need = need!("y_hat" "y_comp_samples", Plus, |side| side.robust.is_some());
pub(crate) const MINUS_SAMPLES: Need = need!("y_hat" "y_sub_samples", Minus, |side| side.robust.is_some());
const PLUS_MODEL: Need = need!("y_hat" "y_comp_samples", Plus, |side| drop(side, Of::Model).is_some());
const MINUS_MODEL: Need = need!("y_hat" "y_sub_samples", Minus, |side| drop(side, Of::Model).is_some());
const PLUS_TRUTH: Need =
    need!("y" "y_hat" "y_comp_samples", Plus, |side| drop(side, Of::Phenomenon).is_some());
const MINUS_TRUTH: Need =
    need!("y" "y_hat" "y_sub_samples", Minus, |side| drop(side, Of::Phenomenon).is_some());

fn drop(side: &SideRow, of: Of) -> Option<&CompactSum> {
    let robust = side.robust.as_ref()?;
    of.pick(&robust.model, &robust.phenomenon).as_ref()
}

/// Where the shares of samples whose label differs are added up.
const fn changed(side: Side) -> Pooled {
    Pooled(side as usize)
}

/// Where the drops in probability, each a mean over samples, are added up.
const fn dropped(side: Side, of: Of) -> Pooled {
    Pooled(place(2, side, of))
}

fn samples(_: &Explanation, row: &Row, terms: &mut Terms<'_>) {
    let Some(instances) = row.instances else { return };
    for side in SIDES {
        let Some(found) = side.of(row) else { continue };
        let Some(robust) = &found.robust else { continue };
        changed(side).number(terms, robust.changed as f64 / robust.samples as f64, instances);
        for of in KINDS {
            if let Some(drop) = drop(found, of) {
                dropped(side, of).number(terms, drop.to_sum().over(robust.samples), instances);
            }
        }
    }
}

/// What the explanation removed does more than the explanation kept.
fn delta(sums: &Sums<'_, Row>, of: Of) -> Value {
    let [plus, minus] = SIDES.map(|side| dropped(side, of).mean(sums));
    given(plus.zip(minus).map(|(plus, minus)| Ok(plus? - minus?)))
}

const ROBUST: Line = Line {
    group: "robust",
    better: higher,
    range: SIGNED,
    per_unit: true,
    undefined: "\"no explained instances\".",
    differs: "Needs scores.",
    reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                Networks, ICLR 2024",
    ..BEYOND
};

pub(crate) const ROBUST_FID_PLUS_MODEL: Line = Line {
    id: "robust_fid_plus_model",
    range: SHARE,
    needs: &[PLUS_SAMPLES],
    measures: "How often the prediction changes when random parts of the explanation are removed.",
    formula: "Share of the samples in y_comp_samples whose label differs from L, per instance; pooled mean.",
    differs: "Stays close to the inputs the model was trained on.",
    example: ("perturbed", "0.5"),
    number: Number::pooled(samples, |_, sums| given(changed(Side::Plus).mean(sums))),
    ..ROBUST
};

pub(crate) const ROBUST_FID_MINUS_MODEL: Line = Line {
    id: "robust_fid_minus_model",
    better: lower,
    range: SHARE,
    needs: &[MINUS_SAMPLES],
    measures: "How often the prediction changes when random parts outside the explanation are removed.",
    formula: "Share of the samples in y_sub_samples whose label differs from L, per instance; pooled mean.",
    differs: "1 - robust_fid_minus_model is the RDT fidelity.",
    example: ("perturbed", "0.0"),
    number: Number::pooled(samples, |_, sums| given(changed(Side::Minus).mean(sums))),
    ..ROBUST
};

pub(crate) const ROBUST_FID_PLUS_PROB_SIGNED_MODEL: Line = Line {
    id: "robust_fid_plus_prob_signed_model",
    needs: &[PLUS_MODEL],
    measures: "How far the probability of the predicted class drops when random parts of the explanation are \
               removed.",
    formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = L.",
    example: ("perturbed", "0.234375"),
    number: Number::pooled(samples, |_, sums| given(dropped(Side::Plus, Of::Model).mean(sums))),
    ..ROBUST
};

pub(crate) const ROBUST_FID_MINUS_PROB_SIGNED_MODEL: Line = Line {
    id: "robust_fid_minus_prob_signed_model",
    better: lower,
    needs: &[MINUS_MODEL],
    measures: "How far the probability of the predicted class drops when random parts outside the \
               explanation are removed.",
    formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = L.",
    example: ("perturbed", "0.0"),
    number: Number::pooled(samples, |_, sums| given(dropped(Side::Minus, Of::Model).mean(sums))),
    ..ROBUST
};

pub(crate) const ROBUST_FID_DELTA_MODEL: Line = Line {
    id: "robust_fid_delta_model",
    range: TWICE_SIGNED,
    needs: &[PLUS_MODEL, MINUS_MODEL],
    measures: "What removing parts of the explanation does more than removing parts of the rest.",
    formula: "robust_fid_plus_prob_signed_model - robust_fid_minus_prob_signed_model.",
    differs: "",
    example: ("perturbed", "0.234375"),
    number: Number::pooled(samples, |_, sums| delta(sums, Of::Model)),
    ..ROBUST
};

pub(crate) const ROBUST_FID_PLUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "robust_fid_plus_prob_signed_phenomenon",
    needs: &[PLUS_TRUTH],
    measures: "How far the probability of the true class drops when random parts of the explanation are \
               removed.",
    formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = y.",
    example: ("perturbed", "0.078125"),
    number: Number::pooled(samples, |_, sums| given(dropped(Side::Plus, Of::Phenomenon).mean(sums))),
    ..ROBUST
};

pub(crate) const ROBUST_FID_MINUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "robust_fid_minus_prob_signed_phenomenon",
    better: lower,
    needs: &[MINUS_TRUTH],
    measures: "How far the probability of the true class drops when random parts outside the explanation are \
               removed.",
    formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = y.",
    example: ("perturbed", "0.0625"),
    number: Number::pooled(samples, |_, sums| given(dropped(Side::Minus, Of::Phenomenon).mean(sums))),
    ..ROBUST
};

pub(crate) const ROBUST_FID_DELTA_PHENOMENON: Line = Line {
    id: "robust_fid_delta_phenomenon",
    range: TWICE_SIGNED,
    needs: &[PLUS_TRUTH, MINUS_TRUTH],
    measures: "What removing parts of the explanation does more than removing parts of the rest.",
    formula: "robust_fid_plus_prob_signed_phenomenon - robust_fid_minus_prob_signed_phenomenon.",
    differs: "",
    example: ("perturbed", "0.015625"),
    number: Number::pooled(samples, |_, sums| delta(sums, Of::Phenomenon)),
    ..ROBUST
};
