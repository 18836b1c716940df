//! How soon a configuration saturates.

use crate::training::metrics::*;
use calipers_core::exact::rounded_quotient;

use super::by_preset::Aggregation::{self, Naive, Strict, Wise};
use super::by_preset::{Having, NORMALISED, SATURATING, VELOCITY, aggregate, by_preset};

const EPOCHS_TO_SATURATION: Line = Line { group: "velocity", better: lower, range: EPOCHS, ..Line::DEFAULTS };
const SHARE_OF_THE_RUN: Line = Line { range: SHARE, ..EPOCHS_TO_SATURATION };

/// The mean velocity, if every fold saturates.
pub const VELOCITY_STRICT: Line = Line {
    id: "velocity_strict",
    measures: "Epochs to the first saturation, if every fold gets there.",
    formula: "sum V_f / n_f; V_f = number of the first point beyond the threshold, from 1.",
    undefined: "\"P of N folds present\"; \"never saturates: fold F\".",
    differs: "The published programs count epochs from 0.",
    reference: document!("The Velocity"),
    example: ("two-configurations", r#"{"a": 1.5, "b": null}"#),
    headline: Some(2),
    number: per_group!(by_preset, |protocol, runs| number(velocity(protocol, runs, Strict))),
    ..EPOCHS_TO_SATURATION
};

/// The mean velocity of the folds that saturate.
pub const VELOCITY_WISE: Line = Line {
    id: "velocity_wise",
    measures: "Epochs to the first saturation, over the folds that get there.",
    formula: "sum V_f / n_F.",
    undefined: "\"no fold saturates\"; \"script-2025 publishes the strict aggregation only\".",
    differs: "It averages successes only: a group that fails more often can look faster. See velocity_rmst.",
    reference: document!("The Velocity"),
    example: ("document", r#"{"ex": 3.3333333333333335}"#),
    headline: Some(3),
    number: per_group!(by_preset, |protocol, runs| number(velocity(protocol, runs, Wise))),
    ..EPOCHS_TO_SATURATION
};

/// The sum of velocities over the number of all folds.
pub const VELOCITY_NAIVE: Line = Line {
    id: "velocity_naive",
    better: neither,
    measures: "Epochs to the first saturation, spread over all folds.",
    formula: "sum V_f / n_f over the folds that saturate.",
    differs: "A fold that never saturates adds 0 epochs: failure is rewarded.",
    example: ("document", r#"{"ex": 2.5}"#),
    undefined: VELOCITY_WISE.undefined,
    reference: VELOCITY_WISE.reference,
    number: per_group!(by_preset, |protocol, runs| number(velocity(protocol, runs, Naive))),
    ..EPOCHS_TO_SATURATION
};

pub(crate) const VELOCITY_NORMALISED_STRICT: Line = Line {
    id: "velocity_normalised_strict",
    measures: "The share of the run before the first saturation, if every fold gets there.",
    formula: "velocity_strict with V_f / n_epoch in place of V_f.",
    differs: "This is what can be close to 0 (early) or close to 1 (at the end); an epoch number cannot.",
    example: ("two-configurations", r#"{"a": 0.5, "b": null}"#),
    undefined: VELOCITY_STRICT.undefined,
    reference: VELOCITY_STRICT.reference,
    number: per_group!(by_preset, |protocol, runs| number(normalised(protocol, runs, Strict))),
    ..SHARE_OF_THE_RUN
};

pub(crate) const VELOCITY_NORMALISED_WISE: Line = Line {
    id: "velocity_normalised_wise",
    measures: "The share of the run before the first saturation, over the folds that get there.",
    formula: "velocity_wise with V_f / n_epoch in place of V_f.",
    example: ("five-folds", r#"{"cfg": 0.29166666666666663}"#),
    undefined: VELOCITY_WISE.undefined,
    reference: VELOCITY_WISE.reference,
    number: per_group!(by_preset, |protocol, runs| number(normalised(protocol, runs, Wise))),
    ..SHARE_OF_THE_RUN
};

pub(crate) const VELOCITY_NORMALISED_NAIVE: Line = Line {
    id: "velocity_normalised_naive",
    measures: "The share of the run before the first saturation, spread over all folds.",
    formula: "velocity_naive with V_f / n_epoch in place of V_f.",
    differs: "A fold that never saturates adds 0.",
    example: ("five-folds", r#"{"cfg": 0.23333333333333334}"#),
    undefined: VELOCITY_WISE.undefined,
    reference: VELOCITY_WISE.reference,
    number: per_group!(by_preset, |protocol, runs| number(normalised(protocol, runs, Naive))),
    ..SHARE_OF_THE_RUN
};

const SATURATES: Having<fn(&Row) -> bool> = Having {
    column: SATURATING,
    lack: "never saturates: fold ",
    none: NO_SATURATION,
    lacks: |run| run.by_preset.is_none(),
};

/// V, in epochs.
pub(super) fn velocity(protocol: &Training, runs: &Runs<'_>, aggregation: Aggregation) -> Reading {
    let total = runs.whole(VELOCITY);
    aggregate(protocol, runs, aggregation, &SATURATES, |folds| rounded_quotient(total, folds))
}

/// V as a share of the run.
fn normalised(protocol: &Training, runs: &Runs<'_>, aggregation: Aggregation) -> Reading {
    aggregate(protocol, runs, aggregation, &SATURATES, |folds| runs.number_over(NORMALISED, folds))
}
