//! Masks by node or edge type.

use calipers_core::{Doc, Number};

use super::super::mask_reading::{
    accuracy_typed, auroc_typed, by_type, f1_score_typed, jaccard_typed, precision_typed, recall_typed,
    sparsity_typed,
};
use super::{Line, SHARE, higher, neither};

pub(super) const ACCURACY_BY_TYPE: Line = Line {
    id: "accuracy_by_type",
    group: "types",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "accuracy of each node or edge type alone.",
        formula: "accuracy over the elements of the type, mean over the units that have it.",
        undefined: "\"mask has no elements\".",
        differs: "Of several truths the one chosen for all types together.",
        reference: "Calipers",
        example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.8333333333333334}"#),
    },
    number: Number::Rows(|protocol, rows| by_type(protocol, rows, accuracy_typed)),
    ..Line::DEFAULTS
};

pub(super) const RECALL_BY_TYPE: Line = Line {
    id: "recall_by_type",
    group: "types",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "recall of each node or edge type alone.",
        formula: "recall over the elements of the type, mean over the units that have it.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\".",
        differs: "Of several truths the one chosen for all types together.",
        reference: "Calipers",
        example: ("types", r#"{"author__writes__paper": 1.0, "paper": 1.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_type(protocol, rows, recall_typed)),
    ..Line::DEFAULTS
};

pub(super) const PRECISION_BY_TYPE: Line = Line {
    id: "precision_by_type",
    group: "types",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "precision of each node or edge type alone.",
        formula: "precision over the elements of the type, mean over the units that have it.",
        undefined: "\"mask has no elements\"; \"no element is selected (pred_mask > threshold)\".",
        differs: "Of several truths the one chosen for all types together.",
        reference: "Calipers",
        example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.75}"#),
    },
    number: Number::Rows(|protocol, rows| by_type(protocol, rows, precision_typed)),
    ..Line::DEFAULTS
};

pub(super) const F1_SCORE_BY_TYPE: Line = Line {
    id: "f1_score_by_type",
    group: "types",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "f1_score of each node or edge type alone.",
        formula: "f1_score over the elements of the type, mean over the units that have it.",
        undefined: "\"mask has no elements\"; \"neither mask has a positive element\".",
        differs: "Of several truths the one chosen for all types together.",
        reference: "Calipers",
        example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.8333333333333334}"#),
    },
    number: Number::Rows(|protocol, rows| by_type(protocol, rows, f1_score_typed)),
    ..Line::DEFAULTS
};

pub(super) const AUROC_BY_TYPE: Line = Line {
    id: "auroc_by_type",
    group: "types",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "auroc of each node or edge type alone.",
        formula: "auroc over the elements of the type, mean over the units that have it.",
        undefined: "\"mask has no elements\"; \"target mask has no positive element\"; \"target mask has \
                   no negative element\".",
        differs: "Of several truths the one chosen for all types together.",
        reference: "Calipers",
        example: ("types", r#"{"author__writes__paper": 1.0, "paper": 1.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_type(protocol, rows, auroc_typed)),
    ..Line::DEFAULTS
};

pub(super) const JACCARD_BY_TYPE: Line = Line {
    id: "jaccard_by_type",
    group: "types",
    better: higher,
    range: SHARE,
    doc: Doc {
        measures: "jaccard of each node or edge type alone.",
        formula: "jaccard over the elements of the type, mean over the units that have it.",
        undefined: "\"mask has no elements\"; \"neither mask has a positive element\".",
        differs: "Of several truths the one chosen for all types together.",
        reference: "Calipers",
        example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.75}"#),
    },
    number: Number::Rows(|protocol, rows| by_type(protocol, rows, jaccard_typed)),
    ..Line::DEFAULTS
};

pub(super) const SPARSITY_BY_TYPE: Line = Line {
    id: "sparsity_by_type",
    group: "types",
    better: neither,
    range: SHARE,
    doc: Doc {
        measures: "sparsity of each node or edge type alone.",
        formula: "sparsity over the elements of the type, mean over the units that have it.",
        undefined: "\"mask has no elements\".",
        differs: "",
        reference: "Calipers",
        example: ("types", r#"{"author__writes__paper": 0.5, "paper": 0.4166666666666667}"#),
    },
    number: Number::Rows(|protocol, rows| by_type(protocol, rows, sparsity_typed)),
    ..Line::DEFAULTS
};
