//! How much evidence there is.

use calipers_core::{Doc, Number};

use super::super::fidelity_reading::num_instances;
use super::super::mask_reading::num_mask_elements;
use super::{Line, NON_NEGATIVE, neither};

pub(super) const NUM_INSTANCES: Line = Line {
    id: "num_instances",
    group: "counts",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The explained instances behind the fidelity numbers.",
        formula: "Sum over units of the instances that `index` leaves, all without it.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("labels", "5"),
    },
    number: Number::Rows(|_, rows| num_instances(rows)),
    ..Line::DEFAULTS
};

pub(super) const NUM_MASK_ELEMENTS: Line = Line {
    id: "num_mask_elements",
    group: "counts",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The elements of all predicted masks.",
        formula: "Sum over units of the length of `pred_mask`, all types together.",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("mask", "5"),
    },
    number: Number::Rows(|_, rows| num_mask_elements(rows)),
    ..Line::DEFAULTS
};
