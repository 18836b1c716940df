//! What is kept of one run: whole numbers and values as they were read, never a ratio.

use serde::{Deserialize, Serialize};

/// One measured run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The configuration it belongs to.
    pub group: String,
    /// Which fold of the configuration it is.
    pub fold: String,
    /// How many folds a file of runs lists for the configuration.
    pub folds: Option<u32>,
    /// The number of the last point, n_epoch.
    pub epochs: u64,
    /// How many points there are.
    pub points: u64,
    /// The first saturation by the rule of the preset; `None` if the run never saturates.
    pub by_preset: Option<Saturation>,
    /// The first saturation by the strict rule, and what followed.
    pub strict: Option<Aftermath>,
    /// The number of the first point of a sustained saturation.
    pub sustained: Option<u64>,
    /// The first value; `None` when it is not finite.
    pub first: Option<f64>,
    /// The last value; `None` when it is not finite.
    pub last: Option<f64>,
    /// The best value; `None` when none is finite.
    pub best: Option<f64>,
    /// The first saturation at each threshold of the sweep, thresholds ascending.
    pub sweep: Vec<Option<Saturation>>,
    /// What looks wrong.
    pub doubts: Doubts,
}

/// The first saturation of a run and what it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saturation {
    /// The number of the point.
    pub number: u64,
    /// How many later points are broken.
    pub broken: u64,
    /// Whether the run ends worse than it saturated.
    pub diverged: bool,
}

/// The first saturation by the strict rule, and what followed.
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

/// Counts behind the warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubts {
    /// How many x have two different values.
    pub repeated: u64,
    /// Whether x are epochs with gaps between them.
    pub gaps: bool,
    /// How many NaN or infinities were logged where missing values are marked otherwise.
    pub not_finite: u64,
    /// How many values differ from the threshold but not in single precision.
    pub single_precision_ties: u64,
}
