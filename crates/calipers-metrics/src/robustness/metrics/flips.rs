//! What the attack did to the graph.

use calipers_core::{Doc, Number};

use super::super::conditions::scalar;
use super::super::reading::Scalar;
use super::{Line, NON_NEGATIVE, neither};

pub(super) const FLIPS_ADDED: Line = Line {
    id: "flips_added",
    group: "flips",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How many edges the attack added.",
        formula: "Edges of the attacked graph that the clean one lacks; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "1.0"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::FlipsAdded)),
    ..Line::DEFAULTS
};

pub(super) const FLIPS_REMOVED: Line = Line {
    id: "flips_removed",
    group: "flips",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How many edges the attack removed.",
        formula: "Edges of the clean graph that the attacked one lacks; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "1.0"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::FlipsRemoved)),
    ..Line::DEFAULTS
};

pub(super) const BUDGET_USED: Line = Line {
    id: "budget_used",
    group: "flips",
    better: neither,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "The budget that the attack really used.",
        formula: "(added + removed) / clean edges; mean over repetitions.",
        undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both needed\"; \
                   \"clean graph has no edges\".",
        differs: "",
        reference: "Calipers",
        example: ("four-nodes", "0.5"),
    },
    number: Number::Rows(|protocol, rows| scalar(protocol, rows, Scalar::BudgetUsed)),
    ..Line::DEFAULTS
};
