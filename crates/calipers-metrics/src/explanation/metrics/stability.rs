//! How far masks move when the input does.

use calipers_core::{Doc, Number};

use super::super::mask_reading::{instability_cosine, instability_cosine_mean, over_units, sensitivity_max};
use super::{ANGLE, Line, NON_NEGATIVE, lower};

pub(super) const INSTABILITY_COSINE: Line = Line {
    id: "instability_cosine",
    group: "stability",
    better: lower,
    range: ANGLE,
    per_unit: true,
    doc: Doc {
        measures: "How far the mask can turn when the input is perturbed.",
        formula: "Largest 1 - cos(m, m_r) over the samples; mean over units.",
        undefined: "\"mask has no elements\"; \"mask is zero everywhere\".",
        differs: "Undefined as soon as one mask is 0 everywhere.",
        reference: "Agarwal et al., Evaluating Explainability for Graph Neural Networks, 2023",
        example: ("stability", "0.04000000000000002"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, instability_cosine)),
    ..Line::DEFAULTS
};

pub(super) const INSTABILITY_COSINE_MEAN: Line = Line {
    id: "instability_cosine_mean",
    group: "stability",
    better: lower,
    range: ANGLE,
    per_unit: true,
    doc: Doc {
        measures: "How far the mask turns on average when the input is perturbed.",
        formula: "Mean of 1 - cos(m, m_r) over the samples; mean over units.",
        undefined: "\"mask has no elements\"; \"mask is zero everywhere\".",
        differs: "",
        reference: "Agarwal et al., Evaluating Explainability for Graph Neural Networks, 2023",
        example: ("stability", "0.02000000000000001"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, instability_cosine_mean)),
    ..Line::DEFAULTS
};

pub(super) const SENSITIVITY_MAX: Line = Line {
    id: "sensitivity_max",
    group: "stability",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How far the mask can move when the input is perturbed, relative to its size.",
        formula: "Largest |m_r - m| / |m| over the samples, Euclidean norms; mean over units.",
        undefined: "\"mask has no elements\"; \"mask is zero everywhere\".",
        differs: "A perturbed mask of 0 is at distance 1.",
        reference: "Yeh et al., On the (In)fidelity and Sensitivity of Explanations, NeurIPS 2019",
        example: ("stability", "0.2828427124746191"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, sensitivity_max)),
    ..Line::DEFAULTS
};
