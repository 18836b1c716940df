//! Fidelity under random perturbations.

use calipers_core::{Doc, Number};

use super::super::fidelity_reading::{Of, Side, robust_delta, robust_fidelity, robust_probability};
use super::{Line, SHARE, SIGNED, TWICE_SIGNED, higher, lower};

pub(super) const ROBUST_FID_PLUS_MODEL: Line = Line {
    id: "robust_fid_plus_model",
    group: "robust",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often the prediction changes when random parts of the explanation are removed.",
        formula: "Share of the samples in y_comp_samples whose label differs from L, per instance; pooled \
                 mean.",
        undefined: "\"no explained instances\".",
        differs: "Stays close to the inputs the model was trained on.",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.5"),
    },
    number: Number::Rows(|_, rows| robust_fidelity(rows, Side::Plus)),
    ..Line::DEFAULTS
};

pub(super) const ROBUST_FID_MINUS_MODEL: Line = Line {
    id: "robust_fid_minus_model",
    group: "robust",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often the prediction changes when random parts outside the explanation are removed.",
        formula: "Share of the samples in y_sub_samples whose label differs from L, per instance; pooled \
                 mean.",
        undefined: "\"no explained instances\".",
        differs: "1 - robust_fid_minus_model is the RDT fidelity.",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.0"),
    },
    number: Number::Rows(|_, rows| robust_fidelity(rows, Side::Minus)),
    ..Line::DEFAULTS
};

pub(super) const ROBUST_FID_PLUS_PROB_SIGNED_MODEL: Line = Line {
    id: "robust_fid_plus_prob_signed_model",
    group: "robust",
    better: higher,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the predicted class drops when random parts of the \
                  explanation are removed.",
        formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = L.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores.",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.234375"),
    },
    number: Number::Rows(|_, rows| robust_probability(rows, Side::Plus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const ROBUST_FID_MINUS_PROB_SIGNED_MODEL: Line = Line {
    id: "robust_fid_minus_prob_signed_model",
    group: "robust",
    better: lower,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the predicted class drops when random parts outside the \
                  explanation are removed.",
        formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = L.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores.",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.0"),
    },
    number: Number::Rows(|_, rows| robust_probability(rows, Side::Minus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const ROBUST_FID_DELTA_MODEL: Line = Line {
    id: "robust_fid_delta_model",
    group: "robust",
    better: higher,
    range: TWICE_SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "What removing parts of the explanation does more than removing parts of the rest.",
        formula: "robust_fid_plus_prob_signed_model - robust_fid_minus_prob_signed_model.",
        undefined: "\"no explained instances\".",
        differs: "",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.234375"),
    },
    number: Number::Rows(|_, rows| robust_delta(rows, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const ROBUST_FID_PLUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "robust_fid_plus_prob_signed_phenomenon",
    group: "robust",
    better: higher,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the true class drops when random parts of the explanation \
                  are removed.",
        formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = y.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores.",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.078125"),
    },
    number: Number::Rows(|_, rows| robust_probability(rows, Side::Plus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const ROBUST_FID_MINUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "robust_fid_minus_prob_signed_phenomenon",
    group: "robust",
    better: lower,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the true class drops when random parts outside the \
                  explanation are removed.",
        formula: "Pooled mean of p_hat[c] - mean over samples of p_r[c], c = y.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores.",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.0625"),
    },
    number: Number::Rows(|_, rows| robust_probability(rows, Side::Minus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const ROBUST_FID_DELTA_PHENOMENON: Line = Line {
    id: "robust_fid_delta_phenomenon",
    group: "robust",
    better: higher,
    range: TWICE_SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "What removing parts of the explanation does more than removing parts of the rest.",
        formula: "robust_fid_plus_prob_signed_phenomenon - robust_fid_minus_prob_signed_phenomenon.",
        undefined: "\"no explained instances\".",
        differs: "",
        reference: "Zheng et al., Towards Robust Fidelity for Evaluating Explainability of Graph Neural \
                  Networks, ICLR 2024",
        example: ("perturbed", "0.015625"),
    },
    number: Number::Rows(|_, rows| robust_delta(rows, Of::Phenomenon)),
    ..Line::DEFAULTS
};
