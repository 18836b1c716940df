//! Velocities that take runs which never saturate as a time, or as a spread.

use calipers_core::exact::rounded_quotient;
use calipers_core::{Doc, Number};

use super::super::reading::{Group, Reading, by_group, number, whole, whole_mean};
use super::{EPOCHS, Line, NON_NEGATIVE, lower};

pub(super) const VELOCITY_STD: Line = Line {
    id: "velocity_std",
    group: "velocity",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "How much the epochs of first saturation differ between folds.",
        formula: "Sample standard deviation of s: square root of (m sum s^2 - (sum s)^2) / (m (m - 1)), m \
                  = folds that saturate.",
        undefined: "\"fewer than two folds saturate\".",
        differs: "",
        reference: "Calipers",
        example: ("five-folds", r#"{"cfg": 0.9574271077563381}"#),
    },
    number: Number::Rows(|protocol, rows| {
        by_group(protocol, rows, |group| number(standard_deviation(group)))
    }),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_MEDIAN: Line = Line {
    id: "velocity_median",
    group: "velocity",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "The epoch at which half of the folds have saturated.",
        formula: "Median of s, a fold that never saturates being infinite; with an even number of folds \
                  the mean of the two in the middle.",
        undefined: "\"the median fold never saturates\".",
        differs: "",
        reference: "AlgoPerf: Training Algorithms (Dahl et al. 2023)",
        example: ("five-folds", r#"{"cfg": 2.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_group(protocol, rows, |group| number(median(group)))),
    ..Line::DEFAULTS
};

pub(super) const VELOCITY_OLYMPIC: Line = Line {
    id: "velocity_olympic",
    group: "velocity",
    better: lower,
    range: EPOCHS,
    doc: Doc {
        measures: "Epochs to the first saturation without the luckiest and the unluckiest fold.",
        formula: "Mean of s without the smallest and the largest; a fold that never saturates is the \
                  largest.",
        undefined: "\"fewer than three folds\"; \"more than one fold never saturates\".",
        differs: "",
        reference: "MLPerf Training Benchmark (Mattson et al. 2020)",
        example: ("five-folds", r#"{"cfg": 2.0}"#),
    },
    number: Number::Rows(|protocol, rows| by_group(protocol, rows, |group| number(olympic(group)))),
    ..Line::DEFAULTS
};

fn standard_deviation(group: &Group<'_, '_>) -> Reading {
    let epochs = group.epochs_to_saturation();
    let count = epochs.clone().count() as i128;
    if count < 2 {
        return Err("fewer than two folds saturate".into());
    }
    let total = whole(epochs.clone());
    let squares: i128 = epochs.map(|epoch| i128::from(epoch) * i128::from(epoch)).sum();
    Ok(rounded_quotient(count * squares - total * total, count * (count - 1)).sqrt())
}

/// The epochs of first saturation, ascending, and the number of runs that come after all of them.
fn ranked(group: &Group<'_, '_>) -> (Vec<u64>, usize) {
    let mut epochs: Vec<u64> = group.epochs_to_saturation().collect();
    epochs.sort_unstable();
    let never = group.runs.len() - epochs.len();
    (epochs, never)
}

fn median(group: &Group<'_, '_>) -> Reading {
    let (epochs, never) = ranked(group);
    let runs = epochs.len() + never;
    let middle = epochs.get((runs - 1) / 2..=runs / 2);
    let middle = middle.ok_or("the median fold never saturates")?;
    whole_mean(middle.iter().copied(), "".into())
}

fn olympic(group: &Group<'_, '_>) -> Reading {
    let (epochs, never) = ranked(group);
    if epochs.len() + never < 3 {
        return Err("fewer than three folds".into());
    }
    let counted = match never {
        0 => &epochs[1..epochs.len() - 1],
        1 => &epochs[1..],
        _ => return Err("more than one fold never saturates".into()),
    };
    whole_mean(counted.iter().copied(), "".into())
}
