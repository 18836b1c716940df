//! Whether labels change without the explanation, or with nothing else.

use calipers_core::{Doc, Number};

use super::super::fidelity_reading::{Of, Side, characterization_of, fidelity, signed};
use super::{Line, SHARE, SIGNED, document, higher, lower};

pub(super) const FID_PLUS_MODEL: Line = Line {
    id: "fid_plus_model",
    group: "fidelity",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often the prediction changes when the explanation is removed.",
        formula: "#(C != L) / N, L the label of y_hat, C of y_comp; pooled over all instances. Preset \
                 pyg: mean over units of 1 - f32(equal)/f32(N).",
        undefined: "\"no explained instances\"; \"published code returns NaN\".",
        differs: "Pooled over instances, not averaged over units.",
        reference: document!("fidelity"),
        example: ("labels", "0.6"),
    },
    headline: Some(1),
    number: Number::Rows(|protocol, rows| fidelity(protocol, rows, Side::Plus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_MODEL: Line = Line {
    id: "fid_minus_model",
    group: "fidelity",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often the prediction changes when the explanation is kept alone.",
        formula: "#(S != L) / N, L the label of y_hat, S of y_sub; pooled over all instances. Preset pyg: \
                 mean over units of 1 - f32(equal)/f32(N).",
        undefined: "\"no explained instances\"; \"published code returns NaN\".",
        differs: "Pooled over instances, not averaged over units.",
        reference: document!("fidelity"),
        example: ("labels", "0.4"),
    },
    headline: Some(2),
    number: Number::Rows(|protocol, rows| fidelity(protocol, rows, Side::Minus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_PHENOMENON: Line = Line {
    id: "fid_plus_phenomenon",
    group: "fidelity",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often being right changes when the explanation is removed.",
        formula: "#([L = y] != [C = y]) / N, L the label of y_hat, C of y_comp, y the true label; pooled \
                 over all instances. Preset pyg: mean over units of f32(differing)/f32(N).",
        undefined: "\"no explained instances\"; \"published code returns NaN\".",
        differs: "Answers gained count like answers lost; fid_plus_signed_phenomenon tells them apart.",
        reference: document!("fidelity"),
        example: ("labels", "0.6"),
    },
    number: Number::Rows(|protocol, rows| fidelity(protocol, rows, Side::Plus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_PHENOMENON: Line = Line {
    id: "fid_minus_phenomenon",
    group: "fidelity",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How often being right changes when the explanation is kept alone.",
        formula: "#([L = y] != [S = y]) / N, L the label of y_hat, S of y_sub, y the true label; pooled \
                 over all instances. Preset pyg: mean over units of f32(differing)/f32(N).",
        undefined: "\"no explained instances\"; \"published code returns NaN\".",
        differs: "Answers gained count like answers lost; fid_minus_signed_phenomenon tells them apart.",
        reference: document!("fidelity"),
        example: ("labels", "0.4"),
    },
    number: Number::Rows(|protocol, rows| fidelity(protocol, rows, Side::Minus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const CHARACTERIZATION_SCORE_MODEL: Line = Line {
    id: "characterization_score_model",
    group: "fidelity",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "fid_plus_model and 1 - fid_minus_model in one number: their weighted harmonic mean.",
        formula: "(w+ + w-) / (w+/p + w-/(1-n)), p = fid_plus_model, n = fid_minus_model; a positive \
                 weight over 0 is infinite, so that p = 0 or n = 1 gives 0.",
        undefined: "\"no explained instances\"; \"0/0: weight 0 on a fidelity term of 0\".",
        differs: "Weights need not sum to 1.",
        reference: document!("characterization_score"),
        example: ("labels", "0.6"),
    },
    headline: Some(3),
    number: Number::Rows(|protocol, rows| characterization_of(protocol, rows, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const CHARACTERIZATION_SCORE_PHENOMENON: Line = Line {
    id: "characterization_score_phenomenon",
    group: "fidelity",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "fid_plus_phenomenon and 1 - fid_minus_phenomenon in one number: their weighted \
                  harmonic mean.",
        formula: "(w+ + w-) / (w+/p + w-/(1-n)), p = fid_plus_phenomenon, n = fid_minus_phenomenon; a \
                 positive weight over 0 is infinite, so that p = 0 or n = 1 gives 0.",
        undefined: "\"no explained instances\"; \"0/0: weight 0 on a fidelity term of 0\".",
        differs: "Weights need not sum to 1.",
        reference: document!("characterization_score"),
        example: ("labels", "0.6"),
    },
    number: Number::Rows(|protocol, rows| characterization_of(protocol, rows, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_SIGNED_PHENOMENON: Line = Line {
    id: "fid_plus_signed_phenomenon",
    group: "fidelity",
    better: higher,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "The accuracy lost when the explanation is removed.",
        formula: "(lost - gained) / N: right on the full graph and wrong here, minus wrong there and \
                 right here; pooled.",
        undefined: "\"no explained instances\".",
        differs: "fid_plus_phenomenon adds the two instead.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("labels", "0.2"),
    },
    number: Number::Rows(|_, rows| signed(rows, Side::Plus)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_SIGNED_PHENOMENON: Line = Line {
    id: "fid_minus_signed_phenomenon",
    group: "fidelity",
    better: lower,
    range: SIGNED,
    per_unit: true,
    doc: Doc {
        measures: "The accuracy lost when the explanation is kept alone.",
        formula: "(lost - gained) / N: right on the full graph and wrong here, minus wrong there and \
                 right here; pooled.",
        undefined: "\"no explained instances\".",
        differs: "fid_minus_phenomenon adds the two instead.",
        reference: "Yuan et al., Explainability in Graph Neural Networks: A Taxonomic Survey, 2023",
        example: ("labels", "0.4"),
    },
    number: Number::Rows(|_, rows| signed(rows, Side::Minus)),
    ..Line::DEFAULTS
};
