//! Velocities in which a run that never saturates counts for as long as it lasted.

use calipers_core::exact::rounded_quotient;
use calipers_core::{Doc, Number, Value};

use super::super::reading::{Group, NO_SATURATION, Reading, by_group, number, whole};
use super::{EPOCHS, Line, lower, neither};

pub(super) const VELOCITY_KM_MEDIAN: Line = Line {
    id: "velocity_km_median",
    group: "survival",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "The epoch by which half of the folds would have saturated, had all runs lasted.",
        formula: "Kaplan-Meier: at each s the survival is multiplied by 1 - d/r, d = folds saturating \
                  there, r = folds not done before; the smallest s with a survival of at most 1/2.",
        undefined: "\"survival stays above one half\".",
        differs: "The comparison is exact: 3/4 * 2/3 is one half.",
        reference: "Kaplan and Meier (1958)",
        example: ("censored", r#"{"c": 4}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| {
            let median = group.survival().median();
            median
                .map_or(Value::undefined("survival stays above one half"), |epoch| Value::Count(epoch.into()))
        })
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_RMST: Line = Line {
    id: "velocity_rmst",
    group: "survival",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to the first saturation up to a horizon, failures included.",
        formula: "Area below the Kaplan-Meier survival from 0 to rmst_horizon.",
        undefined: "\"survival is not known beyond epoch E\".",
        differs: "A fold that never saturates counts for as long as it lasted, neither left out (wise) nor \
                  as 0 epochs (naive).",
        reference: "Restricted mean survival time (Royston and Parmar 2013)",
        example: ("censored", r#"{"c": 3.875}"#),
    },
    headline: Some(4),
    number: Number::Rows(|protocol, rows| by_group(protocol, rows, |group| number(restricted_mean(group)))),
    ..Line::DEFAULTS
};

pub(super) const RMST_HORIZON: Line = Line {
    id: "rmst_horizon",
    group: "survival",
    better: neither,
    range: EPOCHS,
    doc: Doc {
        measures: "The epoch up to which velocity_rmst measures.",
        formula: "--horizon, else the largest s of the group, or n_epoch of a fold that never saturates.",
        undefined: "",
        differs: "Compare velocity_rmst only at one horizon.",
        reference: "Calipers",
        example: ("censored", r#"{"c": 5}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| Value::Count(horizon(group).into()))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_ERT: Line = Line {
    id: "velocity_ert",
    group: "survival",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs spent for one success, restarting after each failure.",
        formula: "(sum of s + sum of n_epoch of folds that never saturate) / n_F.",
        undefined: "\"no fold saturates\".",
        differs: "",
        reference: "Expected running time (Hansen, Auger, Finck and Ros 2010)",
        example: ("five-folds", r#"{"cfg": 3.25}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(expected_running_time(group)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_PAR: Line = Line {
    id: "velocity_par",
    group: "survival",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to the first saturation with failures penalised.",
        formula: "(sum of s + K sum of n_epoch of folds that never saturate) / runs, K = --par.",
        undefined: "",
        differs: "",
        reference: "Penalised average runtime, PAR10 (Hutter et al. 2009)",
        example: ("five-folds", r#"{"cfg": 13.4}"#),
    },
    number: Number::Rows(|protocol, rows| by_group(protocol, rows, |group| Value::Number(penalised(group)))),
    ..Line::DEFAULTS
};

/// The restricted mean time to saturation.
pub(super) fn restricted_mean(group: &Group<'_, '_>) -> Reading {
    let survival = group.survival();
    let area = survival.area(group.protocol.horizon.unwrap_or(survival.last));
    area.ok_or_else(|| format!("survival is not known beyond epoch {}", survival.last).into())
}

fn horizon(group: &Group<'_, '_>) -> u64 {
    group.protocol.horizon.unwrap_or_else(|| group.survival().last)
}

fn expected_running_time(group: &Group<'_, '_>) -> Reading {
    let spent = whole(group.epochs_to_saturation()) + whole(group.epochs_without());
    match group.epochs_to_saturation().count() as i128 {
        0 => Err(NO_SATURATION),
        saturating => Ok(rounded_quotient(spent, saturating)),
    }
}

fn penalised(group: &Group<'_, '_>) -> f64 {
    let penalty = i128::from(group.protocol.par) * whole(group.epochs_without());
    rounded_quotient(whole(group.epochs_to_saturation()) + penalty, group.runs.len() as i128)
}
