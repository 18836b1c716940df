//! Numbers or reasons: the runs of each group, and how their values become one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use calipers_core::exact::exact_sum;
use calipers_core::exact::rounded_quotient;
use calipers_core::{Rows, Value};

use super::protocol::{Preset, Training};
use super::row::{Aftermath, Row};
use super::survival::{Lifetime, Survival};

/// Why there is no value.
pub(crate) type Reason = Cow<'static, str>;

/// A number, or why there is none.
pub(crate) type Reading = Result<f64, Reason>;

pub(crate) const NO_SATURATION: Reason = Cow::Borrowed("no fold saturates");
pub(crate) const NO_BROKEN_STEP: Reason = Cow::Borrowed("no fold has a broken step");
pub(crate) const STRICT_ONLY: Reason = Cow::Borrowed("script-2025 publishes the strict aggregation only");

/// How many folds a published table has.
const TABLE_FOLDS: u64 = 5;

/// How many folds a reason names.
const NAMED: usize = 50;

/// The runs of one group in key order, read under a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'r, 'a> {
    pub(crate) protocol: &'r Training,
    pub(crate) runs: &'r [&'a Row],
}

/// The runs by group, groups in byte order.
pub(crate) fn groups<'a>(rows: &Rows<'a, Row>) -> Vec<(&'a str, Vec<&'a Row>)> {
    let mut found: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    let rows: Vec<&Row> = rows.iter().collect();
    for same in rows.chunk_by(|a, b| a.group == b.group) {
        found.entry(&same[0].group).or_default().extend(same);
    }
    found.into_iter().collect()
}

/// One value for each group.
pub(crate) fn by_group(
    protocol: &Training,
    rows: &Rows<'_, Row>,
    read: impl Fn(&Group<'_, '_>) -> Value,
) -> Value {
    let one = |(name, runs): (&str, Vec<&Row>)| (name.into(), read(&Group { protocol, runs: &runs }));
    Value::PerLabel(groups(rows).into_iter().map(one).collect())
}

/// What a report prints for a number.
pub(crate) fn number(reading: Reading) -> Value {
    reading.map_or_else(Value::Undefined, Value::Number)
}

/// How the values of the folds become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregation {
    /// Every fold must have one.
    Strict,
    /// Over the folds that have one.
    Wise,
    /// Divided by the number of all folds.
    Naive,
}

impl<'a> Group<'_, 'a> {
    /// n_f: how many folds there are or should be.
    pub(crate) fn folds(&self) -> u64 {
        let listed = || self.runs.iter().find_map(|run| run.folds).map(u64::from);
        table_folds(self.protocol).or_else(listed).unwrap_or(self.runs.len() as u64)
    }

    /// The reason why strict aggregations have no value: a fold without a run, or more runs than
    /// were declared. The five folds of the published tables are a divisor, not a declaration.
    pub(crate) fn all_present(&self) -> Result<(), Reason> {
        let more = self.runs.len() as u64 > self.folds();
        if more && self.protocol.folds.is_none() { Ok(()) } else { self.one_run_a_fold() }
    }

    /// The reason why folds cannot be counted: there are fewer or more runs.
    fn one_run_a_fold(&self) -> Result<(), Reason> {
        let (present, folds) = (self.runs.len() as u64, self.folds());
        if present == folds { Ok(()) } else { Err(format!("{present} of {folds} folds present").into()) }
    }

    /// The runs that saturate by the strict rule, with what followed.
    pub(crate) fn saturating(&self) -> impl Iterator<Item = &'a Aftermath> + Clone + '_ {
        self.runs.iter().filter_map(|run| run.strict.as_ref())
    }

    /// The first saturations by the strict rule.
    pub(crate) fn epochs_to_saturation(&self) -> impl Iterator<Item = u64> + Clone + '_ {
        self.saturating().map(|aftermath| aftermath.saturation.number)
    }

    /// The epochs of runs that never saturate.
    pub(crate) fn epochs_without(&self) -> impl Iterator<Item = u64> + Clone + '_ {
        self.runs.iter().filter(|run| run.strict.is_none()).map(|run| run.epochs)
    }

    /// The survival curve of the group.
    pub(crate) fn survival(&self) -> Survival {
        let lifetime = |run: &&Row| match &run.strict {
            Some(aftermath) => Lifetime { epoch: aftermath.saturation.number, saturates: true },
            None => Lifetime { epoch: run.epochs, saturates: false },
        };
        Survival::new(self.runs.iter().map(lifetime).collect())
    }

    /// The velocity V by the preset, in epochs.
    pub(crate) fn velocity(&self, aggregation: Aggregation) -> Reading {
        let number = |run: &Row| run.by_preset.map(|saturation| saturation.number);
        let total = |values: &[u64]| whole(values.iter().copied());
        self.aggregate(aggregation, number, |values, count| rounded_quotient(total(values), count))
    }

    /// The velocity V by the preset, as a share of the run.
    pub(crate) fn normalised_velocity(&self, aggregation: Aggregation) -> Reading {
        let share = |run: &Row| run.by_preset.map(|saturation| quotient(saturation.number, run.epochs));
        self.aggregate(aggregation, share, |values, count| exact_sum(values.iter().copied()) / count as f64)
    }

    fn aggregate<T>(
        &self,
        aggregation: Aggregation,
        value: impl Fn(&Row) -> Option<T>,
        mean: impl Fn(&[T], i128) -> f64,
    ) -> Reading {
        if aggregation != Aggregation::Strict && self.protocol.preset == Preset::Script2025 {
            return Err(STRICT_ONLY);
        }
        let values: Vec<T> = self.runs.iter().filter_map(|run| value(run)).collect();
        match aggregation {
            Aggregation::Strict => {
                self.all_present()?;
                self.none_lacks("never saturates", |run| value(run).is_none())?;
                Ok(mean(&values, self.folds().into()))
            }
            _ if values.is_empty() => Err(NO_SATURATION),
            Aggregation::Wise => Ok(mean(&values, values.len() as i128)),
            Aggregation::Naive => Ok(mean(&values, self.folds().into())),
        }
    }

    /// The stability S by the preset.
    pub(crate) fn stability(&self, aggregation: Aggregation) -> Reading {
        let preset = self.protocol.preset;
        if aggregation != Aggregation::Strict && preset == Preset::Script2025 {
            return Err(STRICT_ONLY);
        }
        if aggregation != Aggregation::Strict && preset == Preset::Document {
            let any_broken = self.runs.iter().any(|run| has_broken(run));
            return if any_broken { self.velocity(aggregation) } else { Err(NO_BROKEN_STEP) };
        }
        let values: Vec<f64> = self.runs.iter().filter_map(|run| stability(preset, run)).collect();
        let total = || exact_sum(values.iter().copied());
        match aggregation {
            Aggregation::Strict => {
                self.all_present()?;
                let lacking = match preset {
                    Preset::Table20240424 => "no broken step or never saturates",
                    _ => "never saturates",
                };
                self.none_lacks(lacking, |run| stability(preset, run).is_none())?;
                if preset == Preset::Document {
                    let condition = "the document's condition asks for broken steps in every fold; none in";
                    self.none_lacks_named(condition, " fold ", |run| !has_broken(run))?;
                }
                Ok(total() / self.folds() as f64)
            }
            _ if values.is_empty() => {
                Err(if preset == Preset::Table20240424 { NO_BROKEN_STEP } else { NO_SATURATION })
            }
            Aggregation::Wise => Ok(total() / values.len() as f64),
            Aggregation::Naive => Ok(total() / self.folds() as f64),
        }
    }

    /// How many folds diverge by the preset.
    pub(crate) fn divergence(&self, aggregation: Aggregation) -> Result<i128, Reason> {
        if aggregation == Aggregation::Strict {
            self.one_run_a_fold()?;
        } else if self.protocol.preset == Preset::Script2025 {
            return Err(STRICT_ONLY);
        }
        let diverged = |run: &&&Row| run.by_preset.is_some_and(|saturation| saturation.diverged);
        Ok(self.runs.iter().filter(diverged).count() as i128)
    }

    /// Refuses when a run lacks something, naming the folds.
    pub(crate) fn none_lacks(&self, what: &str, lacks: impl Fn(&Row) -> bool) -> Result<(), Reason> {
        self.none_lacks_named(what, ": fold ", lacks)
    }

    fn none_lacks_named(&self, what: &str, link: &str, lacks: impl Fn(&Row) -> bool) -> Result<(), Reason> {
        let lacking: Vec<&str> =
            self.runs.iter().filter(|run| lacks(run)).map(|run| run.fold.as_str()).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let more = match lacking.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = lacking[..lacking.len().min(NAMED)].join(", ");
        Err(format!("{what}{link}{named}{more}").into())
    }
}

/// How many folds the protocol says there are.
pub(crate) fn table_folds(protocol: &Training) -> Option<u64> {
    let table = protocol.preset.is_table().then_some(TABLE_FOLDS);
    protocol.folds.map(u64::from).or(table)
}

fn has_broken(run: &Row) -> bool {
    run.by_preset.is_some_and(|saturation| saturation.broken > 0)
}

/// The stability S of one run by the preset.
pub(crate) fn stability(preset: Preset, run: &Row) -> Option<f64> {
    let broken = run.by_preset.map(|saturation| saturation.broken);
    let kept = |broken: u64| quotient(run.epochs - broken, run.epochs);
    match preset {
        Preset::Strict | Preset::Document => broken.map(|broken| quotient(broken, run.epochs)),
        Preset::Revised => broken.map(kept),
        Preset::Table20240424 => {
            broken.filter(|broken| *broken > 0).map(|broken| quotient(broken, run.epochs))
        }
        Preset::Table20240425 | Preset::Script2025 => Some(broken.map_or(0.0, kept)),
    }
}

/// One correctly rounded division of whole numbers.
pub(crate) fn quotient(numerator: u64, divisor: u64) -> f64 {
    rounded_quotient(numerator.into(), divisor.into())
}

/// The exact sum of whole numbers.
pub(crate) fn whole(values: impl IntoIterator<Item = u64>) -> i128 {
    values.into_iter().map(i128::from).sum()
}

/// The mean of numbers: their exact sum rounded once, then one division; the reason without any.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>, none: Reason) -> Reading {
    let values: Vec<f64> = values.into_iter().collect();
    let count = values.len() as f64;
    if values.is_empty() { Err(none) } else { Ok(exact_sum(values) / count) }
}

/// The mean of whole numbers; the reason without any.
pub(crate) fn whole_mean(values: impl Iterator<Item = u64> + Clone, none: Reason) -> Reading {
    let count = values.clone().count() as i128;
    if count == 0 { Err(none) } else { Ok(rounded_quotient(whole(values), count)) }
}
