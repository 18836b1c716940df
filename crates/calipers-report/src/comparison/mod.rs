//! Models side by side: plain data, and the forms people read or script against.
//!
//! ```text
//! Comparison --json-----> one object a comparison
//!            --lines----> csv, markdown, latex
//!            --terminal-> the table on a terminal
//!            --page-----> a section of a page
//! ```

mod json;
mod lines;
mod page;
mod pictures;
mod terminal;
#[cfg(test)]
mod tests;

use calipers_core::resample::Bootstrap;
use calipers_core::{Better, Value, Warning};
use serde_json::{Map, Value as Json};

pub use json::write as json;
pub use lines::{csv, latex, markdown};
pub use page::section;
pub use terminal::write as terminal;

/// What a page of comparisons is called.
pub const TITLE: &str = "Models compared";

/// Models measured alike over the same units; every difference is that of a later model to the
/// first one.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The version of Calipers that made it.
    pub version: String,
    /// The family of metrics.
    pub family: String,
    /// What was measured, where the protocol has a label for it.
    pub subject: Option<String>,
    /// How many units each model has.
    pub units: u64,
    /// Their names, in key order.
    pub unit_names: Vec<String>,
    /// The models, the first one to compare with.
    pub models: Vec<Model>,
    /// How intervals were drawn; as many random sign patterns were tried.
    pub bootstrap: Bootstrap,
    /// The numbers, in report order.
    pub lines: Vec<Line>,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

/// A model of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What tables call it.
    pub name: String,
    /// The file it came from, or what else it is.
    pub source: String,
    /// How its predictions are read.
    pub reading: Map<String, Json>,
}

/// One number of every model.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The full id of the metric.
    pub id: String,
    /// The class, group or type, where the metric has a number for each.
    pub label: Option<String>,
    /// Which direction is better.
    pub better: Better,
    /// A number or a reason of each model.
    pub values: Vec<Value>,
    /// Each later model against the first; `None` where one of the two has no number.
    pub against: Vec<Option<Difference>>,
}

/// What sets a later model apart from the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its number less that of the first.
    pub difference: f64,
    /// The paired bootstrap interval of the difference.
    pub interval: Option<[f64; 2]>,
    /// What single units say; `None` where the metric has no number of a single unit.
    pub paired: Option<Paired>,
}

/// What single units say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paired {
    /// Units where the later model is better.
    pub wins: u64,
    /// Units where both are equal.
    pub ties: u64,
    /// Units where the first model is better.
    pub losses: u64,
    /// Units where one of the two has no number; no test takes them in.
    pub left_out: u64,
    /// The p-value of the exact sign test.
    pub sign: f64,
    /// The p-value of the permutation test.
    pub permutation: f64,
    /// Whether every sign pattern was tried.
    pub exact: bool,
    /// The permutation p-value after Holm's correction over all tests of the comparison.
    pub adjusted: f64,
    /// The units that differ most, the farthest first.
    pub most: Vec<UnitPair>,
    /// The numbers of every unit under the first and the later model, in key order; `None` where one of
    /// the two is missing.
    pub numbers: Vec<Option<[f64; 2]>>,
}

/// The numbers of one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitPair {
    /// The unit.
    pub unit: String,
    /// Its number under the first model.
    pub first: f64,
    /// Its number under the later model.
    pub other: f64,
}

impl Comparison {
    /// How many tests were corrected for.
    pub fn tests(&self) -> usize {
        self.lines
            .iter()
            .flat_map(|line| line.against.iter().flatten())
            .filter(|d| d.paired.is_some())
            .count()
    }

    /// The level below which an adjusted p-value is called significant.
    fn level(&self) -> f64 {
        1.0 - self.bootstrap.confidence
    }

    /// What the columns of tests mean, in a sentence.
    fn method(&self) -> String {
        let Bootstrap { resamples, confidence, seed, .. } = self.bootstrap;
        let share = crate::number::shortest(confidence * 100.0);
        let share = share.strip_suffix(".0").unwrap_or(&share);
        let tests = match self.tests() {
            1 => "1 test".into(),
            tests => format!("{tests} tests"),
        };
        format!(
            "{share} % intervals of the difference from {resamples} paired resamples of the units, seed {seed}; \
             p of a two-sided permutation test of the mean difference per unit (every sign pattern up to 20 \
             differences, else {resamples} random ones); p adj. after Holm's correction for {tests}, which \
             bounds the chance of even one false claim whatever the metrics have to do with each other"
        )
    }
}

impl Line {
    /// The id without its family, and the label behind a point.
    fn name(&self) -> String {
        let id = self.id.split_once('.').map_or(self.id.as_str(), |(_, id)| id);
        match &self.label {
            Some(label) => format!("{id}.{label}"),
            None => id.into(),
        }
    }

    /// The best of the numbers, unless all are alike; never a model without one.
    fn best(&self) -> Option<f64> {
        let numbers = self.values.iter().filter_map(Value::as_f64);
        let first = numbers.clone().next()?;
        if numbers.clone().count() > 1 && numbers.clone().all(|number| number.total_cmp(&first).is_eq()) {
            return None;
        }
        match self.better {
            Better::Higher => numbers.max_by(f64::total_cmp),
            Better::Lower => numbers.min_by(f64::total_cmp),
            Better::Neither => None,
        }
    }

    /// Why models have no number, each reason once.
    fn reasons<'a>(&'a self, models: &'a [Model]) -> impl Iterator<Item = (&'a str, &'a str)> {
        let named = self.values.iter().zip(models);
        named.filter_map(|(value, model)| Some((value.reason()?, model.name.as_str())))
    }
}
