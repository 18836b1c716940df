//! How far masks move when the input does.

pub(super) mod distances;

use super::row::StabilityRow;
use crate::explanation::metrics::*;

pub(super) const SAMPLED_MASKS: Need = Need {
    keys: &["pred_mask", "pred_mask_samples"],
    met: |row| row.mask.as_ref().is_some_and(|mask| mask.stability.is_some()),
};

fn distance(row: &Row, distance: fn(&StabilityRow) -> Option<f64>) -> Value {
    let reading = row.mask.as_deref().and_then(|mask| {
        let reason = if mask.elements == 0 { NO_ELEMENTS } else { ZERO_MASK };
        Some(distance(mask.stability.as_ref()?).ok_or(reason.into()))
    });
    of_unit(reading)
}

const STABILITY: Line = Line {
    group: "stability",
    better: lower,
    range: UP_TO_TWO,
    per_unit: true,
    needs: &[SAMPLED_MASKS],
    undefined: reasons!(mask, "mask is zero everywhere"),
    reference: GRAPHXAI,
    ..BEYOND
};

pub(crate) const INSTABILITY_COSINE: Line = Line {
    id: "instability_cosine",
    measures: "How far the mask can turn when the input is perturbed.",
    formula: "Largest 1 - cos(m, m_r) over the samples; mean over units.",
    differs: "Undefined as soon as one mask is 0 everywhere.",
    example: ("stability", "0.04000000000000002"),
    number: Number::mean(|_, row| distance(row, |stability| stability.cosine_max)),
    ..STABILITY
};

pub(crate) const INSTABILITY_COSINE_MEAN: Line = Line {
    id: "instability_cosine_mean",
    measures: "How far the mask turns on average when the input is perturbed.",
    formula: "Mean of 1 - cos(m, m_r) over the samples; mean over units.",
    example: ("stability", "0.02000000000000001"),
    number: Number::mean(|_, row| distance(row, |stability| stability.cosine_mean)),
    ..STABILITY
};

pub(crate) const SENSITIVITY_MAX: Line = Line {
    id: "sensitivity_max",
    range: NON_NEGATIVE,
    measures: "How far the mask can move when the input is perturbed, relative to its size.",
    formula: "Largest |m_r - m| / |m| over the samples, Euclidean norms; mean over units.",
    differs: "A perturbed mask of 0 is at distance 1.",
    reference: "Yeh et al., On the (In)fidelity and Sensitivity of Explanations, NeurIPS 2019",
    example: ("stability", "0.2828427124746191"),
    number: Number::mean(|_, row| distance(row, |stability| stability.sensitivity)),
    ..STABILITY
};
