//! Confidence of the correct nodes.

use super::{confidence_micro, from_sums};
use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{label_sums, nodes};
use crate::independent_set::row::published;

pub(crate) const Q_HAT: Line = Line {
    id: "q_hat",
    group: "confidence",
    better: higher,
    range: SHARE,
    measures: "How confident the scores are where they are right; wrong nodes count 0.",
    formula: "s_conf / N with s_conf = sum over correct nodes of |2p - 1|.",
    undefined: "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has no nodes\".",
    differs: "Needs labels, although the document uses it to stop early. Rewards confident zeros: predicting \
              no node at all scores high on sparse label sets.",
    reference: document!("TRM-Specific Metrics 1"),
    example: ("path3", "0.25"),
    number: Number::Chosen(|protocol| by_preset(protocol, q_hat, published::q_hat)),
    ..PUBLISHED
};

pub(crate) const Q_HAT_MICRO: Line = Line {
    id: "q_hat_micro",
    better: higher,
    range: SHARE,
    measures: "The confidence of the correct nodes over all nodes of all graphs.",
    formula: "sum s_conf / sum N over labelled graphs.",
    undefined: "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has no \
                nodes\".",
    example: ("batch", "0.32142857142857145"),
    number: from_sums(|_, sums| number(confidence_micro(sums))),
    ..POOLED
};

fn q_hat(_: &IndependentSet, row: &Row) -> Value {
    number(label_sums(row).and_then(|sums| Ok(sums.confidence / nodes(row)? as f64)))
}
