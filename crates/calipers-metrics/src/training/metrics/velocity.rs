//! How soon a group saturates.

use calipers_core::{Doc, Number};

use super::super::reading::{Aggregation, by_group, number};
use super::{EPOCHS, Line, SHARE, document, lower, neither};

pub(super) const VELOCITY_STRICT: Line = Line {
    id: "velocity_strict",
    group: "velocity",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to the first saturation, if every fold gets there.",
        formula: "sum V_f / n_f; V_f = number of the first point beyond the threshold, from 1.",
        undefined: "\"P of N folds present\"; \"never saturates: fold F\".",
        differs: "The published programs count epochs from 0.",
        reference: document!("The Velocity"),
        example: ("two-configurations", r#"{"a": 1.5, "b": null}"#),
    },
    headline: Some(2),
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.velocity(Aggregation::Strict)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_WISE: Line = Line {
    id: "velocity_wise",
    group: "velocity",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to the first saturation, over the folds that get there.",
        formula: "sum V_f / n_F.",
        undefined: "\"no fold saturates\"; \"script-2025 publishes the strict aggregation only\".",
        differs: "It averages successes only: a group that fails more often can look faster. See \
                  velocity_rmst.",
        reference: document!("The Velocity"),
        example: ("document", r#"{"ex": 3.3333333333333335}"#),
    },
    headline: Some(3),
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.velocity(Aggregation::Wise)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_NAIVE: Line = Line {
    id: "velocity_naive",
    group: "velocity",
    better: neither,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to the first saturation, spread over all folds.",
        formula: "sum V_f / n_f over the folds that saturate.",
        undefined: "\"no fold saturates\"; \"script-2025 publishes the strict aggregation only\".",
        differs: "A fold that never saturates adds 0 epochs: failure is rewarded.",
        reference: document!("The Velocity"),
        example: ("document", r#"{"ex": 2.5}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.velocity(Aggregation::Naive)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_NORMALISED_STRICT: Line = Line {
    id: "velocity_normalised_strict",
    group: "velocity",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "The share of the run before the first saturation, if every fold gets there.",
        formula: "velocity_strict with V_f / n_epoch in place of V_f.",
        undefined: "\"P of N folds present\"; \"never saturates: fold F\".",
        differs: "This is what can be close to 0 (early) or close to 1 (at the end); an epoch number \
                  cannot.",
        reference: document!("The Velocity"),
        example: ("two-configurations", r#"{"a": 0.5, "b": null}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.normalised_velocity(Aggregation::Strict)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_NORMALISED_WISE: Line = Line {
    id: "velocity_normalised_wise",
    group: "velocity",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "The share of the run before the first saturation, over the folds that get there.",
        formula: "velocity_wise with V_f / n_epoch in place of V_f.",
        undefined: "\"no fold saturates\"; \"script-2025 publishes the strict aggregation only\".",
        differs: "",
        reference: document!("The Velocity"),
        example: ("five-folds", r#"{"cfg": 0.29166666666666663}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.normalised_velocity(Aggregation::Wise)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_NORMALISED_NAIVE: Line = Line {
    id: "velocity_normalised_naive",
    group: "velocity",
    better: lower,
    range: SHARE,
    doc: Doc {
        measures: "The share of the run before the first saturation, spread over all folds.",
        formula: "velocity_naive with V_f / n_epoch in place of V_f.",
        undefined: "\"no fold saturates\"; \"script-2025 publishes the strict aggregation only\".",
        differs: "A fold that never saturates adds 0.",
        reference: document!("The Velocity"),
        example: ("five-folds", r#"{"cfg": 0.2333333333333333}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(group.normalised_velocity(Aggregation::Naive)))
    }),
    ..Line::DEFAULTS
};
