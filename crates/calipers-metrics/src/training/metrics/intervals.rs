//! How far a number could be off, from the runs that happen to be there.

use calipers_core::{Doc, Number};

use super::super::reading::{Aggregation, by_group};
use super::super::resample::interval;
use super::{ANY, Line, by_stability_reading, divergence, lower, survival};

pub(super) const VELOCITY_WISE_CI: Line = Line {
    id: "velocity_wise_ci",
    group: "intervals",
    better: lower,
    range: ANY,
    doc: Doc {
        measures: "An interval of velocity_wise.",
        formula: "Only with --bootstrap B: [low, high], the values at rank k and R - 1 - k of the R \
                  defined ones of B resamples of the runs of the group, k = floor((1 - C)/2 R + 0.5), C = \
                  --confidence.",
        undefined: "\"defined in R of B resamples\".",
        differs: "The intervals common to all families are of single numbers; every number of this family \
                  is one per group, so that these stand in their place.",
        reference: "Percentile bootstrap (Efron 1979)",
        example: ("bootstrap", r#"{"cfg": [1.0, 2.5]}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| interval(group, |drawn| drawn.velocity(Aggregation::Wise)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_RMST_CI: Line = Line {
    id: "velocity_rmst_ci",
    group: "intervals",
    better: lower,
    range: ANY,
    doc: Doc {
        measures: "An interval of velocity_rmst.",
        formula: "Only with --bootstrap B: [low, high], the values at rank k and R - 1 - k of the R \
                  defined ones of B resamples of the runs of the group, k = floor((1 - C)/2 R + 0.5), C = \
                  --confidence.",
        undefined: "\"defined in R of B resamples\".",
        differs: "The intervals common to all families are of single numbers; every number of this family \
                  is one per group, so that these stand in their place.",
        reference: "Percentile bootstrap (Efron 1979)",
        example: ("bootstrap", r#"{"cfg": [1.2, 4.6]}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| interval(group, survival::restricted_mean))
    }),
    ..Line::DEFAULTS
};

pub(super) const STABILITY_WISE_CI: Line = Line {
    id: "stability_wise_ci",
    group: "intervals",
    better: by_stability_reading,
    range: ANY,
    doc: Doc {
        measures: "An interval of stability_wise.",
        formula: "Only with --bootstrap B: [low, high], the values at rank k and R - 1 - k of the R \
                  defined ones of B resamples of the runs of the group, k = floor((1 - C)/2 R + 0.5), C = \
                  --confidence.",
        undefined: "\"defined in R of B resamples\".",
        differs: "The intervals common to all families are of single numbers; every number of this family \
                  is one per group, so that these stand in their place.",
        reference: "Percentile bootstrap (Efron 1979)",
        example: ("bootstrap", r#"{"cfg": [0.0, 0.375]}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| interval(group, |drawn| drawn.stability(Aggregation::Wise)))
    }),
    ..Line::DEFAULTS
};

pub(super) const DIVERGENCE_RATE_CI: Line = Line {
    id: "divergence_rate_ci",
    group: "intervals",
    better: lower,
    range: ANY,
    doc: Doc {
        measures: "An interval of divergence_rate.",
        formula: "Only with --bootstrap B: [low, high], the values at rank k and R - 1 - k of the R \
                  defined ones of B resamples of the runs of the group, k = floor((1 - C)/2 R + 0.5), C = \
                  --confidence.",
        undefined: "\"defined in R of B resamples\".",
        differs: "The intervals common to all families are of single numbers; every number of this family \
                  is one per group, so that these stand in their place.",
        reference: "Percentile bootstrap (Efron 1979)",
        example: ("bootstrap", r#"{"cfg": [0.0, 1.0]}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| interval(group, divergence::rate))
    }),
    ..Line::DEFAULTS
};
