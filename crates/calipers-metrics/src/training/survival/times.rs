//! Velocities in which a run that never saturates counts for as long as it lasted.

use super::kaplan_meier::Survival;
use super::lifetimes::{EPOCHS_TO, EPOCHS_WITHOUT, SATURATING, counted, lifetimes};
use crate::training::metrics::*;

const TIME: Line = Line { group: "survival", better: lower, range: EPOCHS, ..Line::DEFAULTS };

pub(crate) const VELOCITY_KM_MEDIAN: Line = Line {
    id: "velocity_km_median",
    measures: "The epoch by which half of the folds would have saturated, had all runs lasted.",
    formula: "Kaplan-Meier: at each s the survival is multiplied by 1 - d/r, d = folds saturating there, r = \
              folds not done before; the smallest s with a survival of at most 1/2.",
    undefined: "\"survival stays above one half\".",
    differs: "The comparison is exact: 3/4 * 2/3 is one half.",
    reference: "Kaplan and Meier (1958)",
    example: ("censored", r#"{"c": 4}"#),
    interval: IntervalRule::OrderStatistic,
    number: per_group!(lifetimes, |_, runs| match Survival::new(counted(runs)).median() {
        Some(epoch) => Value::Count(epoch.into()),
        None => Value::undefined("survival stays above one half"),
    }),
    ..TIME
};

/// Epochs to saturation up to a horizon, failures included.
pub const VELOCITY_RMST: Line = Line {
    id: "velocity_rmst",
    measures: "Epochs to the first saturation up to a horizon, failures included.",
    formula: "Area below the Kaplan-Meier survival from 0 to rmst_horizon.",
    undefined: "\"survival is not known beyond epoch E\".",
    differs: "A fold that never saturates counts for as long as it lasted, neither left out (wise) nor as 0 \
              epochs (naive).",
    reference: "Restricted mean survival time (Royston and Parmar 2013)",
    example: ("censored", r#"{"c": 3.875}"#),
    headline: Some(4),
    number: per_group!(lifetimes, |protocol, runs| number(restricted_mean(protocol, runs))),
    ..TIME
};

pub(crate) const RMST_HORIZON: Line = Line {
    id: "rmst_horizon",
    better: neither,
    measures: "The epoch up to which velocity_rmst measures.",
    formula: "--horizon, else the largest s of the group, or n_epoch of a fold that never saturates.",
    differs: "Compare velocity_rmst only at one horizon.",
    example: ("censored", r#"{"c": 5}"#),
    interval: IntervalRule::Never,
    number: per_group!(lifetimes, |protocol, runs| Value::Count(horizon(protocol, runs).into())),
    ..TIME
};

pub(crate) const VELOCITY_ERT: Line = Line {
    id: "velocity_ert",
    measures: "Epochs spent for one success, restarting after each failure.",
    formula: "(sum of s + sum of n_epoch of folds that never saturate) / n_F.",
    undefined: "\"no fold saturates\".",
    reference: "Expected running time (Hansen, Auger, Finck and Ros 2010)",
    example: ("five-folds", r#"{"cfg": 3.25}"#),
    number: per_group!(lifetimes, |_, runs| number(quotient(
        runs.whole(EPOCHS_TO) + runs.whole(EPOCHS_WITHOUT),
        runs.whole(SATURATING),
        NO_SATURATION
    ))),
    ..TIME
};

pub(crate) const VELOCITY_PAR: Line = Line {
    id: "velocity_par",
    measures: "Epochs to the first saturation with failures penalised.",
    formula: "(sum of s + K sum of n_epoch of folds that never saturate) / runs, K = --par.",
    reference: "Penalised average runtime, PAR10 (Hutter et al. 2009)",
    example: ("five-folds", r#"{"cfg": 13.4}"#),
    number: per_group!(lifetimes, |protocol, runs| number(quotient(
        runs.whole(EPOCHS_TO) + i128::from(protocol.par) * runs.whole(EPOCHS_WITHOUT),
        runs.count(),
        ""
    ))),
    ..TIME
};

fn restricted_mean(protocol: &Training, runs: &Runs<'_>) -> Reading {
    let area = Survival::new(counted(runs)).area(horizon(protocol, runs));
    area.ok_or_else(|| format!("survival is not known beyond epoch {}", last(runs)).into())
}

fn horizon(protocol: &Training, runs: &Runs<'_>) -> u64 {
    protocol.horizon.unwrap_or_else(|| last(runs))
}

/// The last epoch of any run.
fn last(runs: &Runs<'_>) -> u64 {
    counted(runs).last().map_or(0, |(lifetime, _)| lifetime.epoch)
}
