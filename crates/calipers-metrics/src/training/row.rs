//! What is kept of one run: whole numbers and values as they were read, never a ratio.

use calipers_core::{Result, Stored};
use serde::{Deserialize, Serialize};

use super::curve::points::Points;
use super::protocol::Training;
use super::saturation::aftermath::Aftermath;
use super::saturation::bar::ties;
use super::saturation::first::{Saturation, first_sustained, published};
use super::unit::Curve;

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

/// Counts behind the warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubts {
    /// How many x have two different values.
    pub repeated: u64,
    /// Whether x are epochs with gaps between them.
    pub gaps: bool,
    /// Whether x are epochs or steps that begin late.
    #[serde(default)]
    pub late_start: bool,
    /// How many NaN or infinities were logged where missing values are marked otherwise.
    pub not_finite: u64,
    /// How many values differ from the threshold, but not in single precision, and were compared in double.
    pub single_precision_ties: u64,
}

impl Row {
    /// Measures one run.
    pub(crate) fn of(protocol: &Training, curve: &Curve<'_>) -> Result<Self> {
        let points = Points::new(protocol, curve)?;
        let values = &points.values;
        let last = values.len() - 1;
        let strict = Aftermath::of(protocol, &points);
        let by_preset = if protocol.preset.is_published() {
            published(protocol, &points)
        } else {
            strict.as_ref().map(|aftermath| aftermath.saturation)
        };
        let finite = |value: f64| value.is_finite().then_some(value);
        let better = |best, value| if protocol.direction.better(value, best) { value } else { best };
        let swept = protocol.sweep_thresholds().into_iter();
        let x_key = curve.x_key.to_lowercase();
        let names_epochs = x_key.ends_with("epoch");
        let compared_exactly = points.compared == Stored::Double;
        Ok(Self {
            group: curve.group.into(),
            fold: curve.fold.into(),
            folds: curve.folds,
            epochs: points.number(last),
            points: values.len() as u64,
            by_preset,
            strict,
            sustained: first_sustained(protocol, &points).map(|position| points.number(position)),
            first: finite(values[0]),
            last: finite(values[last]),
            best: values.iter().copied().filter(|value| value.is_finite()).reduce(better),
            sweep: swept.map(|threshold| Saturation::at(protocol, &points, threshold)).collect(),
            doubts: Doubts {
                repeated: points.repeated,
                gaps: names_epochs && points.have_gaps(),
                late_start: (names_epochs || x_key.ends_with("step")) && points.begin_late(),
                not_finite: if curve.marks_missing { points.not_finite } else { 0 },
                single_precision_ties: if compared_exactly { ties(values, protocol.threshold) } else { 0 },
            },
        })
    }
}
