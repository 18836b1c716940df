//! How many runs end worse than they saturated.

use calipers_core::{Doc, Number};

use super::super::reading::{Aggregation, Group, NO_SATURATION, Reading, by_group, mean, number};
use super::super::row::Aftermath;
use super::{FOLDS, Line, SHARE, count, document, lower};

pub(super) const DIVERGENCE_STRICT: Line = Line {
    id: "divergence_strict",
    group: "divergence",
    better: lower,
    range: FOLDS,
    doc: Doc {
        measures: "The folds that end worse than they first saturated, if every fold is there.",
        formula: "sum D_f; D_f = 1 if the fold saturates and its last value is worse than that of the \
                  first saturation.",
        undefined: "\"P of N folds present\".",
        differs: "A fold that never saturates does not diverge: read it beside saturation_count.",
        reference: document!("The Divergence"),
        example: ("five-folds", r#"{"cfg": 2}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| count(group.divergence(Aggregation::Strict)))
    }),
    ..Line::DEFAULTS
};

pub(super) const DIVERGENCE_WISE: Line = Line {
    id: "divergence_wise",
    group: "divergence",
    better: lower,
    range: FOLDS,
    doc: Doc {
        measures: "The folds that end worse than they first saturated.",
        formula: "sum D_f over the runs present.",
        undefined: "\"script-2025 publishes the strict aggregation only\".",
        differs: "The same as divergence_naive: the document counts folds and divides by nothing.",
        reference: document!("The Divergence"),
        example: ("document", r#"{"ex": 2}"#),
    },
    headline: Some(6),
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| count(group.divergence(Aggregation::Wise)))
    }),
    ..Line::DEFAULTS
};

pub(super) const DIVERGENCE_NAIVE: Line = Line {
    id: "divergence_naive",
    group: "divergence",
    better: lower,
    range: FOLDS,
    doc: Doc {
        measures: "The folds that end worse than they first saturated.",
        formula: "sum D_f over the runs present.",
        undefined: "\"script-2025 publishes the strict aggregation only\".",
        differs: "The same as divergence_wise: the document counts folds and divides by nothing.",
        reference: document!("The Divergence"),
        example: ("document", r#"{"ex": 2}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| count(group.divergence(Aggregation::Naive)))
    }),
    ..Line::DEFAULTS
};

pub(super) const DIVERGENCE_RATE: Line = Line {
    id: "divergence_rate",
    group: "divergence",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "The share of saturating folds that end worse than they first saturated.",
        formula: "sum D_f / n_F by the strict rule.",
        undefined: "\"no fold saturates\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.5}"#),
    },
    number: Number::Rows(|protocol, rows| by_group(protocol, rows, |group| number(rate(group)))),
    ..Line::DEFAULTS
};

/// The share of saturating runs that diverge, by the strict rule.
pub(super) fn rate(group: &Group<'_, '_>) -> Reading {
    let diverged = |aftermath: &Aftermath| f64::from(u8::from(aftermath.saturation.diverged));
    mean(group.saturating().map(diverged), NO_SATURATION)
}
