//! How far probabilities move.

use calipers_core::{Doc, Number};

use super::super::fidelity_reading::{Of, Side, probability, signed_probability};
use super::{Line, SHARE, SIGNED, higher, lower};

pub(super) const FID_PLUS_PROB_MODEL: Line = Line {
    id: "fid_plus_prob_model",
    group: "probability",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the predicted class L moves when the explanation is removed.",
        formula: "Mean over all instances of |p_hat[c] - p[c]|, c = L, p from y_comp.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. A move in either direction counts.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.4375"),
    },
    number: Number::Rows(|_, rows| probability(rows, Side::Plus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_PROB_MODEL: Line = Line {
    id: "fid_minus_prob_model",
    group: "probability",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the predicted class L moves when the explanation is kept \
                  alone.",
        formula: "Mean over all instances of |p_hat[c] - p[c]|, c = L, p from y_sub.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. A move in either direction counts.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.125"),
    },
    number: Number::Rows(|_, rows| probability(rows, Side::Minus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_PROB_PHENOMENON: Line = Line {
    id: "fid_plus_prob_phenomenon",
    group: "probability",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the true class y moves when the explanation is removed.",
        formula: "Mean over all instances of |p_hat[c] - p[c]|, c = y, p from y_comp.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. A move in either direction counts.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.1875"),
    },
    number: Number::Rows(|_, rows| probability(rows, Side::Plus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_PROB_PHENOMENON: Line = Line {
    id: "fid_minus_prob_phenomenon",
    group: "probability",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the true class y moves when the explanation is kept alone.",
        formula: "Mean over all instances of |p_hat[c] - p[c]|, c = y, p from y_sub.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. A move in either direction counts.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.125"),
    },
    number: Number::Rows(|_, rows| probability(rows, Side::Minus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_PROB_SIGNED_MODEL: Line = Line {
    id: "fid_plus_prob_signed_model",
    group: "probability",
    better: higher,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the predicted class L drops when the explanation is removed.",
        formula: "Mean over all instances of p_hat[c] - p[c], c = L, p from y_comp.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. Gains cancel losses.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.4375"),
    },
    number: Number::Rows(|_, rows| signed_probability(rows, Side::Plus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_PROB_SIGNED_MODEL: Line = Line {
    id: "fid_minus_prob_signed_model",
    group: "probability",
    better: lower,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the predicted class L drops when the explanation is kept \
                  alone.",
        formula: "Mean over all instances of p_hat[c] - p[c], c = L, p from y_sub.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. Gains cancel losses.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.125"),
    },
    number: Number::Rows(|_, rows| signed_probability(rows, Side::Minus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "fid_plus_prob_signed_phenomenon",
    group: "probability",
    better: higher,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the true class y drops when the explanation is removed.",
        formula: "Mean over all instances of p_hat[c] - p[c], c = y, p from y_comp.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. Gains cancel losses.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.0625"),
    },
    number: Number::Rows(|_, rows| signed_probability(rows, Side::Plus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_PROB_SIGNED_PHENOMENON: Line = Line {
    id: "fid_minus_prob_signed_phenomenon",
    group: "probability",
    better: lower,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "How far the probability of the true class y drops when the explanation is kept alone.",
        formula: "Mean over all instances of p_hat[c] - p[c], c = y, p from y_sub.",
        undefined: "\"no explained instances\".",
        differs: "Needs scores. Gains cancel losses.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("probabilities", "0.125"),
    },
    number: Number::Rows(|_, rows| signed_probability(rows, Side::Minus, Of::Phenomenon)),
    ..Line::DEFAULTS
};
