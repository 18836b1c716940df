//! How far predicted distributions lie apart.

use calipers_core::{Doc, Number};

use super::super::fidelity_reading::{Direction, mean_divergence, unfaithfulness};
use super::{Line, NON_NEGATIVE, SHARE, document, lower};

pub(super) const UNFAITHFULNESS: Line = Line {
    id: "unfaithfulness",
    group: "faithfulness",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How far the distribution predicted from the explanation lies from the one on the full \
                  graph.",
        formula: "Mean over instances of 1 - exp(-KL(p || q)), p from y_hat, q from y_sub, each \
                 normalised; 1 where the divergence is infinite. Preset graphxai: \
                 unfaithfulness_reversed. Preset pyg: the published code, KL(q || p) summed over the \
                 batch and divided by N.",
        undefined: "\"no explained instances\"; \"published code returns NaN\".",
        differs: "The document applies the formula to one vector: here it is applied to each instance and \
                 averaged, in the direction the document writes.",
        reference: document!("unfaithfulness"),
        example: ("probabilities", "0.07955179237314274"),
    },
    headline: Some(4),
    number: Number::Rows(|protocol, rows| unfaithfulness(protocol, rows, Direction::Forward)),
    ..Line::DEFAULTS
};

pub(super) const UNFAITHFULNESS_REVERSED: Line = Line {
    id: "unfaithfulness_reversed",
    group: "faithfulness",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The same in the other direction, which is the one of the published code.",
        formula: "Mean over instances of 1 - exp(-KL(q || p)).",
        undefined: "\"no explained instances\".",
        differs: "The published code exponentiates the mean of a batch; here each instance counts on its \
                 own.",
        reference: "Agarwal et al., Evaluating Explainability for Graph Neural Networks, 2023",
        example: ("probabilities", "0.07955179237314274"),
    },
    number: Number::Rows(|protocol, rows| unfaithfulness(protocol, rows, Direction::Reversed)),
    ..Line::DEFAULTS
};

pub(super) const KL: Line = Line {
    id: "kl",
    group: "faithfulness",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The divergence behind unfaithfulness, in nats.",
        formula: "Mean over instances of KL(p || q).",
        undefined: "\"no explained instances\"; \"infinite: y_sub is 0 where y_hat is not in M \
                   instances\".",
        differs: "One infinite divergence makes it undefined; unfaithfulness stays defined.",
        reference: "Kullback and Leibler, On Information and Sufficiency, 1951",
        example: ("probabilities", "0.08664339756999316"),
    },
    number: Number::Rows(|_, rows| mean_divergence(rows, Direction::Forward)),
    ..Line::DEFAULTS
};

pub(super) const KL_REVERSED: Line = Line {
    id: "kl_reversed",
    group: "faithfulness",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The divergence behind unfaithfulness_reversed, in nats.",
        formula: "Mean over instances of KL(q || p).",
        undefined: "\"no explained instances\"; \"infinite: y_hat is 0 where y_sub is not in M \
                   instances\".",
        differs: "See kl.",
        reference: "Kullback and Leibler, On Information and Sufficiency, 1951",
        example: ("probabilities", "0.08664339756999316"),
    },
    number: Number::Rows(|_, rows| mean_divergence(rows, Direction::Reversed)),
    ..Line::DEFAULTS
};
