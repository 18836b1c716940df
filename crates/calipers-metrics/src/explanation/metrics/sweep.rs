//! Fidelity at several sizes of the explanation.

use calipers_core::{Doc, Number};

use super::super::curve_reading::{curve_x, fidelity_curve, sweep_auc};
use super::super::fidelity_reading::{Of, Side};
use super::{ANY, Line, NON_NEGATIVE, SHARE, document, higher, lower, neither};

pub(super) const CURVE_X: Line = Line {
    id: "curve_x",
    group: "sweep",
    better: neither,
    range: ANY,
    doc: Doc {
        measures: "The axis of the sweeps.",
        formula: "x, the same in every unit.",
        undefined: "\"units have different x\".",
        differs: "",
        reference: "Calipers",
        example: ("sweep", "[0.25, 0.5, 0.75]"),
    },
    number: Number::Rows(|_, rows| curve_x(rows)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_MODEL_CURVE: Line = Line {
    id: "fid_plus_model_curve",
    group: "sweep",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "fid_plus_model at every point of the sweep.",
        formula: "fid_plus_model with y_comp_sweep at x_k in place of y_comp, pooled at each k.",
        undefined: "\"no explained instances\"; \"units have different x\".",
        differs: "",
        reference: document!("fidelity"),
        example: ("sweep", "[0.25, 0.5, 1.0]"),
    },
    number: Number::Rows(|_, rows| fidelity_curve(rows, Side::Plus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_MODEL_CURVE: Line = Line {
    id: "fid_minus_model_curve",
    group: "sweep",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "fid_minus_model at every point of the sweep.",
        formula: "fid_minus_model with y_sub_sweep at x_k in place of y_sub, pooled at each k.",
        undefined: "\"no explained instances\"; \"units have different x\".",
        differs: "",
        reference: document!("fidelity"),
        example: ("sweep", "[0.5, 0.25, 0.0]"),
    },
    number: Number::Rows(|_, rows| fidelity_curve(rows, Side::Minus, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FID_PLUS_PHENOMENON_CURVE: Line = Line {
    id: "fid_plus_phenomenon_curve",
    group: "sweep",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "fid_plus_phenomenon at every point of the sweep.",
        formula: "fid_plus_phenomenon with y_comp_sweep at x_k in place of y_comp, pooled at each k.",
        undefined: "\"no explained instances\"; \"units have different x\".",
        differs: "",
        reference: document!("fidelity"),
        example: ("sweep", "[0.0, 0.5, 0.75]"),
    },
    number: Number::Rows(|_, rows| fidelity_curve(rows, Side::Plus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const FID_MINUS_PHENOMENON_CURVE: Line = Line {
    id: "fid_minus_phenomenon_curve",
    group: "sweep",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "fid_minus_phenomenon at every point of the sweep.",
        formula: "fid_minus_phenomenon with y_sub_sweep at x_k in place of y_sub, pooled at each k.",
        undefined: "\"no explained instances\"; \"units have different x\".",
        differs: "",
        reference: document!("fidelity"),
        example: ("sweep", "[0.25, 0.25, 0.0]"),
    },
    number: Number::Rows(|_, rows| fidelity_curve(rows, Side::Minus, Of::Phenomenon)),
    ..Line::DEFAULTS
};

pub(super) const FIDELITY_CURVE_AUC_MODEL: Line = Line {
    id: "fidelity_curve_auc_model",
    group: "sweep",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The area under the pooled sweep curves of type model.",
        formula: "fidelity_curve_auc of fid_plus_model_curve and fid_minus_model_curve over x.",
        undefined: "\"no explained instances\"; \"units have different x\"; \"fid_minus is 1 at point K: \
                   division by zero\".",
        differs: "Fidelities are pooled before the division.",
        reference: document!("fidelity_curve_auc"),
        example: ("sweep", "0.3541666666666667"),
    },
    headline: Some(8),
    number: Number::Rows(|_, rows| sweep_auc(rows, Of::Model)),
    ..Line::DEFAULTS
};

pub(super) const FIDELITY_CURVE_AUC_PHENOMENON: Line = Line {
    id: "fidelity_curve_auc_phenomenon",
    group: "sweep",
    better: higher,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The area under the pooled sweep curves of type phenomenon.",
        formula: "fidelity_curve_auc of fid_plus_phenomenon_curve and fid_minus_phenomenon_curve over x.",
        undefined: "\"no explained instances\"; \"units have different x\"; \"fid_minus is 1 at point K: \
                   division by zero\".",
        differs: "Fidelities are pooled before the division.",
        reference: document!("fidelity_curve_auc"),
        example: ("sweep", "0.2604166666666667"),
    },
    number: Number::Rows(|_, rows| sweep_auc(rows, Of::Phenomenon)),
    ..Line::DEFAULTS
};
