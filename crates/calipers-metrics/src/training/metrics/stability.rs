//! How steady the runs of a group are after the first saturation.

use calipers_core::{Doc, Number};

use super::super::reading::{Aggregation, by_group, number};
use super::{Line, NON_NEGATIVE, SHARE, by_stability_reading, document};

pub(super) const STABILITY_STRICT: Line = Line {
    id: "stability_strict",
    group: "stability",
    better: by_stability_reading,
    range: SHARE,
    doc: Doc {
        measures: "How much of the runs is broken, if every fold saturates.",
        formula: "sum S_f / n_f; S_f = b_f / n_epoch, b_f = points after the first saturation that are \
                  worse than the threshold.",
        undefined: "\"P of N folds present\"; \"never saturates: fold F\"; \"no broken step or never \
                  saturates: fold F\"; \"the document's condition asks for broken steps in every fold; \
                  none in fold F\".",
        differs: "Under strict, document and table-2024-04-24: share of broken epochs; 0 is steady. Under \
                  revised, table-2024-04-25 and script-2025: one minus the share; 1 is steady.",
        reference: document!("The Stability"),
        example: ("two-configurations", r#"{"a": 0.125, "b": null}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.stability(Aggregation::Strict)))
    }),
    ..Line::DEFAULTS
};

pub(super) const STABILITY_WISE: Line = Line {
    id: "stability_wise",
    group: "stability",
    better: by_stability_reading,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How much of the runs is broken, over the folds that saturate.",
        formula: "sum S_f / n_F.",
        undefined: "\"no fold saturates\"; \"no fold has a broken step\"; \"script-2025 publishes the strict \
                  aggregation only\".",
        differs: "Under strict, document and table-2024-04-24: share of broken epochs; 0 is steady. Under \
                  revised, table-2024-04-25 and script-2025: one minus the share; 1 is steady. The \
                  document prints V_f in place of S_f here: so does the preset document.",
        reference: document!("The Stability"),
        example: ("five-folds", r#"{"cfg": 0.16666666666666666}"#),
    },
    headline: Some(5),
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.stability(Aggregation::Wise)))
    }),
    ..Line::DEFAULTS
};

pub(super) const STABILITY_NAIVE: Line = Line {
    id: "stability_naive",
    group: "stability",
    better: by_stability_reading,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How much of the runs is broken, spread over all folds.",
        formula: "sum S_f / n_f over the folds that saturate.",
        undefined: "\"no fold saturates\"; \"no fold has a broken step\"; \"script-2025 publishes the strict \
                  aggregation only\".",
        differs: "Under strict, document and table-2024-04-24: share of broken epochs; 0 is steady. Under \
                  revised, table-2024-04-25 and script-2025: one minus the share; 1 is steady. The \
                  document prints V_f in place of S_f here: so does the preset document.",
        reference: document!("The Stability"),
        example: ("five-folds", r#"{"cfg": 0.13333333333333333}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.stability(Aggregation::Naive)))
    }),
    ..Line::DEFAULTS
};
