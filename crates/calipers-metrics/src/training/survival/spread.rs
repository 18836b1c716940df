//! How epochs of first saturation are spread; a run that never saturates comes after all others.

use crate::training::metrics::*;
use calipers_core::exact::rounded_quotient;

use super::lifetimes::{EPOCHS_TO, SATURATING, SQUARES, counted, lifetimes};

const SPREAD: Line = Line { group: "velocity", better: lower, range: EPOCHS, ..Line::DEFAULTS };

pub(crate) const VELOCITY_STD: Line = Line {
    id: "velocity_std",
    range: NON_NEGATIVE,
    measures: "How much the epochs of first saturation differ between folds.",
    formula: "Sample standard deviation of s: square root of (m sum s^2 - (sum s)^2) / (m (m - 1)), m = \
              folds that saturate.",
    undefined: "\"fewer than two folds saturate\".",
    example: ("five-folds", r#"{"cfg": 0.9574271077563381}"#),
    number: per_group!(lifetimes, |_, runs| number(standard_deviation(runs))),
    ..SPREAD
};

pub(crate) const VELOCITY_MEDIAN: Line = Line {
    id: "velocity_median",
    measures: "The epoch at which half of the folds have saturated.",
    formula: "Median of s, a fold that never saturates being infinite; with an even number of folds the mean \
              of the two in the middle.",
    undefined: "\"the median fold never saturates\".",
    reference: "AlgoPerf: Training Algorithms (Dahl et al. 2023)",
    example: ("five-folds", r#"{"cfg": 2.0}"#),
    interval: IntervalRule::OrderStatistic,
    number: per_group!(lifetimes, |_, runs| number(median(runs))),
    ..SPREAD
};

pub(crate) const VELOCITY_OLYMPIC: Line = Line {
    id: "velocity_olympic",
    measures: "Epochs to the first saturation without the luckiest and the unluckiest fold.",
    formula: "Mean of s without the smallest and the largest; a fold that never saturates is the largest.",
    undefined: "\"fewer than three folds\"; \"more than one fold never saturates\".",
    reference: "MLPerf Training Benchmark (Mattson et al. 2020)",
    example: ("five-folds", r#"{"cfg": 2.0}"#),
    number: per_group!(lifetimes, |_, runs| number(olympic(runs))),
    ..SPREAD
};

fn standard_deviation(runs: &Runs<'_>) -> Reading {
    let (count, total) = (runs.whole(SATURATING), runs.whole(EPOCHS_TO));
    if count < 2 {
        return Err("fewer than two folds saturate".into());
    }
    let squares = runs.whole(SQUARES);
    Ok(rounded_quotient(count * squares - total * total, count * (count - 1)).sqrt())
}

/// The epoch of first saturation at a place from 0; `None` for a run that never saturates.
fn ranked(runs: &Runs<'_>, place: u64) -> Option<u64> {
    let mut before = 0;
    let saturating = counted(runs).filter(|(lifetime, _)| lifetime.saturates);
    let mut up_to = saturating.map(|(lifetime, times)| {
        before += times;
        (lifetime.epoch, before)
    });
    up_to.find(|(_, before)| *before > place).map(|(epoch, _)| epoch)
}

fn median(runs: &Runs<'_>) -> Reading {
    let count = runs.count();
    // With an odd number of runs both are the one in the middle.
    match (ranked(runs, (count - 1) / 2), ranked(runs, count / 2)) {
        (Some(low), Some(high)) => quotient(low + high, 2, ""),
        _ => Err("the median fold never saturates".into()),
    }
}

fn olympic(runs: &Runs<'_>) -> Reading {
    let (count, total) = (i128::from(runs.count()), runs.whole(EPOCHS_TO));
    if count < 3 {
        return Err("fewer than three folds".into());
    }
    let largest = match count - runs.whole(SATURATING) {
        0 => ranked(runs, runs.count() - 1),
        1 => None,
        _ => return Err("more than one fold never saturates".into()),
    };
    let [first, last] = [ranked(runs, 0), largest].map(|epoch| epoch.map_or(0, i128::from));
    quotient(total - first - last, count - 2, "")
}
