//! Confidence of the correct nodes.

use calipers_core::{Doc, Number};

use super::super::published::Batch;
use super::super::strict;
use super::{Line, SHARE, by_preset, document, each, higher};

pub(super) const Q_HAT: Line = Line {
    id: "q_hat",
    group: "confidence",
    better: higher,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How confident the scores are where they are right; wrong nodes count 0.",
        formula: "s_conf / N with s_conf = sum over correct nodes of |2p - 1|.",
        undefined: "\"no scores given\"; \"a set was given, not scores\"; \"no labels given\"; \"graph has no nodes\".",
        differs: "Needs labels, although the document uses it to stop early. Rewards confident zeros: predicting no \
                  node at all scores high on sparse label sets.",
        reference: document!("TRM-Specific Metrics 1"),
        example: ("path3", "0.25"),
    },
    number: Number::Rows(|protocol, rows| by_preset(protocol, rows, each(strict::q_hat), Batch::q_hat)),
    ..Line::DEFAULTS
};
