//! Masks by node or edge type.

use crate::explanation::metrics::*;
use std::collections::BTreeMap;

use super::agreement::{Share, accuracy, auroc_of, f1_score, jaccard, precision, recall};
use crate::explanation::row::TypeRow;

pub(crate) const TYPES: Need = Need {
    keys: &["pred_mask.TYPE"],
    met: |row| row.mask.as_ref().is_some_and(|mask| !mask.types.is_empty()),
};
pub(crate) const TYPED_TRUTH: Need = Need {
    keys: &["pred_mask.TYPE", "target_mask.TYPE"],
    met: |row| row.mask.as_ref().is_some_and(|mask| mask.types.values().any(|one| one.agreement.is_some())),
};

/// The mean over units for each type.
fn by_type(rows: &Rows<'_, Row>, value: impl Fn(&TypeRow) -> Option<Reading>) -> Value {
    let mut types: BTreeMap<&str, Vec<Reading>> = BTreeMap::new();
    for (name, row) in rows.iter().filter_map(|row| row.mask.as_deref()).flat_map(|mask| &mask.types) {
        if let Some(value) = value(row) {
            types.entry(name).or_default().push(value);
        }
    }
    if types.is_empty() {
        return given(None);
    }
    let entries = types.into_iter();
    Value::PerLabel(entries.map(|(name, values)| (name.into(), given(mean(values.into_iter())))).collect())
}

fn share_by_type(protocol: &Explanation, rows: &Rows<'_, Row>, share: Share) -> Value {
    by_type(rows, |one| one.agreement.map(|(counts, _)| share(protocol, &counts)))
}

const BY_TYPE: Line = Line {
    group: "types",
    better: higher,
    range: SHARE,
    needs: &[TYPED_TRUTH],
    differs: "Of several truths the one chosen for all types together.",
    ..BEYOND
};

pub(crate) const ACCURACY_BY_TYPE: Line = Line {
    id: "accuracy_by_type",
    measures: "accuracy of each node or edge type alone.",
    formula: "accuracy over the elements of the type, mean over the units that have it.",
    undefined: "\"mask has no elements\".",
    example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.8333333333333334}"#),
    number: Number::Rows(|protocol, rows| share_by_type(protocol, rows, accuracy)),
    ..BY_TYPE
};

pub(crate) const RECALL_BY_TYPE: Line = Line {
    id: "recall_by_type",
    measures: "recall of each node or edge type alone.",
    formula: "recall over the elements of the type, mean over the units that have it.",
    undefined: reasons!(mask, "target mask has no positive element"),
    example: ("types", r#"{"author__writes__paper": 1.0, "paper": 1.0}"#),
    number: Number::Rows(|protocol, rows| share_by_type(protocol, rows, recall)),
    ..BY_TYPE
};

pub(crate) const PRECISION_BY_TYPE: Line = Line {
    id: "precision_by_type",
    measures: "precision of each node or edge type alone.",
    formula: "precision over the elements of the type, mean over the units that have it.",
    undefined: reasons!(mask, "no element is selected (pred_mask > threshold)"),
    example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.75}"#),
    number: Number::Rows(|protocol, rows| share_by_type(protocol, rows, precision)),
    ..BY_TYPE
};

pub(crate) const F1_SCORE_BY_TYPE: Line = Line {
    id: "f1_score_by_type",
    measures: "f1_score of each node or edge type alone.",
    formula: "f1_score over the elements of the type, mean over the units that have it.",
    undefined: reasons!(mask, "neither mask has a positive element"),
    example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.8333333333333334}"#),
    number: Number::Rows(|protocol, rows| share_by_type(protocol, rows, f1_score)),
    ..BY_TYPE
};

pub(crate) const AUROC_BY_TYPE: Line = Line {
    id: "auroc_by_type",
    measures: "auroc of each node or edge type alone.",
    formula: "auroc over the elements of the type, mean over the units that have it.",
    undefined: reasons!(mask, "target mask has no positive element", "target mask has no negative element"),
    example: ("types", r#"{"author__writes__paper": 1.0, "paper": 1.0}"#),
    number: Number::Rows(|protocol, rows| {
        by_type(rows, |one| one.agreement.map(|(counts, twice)| auroc_of(protocol, &counts, twice)))
    }),
    ..BY_TYPE
};

pub(crate) const JACCARD_BY_TYPE: Line = Line {
    id: "jaccard_by_type",
    measures: "jaccard of each node or edge type alone.",
    formula: "jaccard over the elements of the type, mean over the units that have it.",
    undefined: reasons!(mask, "neither mask has a positive element"),
    example: ("types", r#"{"author__writes__paper": 1.0, "paper": 0.75}"#),
    number: Number::Rows(|protocol, rows| share_by_type(protocol, rows, jaccard)),
    ..BY_TYPE
};

pub(crate) const SPARSITY_BY_TYPE: Line = Line {
    id: "sparsity_by_type",
    better: neither,
    needs: &[TYPES],
    measures: "sparsity of each node or edge type alone.",
    formula: "sparsity over the elements of the type, mean over the units that have it.",
    undefined: "\"mask has no elements\".",
    differs: "",
    example: ("types", r#"{"author__writes__paper": 0.5, "paper": 0.4166666666666667}"#),
    number: Number::Rows(|_, rows| {
        by_type(rows, |one| Some(quotient(one.elements - one.selected, one.elements, NO_ELEMENTS)))
    }),
    ..BY_TYPE
};
