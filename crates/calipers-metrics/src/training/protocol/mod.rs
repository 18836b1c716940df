//! The parameters of the family: everything that changes a number.

pub(super) mod parameters;

use std::collections::BTreeMap;

use calipers_core::resample::{Bootstrap, Draws, Method, Sampled, Sampling};
use calipers_core::{Column, Error, Metric, Protocol, Provenance, Result, Rows, Warning};
use serde::{Deserialize, Serialize};

use self::parameters::{Direction, Duplicates, Index, Nan, Precision, Preset, Restarts, StabilityReading};
use super::columns::COLUMNS;
use super::metrics::METRICS;
use super::row::Row;
use super::saturation::explain::explain;
use super::unit::Curve;
use super::warnings::warnings;

/// How many folds a published table has.
const TABLE_FOLDS: u64 = 5;

/// How training runs are measured. Serialised, it is the report's `protocol`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Which formulas.
    pub preset: Preset,
    /// The key of the values.
    pub metric: String,
    /// What tables call it.
    pub label: String,
    /// The value beyond which a run is saturated.
    pub threshold: f64,
    /// What every value is divided by first.
    pub scale: f64,
    /// Which values are better.
    pub direction: Direction,
    /// Whether the threshold itself is saturated.
    pub inclusive: bool,
    /// The key of x, or `auto`.
    pub x: String,
    /// How a point is numbered.
    pub index: Index,
    /// The x of the first epoch, where points are numbered by epoch.
    pub first_epoch: i64,
    /// What counts of several values at one x.
    pub duplicates: Duplicates,
    /// What a logged NaN or infinity is.
    pub nan: Nan,
    /// Where the configuration of a run comes from, as it was asked for.
    pub group_by: String,
    /// Where the fold of a run comes from, as it was asked for.
    pub fold_by: String,
    /// The declared number of folds.
    pub folds: Option<u32>,
    /// How many consecutive saturated points make a sustained saturation.
    pub sustain: u32,
    /// The factor on the length of a run that never saturates, in `velocity_par`.
    pub par: u32,
    /// Up to which epoch `velocity_rmst` measures; `None`: to the end of the longest run.
    pub horizon: Option<u64>,
    /// Further thresholds to measure at.
    pub sweep: Vec<f64>,
    /// How many resamples an interval is made from; 0: no intervals.
    pub bootstrap: u32,
    /// The seed of the resamples.
    pub seed: u64,
    /// The share of resamples an interval holds.
    pub confidence: f64,
    /// What a later session of a run does to the earlier ones.
    #[serde(default)]
    pub restarts: Restarts,
    /// The precision in which a value meets the threshold.
    #[serde(default)]
    pub precision: Precision,
    /// What a stability means under the preset.
    pub stability_reading: StabilityReading,
}

impl Training {
    /// The defaults of a preset, for no metric yet.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            metric: String::new(),
            label: String::new(),
            threshold: 0.9,
            scale: 1.0,
            direction: Direction::Max,
            inclusive: false,
            x: "auto".into(),
            index: Index::Evaluation,
            first_epoch: 0,
            duplicates: Duplicates::Last,
            nan: Nan::Missing,
            group_by: "none".into(),
            fold_by: "auto".into(),
            folds: None,
            sustain: 3,
            par: 10,
            horizon: None,
            sweep: Vec::new(),
            bootstrap: 0,
            seed: 0,
            confidence: 0.95,
            restarts: Restarts::Auto,
            precision: Precision::Stored,
            stability_reading: preset.stability_reading(),
        }
    }

    /// The protocol itself, unless its parameters are impossible or contradict each other.
    pub fn checked(self) -> Result<Self> {
        let numbers = [("the threshold", self.threshold), ("the scale", self.scale)];
        let swept = self.sweep.iter().map(|&threshold| ("a threshold of the sweep", threshold));
        for (name, value) in numbers.into_iter().chain(swept) {
            if !value.is_finite() {
                return Err(Error::usage(format!("{name} must be a finite number")).found(value));
            }
        }
        let refuse = [
            (self.scale.abs() <= 0.0, "values cannot be divided by a scale of 0"),
            (self.sustain == 0, "a sustained saturation needs at least 1 point"),
            (self.folds == Some(0), "a group has at least 1 fold"),
            (!(self.confidence > 0.0 && self.confidence < 1.0), "the confidence must lie between 0 and 1"),
        ];
        if let Some((_, what)) = refuse.iter().find(|(refused, _)| *refused) {
            return Err(Error::usage(*what));
        }
        if self.restarts == Restarts::Append && self.index == Index::Epoch {
            return Err(Error::usage("sessions that are put one after the other have no epochs")
                .found("--restarts append and --index epoch")
                .allowed("--restarts overlay, rewind or runs with --index epoch"));
        }
        let refused = |what: &str, found: &str| {
            Error::usage(what).at(format!("preset {}", self.preset.name())).found(found)
        };
        let advice = "choose the preset strict, document or revised";
        if self.preset.is_published() && self.direction == Direction::Min {
            return Err(refused("the published programs take higher values as better", "direction min")
                .advice(advice));
        }
        if self.preset.is_published() && self.nan == Nan::Fail {
            return Err(refused("the published programs know no failed points", "nan fail")
                .allowed("missing or error")
                .advice(advice));
        }
        Ok(self)
    }

    /// Refuses a group with more runs than folds were declared.
    pub fn check_folds(&self, rows: &Rows<'_, Row>) -> Result<()> {
        let Some(folds) = self.folds else { return Ok(()) };
        let mut runs: BTreeMap<&str, u64> = BTreeMap::new();
        rows.iter().for_each(|row| *runs.entry(&row.group).or_default() += 1);
        match runs.into_iter().find(|(_, runs)| *runs > folds.into()) {
            None => Ok(()),
            Some((group, runs)) => Err(Error::value("a group has more runs than folds were declared")
                .at(format!("group {group}"))
                .found(format!("{runs} runs"))
                .allowed(format!("at most {folds}, as declared with --folds"))
                .advice("declare more folds, or separate the configurations with --group-by")),
        }
    }

    /// How many folds the protocol says there are.
    pub(crate) fn declared_folds(&self) -> Option<u64> {
        let table = self.preset.is_table().then_some(TABLE_FOLDS);
        self.folds.map_or(table, |folds| Some(folds.into()))
    }

    /// The thresholds of the sweep, ascending, each once.
    pub(crate) fn sweep_thresholds(&self) -> Vec<f64> {
        let mut thresholds = self.sweep.clone();
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup_by_key(|threshold| threshold.to_bits());
        thresholds
    }
}

impl Default for Training {
    fn default() -> Self {
        Self::new(Preset::Strict)
    }
}

impl Protocol for Training {
    const NAME: &'static str = "training";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
    const READING_PARAMETERS: &'static [&'static str] =
        &["metric", "label", "scale", "x", "group_by", "fold_by", "bootstrap", "seed", "confidence"];

    // Groups are other experiments: each is drawn as if it were alone.
    const SAMPLING: Sampling = Sampling { unit: "run", draws: Draws::Separate, by_folder: false };

    type Unit<'a> = Curve<'a>;
    type Row = Row;

    fn measure(&self, _: &str, curve: Curve<'_>) -> Result<Row> {
        Row::of(self, &curve)
    }

    fn check(&self) -> Result<()> {
        self.check_stored()
    }

    fn check_row(&self, row: &Row) -> Result<()> {
        row.check(self)
    }

    fn sampled<'a>(&self, unit: &'a str, row: &'a Row) -> Sampled<'a> {
        Sampled { unit, part: &row.group }
    }

    fn bootstrap(&self) -> Option<Bootstrap> {
        let Self { bootstrap: resamples, seed, confidence, .. } = *self;
        (resamples > 0).then_some(Bootstrap { resamples, confidence, seed, method: Method::default() })
    }

    fn resample_as(&mut self, bootstrap: &Bootstrap) {
        (self.bootstrap, self.seed, self.confidence) =
            (bootstrap.resamples, bootstrap.seed, bootstrap.confidence);
    }

    fn explain_unit(&self, row: &Row) -> Option<String> {
        Some(explain(self, row))
    }

    fn same_truth(&self, a: &Row, b: &Row) -> bool {
        // A curve is all measurement: only where it belongs and how long it is was known before.
        let known = |row: &Row| (row.group.clone(), row.fold.clone(), row.folds, row.epochs, row.points);
        known(a) == known(b)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
        warnings(self, rows, provenance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::ErrorKind;

    #[test]
    fn parameters_print_in_the_order_of_the_report_and_read_back() {
        let training = Training { metric: "val_F1".into(), ..Training::new(Preset::Revised) };
        let written = serde_json::to_value(&training).unwrap();
        let keys: Vec<&str> = written.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = "preset metric label threshold scale direction inclusive x index first_epoch duplicates \
                        nan group_by fold_by folds sustain par horizon sweep bootstrap seed confidence \
                        restarts precision stability_reading";
        assert_eq!(keys.join(" "), expected);
        assert_eq!(written["stability_reading"], "one minus the share; 1 is steady");
        assert_eq!(serde_json::from_value::<Training>(written).unwrap(), training);
        let strict = serde_json::to_value(Training::default()).unwrap();
        assert_eq!(strict["stability_reading"], "share of broken epochs; 0 is steady");
    }

    #[test]
    fn impossible_parameters_are_wrong_usage() {
        let good = Training::default();
        let published = Training::new(Preset::Table20240425);
        let bad = [
            Training { threshold: f64::NAN, ..good.clone() },
            Training { scale: 0.0, ..good.clone() },
            Training { sustain: 0, ..good.clone() },
            Training { folds: Some(0), ..good.clone() },
            Training { sweep: vec![0.5, f64::INFINITY], ..good.clone() },
            Training { confidence: 1.0, ..good.clone() },
            Training { direction: Direction::Min, ..published.clone() },
            Training { nan: Nan::Fail, ..published.clone() },
            Training { restarts: Restarts::Append, index: Index::Epoch, ..good.clone() },
        ];
        for training in bad {
            assert_eq!(training.checked().unwrap_err().kind(), ErrorKind::Usage);
        }
        good.checked().unwrap();
        published.checked().unwrap();
    }

    #[test]
    fn the_sweep_is_ascending_and_has_each_threshold_once() {
        let training = Training { sweep: vec![0.9, 0.5, 0.9], ..Training::default() };
        assert_eq!(training.sweep_thresholds(), [0.5, 0.9]);
    }
}
