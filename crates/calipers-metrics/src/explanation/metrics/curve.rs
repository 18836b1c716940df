//! Given fidelity curves.

use calipers_core::{Doc, Number};

use super::super::curve_reading::{characterization_score, curve_auc, curve_auc_normalized};
use super::super::mask_reading::over_units;
use super::{Line, NON_NEGATIVE, SHARE, document, higher};

pub(super) const CHARACTERIZATION_SCORE: Line = Line {
    id: "characterization_score",
    group: "curve",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "The characterization score at every point of a given fidelity curve.",
        formula: "charact(pos_k, neg_k) = (w+ + w-) / (w+/pos + w-/(1-neg)), mean over units at each k. \
                 Preset pyg: 1/((1/p) w+ + (1/(1-n)) w-) in the type of the arrays.",
        undefined: "\"0/0: weight 0 on a fidelity term of 0\"; \"curves have different lengths\"; \"units \
                   have different x\"; \"published code returns NaN\".",
        differs: "pos = 0 or neg = 1 gives 0, the limit of the formula.",
        reference: document!("characterization_score"),
        example: ("curve", "[1.0, 0.75, 0.5, 0.12195121951219509]"),
    },
    number: Number::Rows(characterization_score),
    ..Line::DEFAULTS
};

pub(super) const FIDELITY_CURVE_AUC: Line = Line {
    id: "fidelity_curve_auc",
    group: "curve",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The area under fid+ / (1 - fid-) over the axis x.",
        formula: "Sum over k of (x_k+1 - x_k)(f_k+1 + f_k)/2, f = pos/(1 - neg); mean over units.",
        undefined: "\"fid_minus is 1 at point K: division by zero\"; \"infinite: beyond the largest \
                   number\".",
        differs: "Not divided by the range of x, as in the document.",
        reference: document!("fidelity_curve_auc"),
        example: ("curve", "18.250000000000004"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, curve_auc)),
    ..Line::DEFAULTS
};

pub(super) const FIDELITY_CURVE_AUC_NORMALIZED: Line = Line {
    id: "fidelity_curve_auc_normalized",
    group: "curve",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The mean height of the curve.",
        formula: "fidelity_curve_auc / (x_K - x_1) of each unit; mean over units.",
        undefined: "\"fid_minus is 1 at point K: division by zero\"; \"x range is 0\"; \"infinite: beyond \
                   the largest number\".",
        differs: "Comparable between curves of different ranges.",
        reference: "Calipers",
        example: ("curve", "3.650000000000001"),
    },
    number: Number::Rows(|protocol, rows| over_units(protocol, rows, curve_auc_normalized)),
    ..Line::DEFAULTS
};
