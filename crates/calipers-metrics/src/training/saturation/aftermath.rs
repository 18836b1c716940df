//! What follows the first saturation, by the strict rule.

use crate::training::metrics::*;
use serde::{Deserialize, Serialize};

use super::bar::Bar;
use super::first::{Saturation, first_saturated};
use super::share;
use crate::training::curve::points::Points;
use crate::training::protocol::parameters::Direction;

const AFTER: Line = Line {
    group: "after saturation",
    better: lower,
    range: NON_NEGATIVE,
    undefined: "\"no fold saturates\".",
    ..Line::DEFAULTS
};

pub(crate) const RETENTION: Line = Line {
    id: "retention",
    better: higher,
    range: SHARE,
    measures: "How much of what follows the first saturation is not broken.",
    formula: "Mean over the saturating runs with points after saturation of (those points - b) / those \
              points.",
    undefined: "\"no fold saturates\"; \"every saturating fold saturates at its last evaluation\".",
    differs: "1 is steady under every preset, and a late saturation does not make a run look steady: only \
              points after it count.",
    example: ("five-folds", r#"{"cfg": 0.7}"#),
    number: per_group!(aftermath, |_, runs| number(retention(runs))),
    ..AFTER
};

pub(crate) const DROP_DEPTH_MEAN: Line = Line {
    id: "drop_depth_mean",
    measures: "How far runs fall below the threshold after saturating.",
    formula: "Mean over saturating runs of the largest distance of a broken point from the threshold, 0 \
              without one.",
    example: ("five-folds", r#"{"cfg": 0.2275}"#),
    number: per_group!(aftermath, |_, runs| number(mean(runs, DEPTH, SATURATING, NO_SATURATION))),
    ..AFTER
};

pub(crate) const DROP_DEPTH_MAX: Line = Line {
    id: "drop_depth_max",
    measures: "The deepest fall below the threshold after saturating.",
    formula: "Largest distance of a broken point from the threshold over all saturating runs, 0 without one.",
    example: ("five-folds", r#"{"cfg": 0.9}"#),
    interval: IntervalRule::OrderStatistic,
    number: per_group!(aftermath, |_, runs| largest(runs, DEEPEST, |bits| Value::Number(f64::from_bits(
        bits
    )))),
    ..AFTER
};

pub(crate) const LONGEST_BREAK_MAX: Line = Line {
    id: "longest_break_max",
    range: EPOCHS,
    measures: "The longest time that a saturated run stays broken.",
    formula: "Most consecutive broken points over all saturating runs.",
    example: ("five-folds", r#"{"cfg": 3}"#),
    interval: IntervalRule::OrderStatistic,
    number: per_group!(aftermath, |_, runs| largest(runs, LONGEST, |points| Value::Count(points.into()))),
    ..AFTER
};

/// The first saturation, and what followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aftermath {
    /// Number, broken points and divergence.
    pub saturation: Saturation,
    /// The x of the first saturation.
    pub x: f64,
    /// The value at the first saturation.
    pub value: f64,
    /// How many points follow it.
    pub points_after: u64,
    /// How many broken points follow each other at most.
    pub longest_break: u64,
    /// How far the worst broken point is from the threshold; 0 without one.
    pub drop_depth: f64,
    /// How many later values are exactly 0.
    pub zeros: u64,
    /// The broken points.
    pub breaks: Vec<Break>,
}

/// Consecutive broken points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Break {
    /// The numbers of the first and the last of them.
    pub numbers: (u64, u64),
    /// Their x.
    pub x: (f64, f64),
}

impl Aftermath {
    /// What followed the first saturation of a run, if it saturates.
    pub(crate) fn of(protocol: &Training, points: &Points) -> Option<Self> {
        let threshold = protocol.threshold;
        let saturation = Saturation::at(protocol, points, threshold)?;
        let bar = Bar::new(protocol, points.compared, threshold);
        let first = first_saturated(&bar, points)?;
        let after = &points.values[first + 1..];
        let breaks = breaks(&bar, &points.values, first);
        let lengths = breaks.iter().map(|(first, last)| (last - first + 1) as u64);
        let depth = |value: f64| match protocol.direction {
            Direction::Max => threshold - value,
            Direction::Min => value - threshold,
        };
        let named = |&(first, last): &(usize, usize)| Break {
            numbers: (points.number(first), points.number(last)),
            x: (points.x[first], points.x[last]),
        };
        Some(Self {
            saturation,
            x: points.x[first],
            value: points.values[first],
            points_after: after.len() as u64,
            longest_break: lengths.max().unwrap_or(0),
            // A failed point lies at no depth. One that ties with the threshold is not broken.
            drop_depth: after
                .iter()
                .filter(|&&value| bar.is_broken(value))
                .fold(0.0, |deepest: f64, &value| deepest.max(depth(value))),
            zeros: after.iter().filter(|value| value.abs() <= 0.0).count() as u64,
            breaks: breaks.iter().map(named).collect(),
        })
    }
}

/// The positions of the first and the last point of each break after a position.
fn breaks(bar: &Bar, values: &[f64], saturated: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (position, &value) in values.iter().enumerate().skip(saturated + 1) {
        if bar.is_broken(value) {
            match found.last_mut() {
                Some((_, last)) if *last + 1 == position => *last = position,
                _ => found.push((position, position)),
            }
        }
    }
    found
}

// Columns.
/// Runs that saturate.
pub(super) const SATURATING: usize = 0;
/// Runs that end worse than they saturated.
pub(super) const DIVERGED: usize = 1;
/// Runs that go on after saturating.
const FOLLOWED: usize = 2;
/// The shares of later points that are not broken.
const KEPT: usize = 3;
const DEPTH: usize = 4;
/// The bits of depths: as depths are not negative, bits are in their order.
const DEEPEST: usize = 5;
const LONGEST: usize = 6;

/// What a run that saturates adds.
pub(super) fn aftermath(_: &Training, run: &Row, terms: &mut Terms<'_>) {
    let Some(after) = &run.strict else { return };
    terms.whole(SATURATING, 1);
    terms.whole(DIVERGED, after.saturation.diverged);
    if after.points_after > 0 {
        terms.whole(FOLLOWED, 1);
        terms.number(KEPT, share(after.points_after - after.saturation.broken, after.points_after));
    }
    terms.number(DEPTH, after.drop_depth);
    // Adding 0 leaves one of the two zeros.
    terms.value(DEEPEST, (after.drop_depth + 0.0).to_bits());
    terms.value(LONGEST, after.longest_break);
}

fn retention(runs: &Runs<'_>) -> Reading {
    let none = match runs.whole(SATURATING) {
        0 => NO_SATURATION,
        _ => "every saturating fold saturates at its last evaluation",
    };
    mean(runs, KEPT, FOLLOWED, none)
}

/// The largest of the values that the saturating runs have in a column.
fn largest(runs: &Runs<'_>, column: usize, read: impl Fn(u64) -> Value) -> Value {
    let largest = runs.values(column).iter().rfind(|(_, times)| *times > 0);
    largest.map_or(Value::undefined(NO_SATURATION), |(value, _)| read(*value))
}
