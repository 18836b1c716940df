//! Models side by side: plain data, and the forms people read or script against.
//!
//! ```text
//! Comparison --json-----> one object a comparison
//!            --lines----> csv, markdown, latex
//!            --joint----> one table of all models, where there are three
//!            --ranks----> who is best, where there are three models
//!            --terminal-> the table on a terminal
//!            --page-----> a section of a page
//! ```

mod joint;
mod json;
mod lines;
mod page;
mod pictures;
mod ranks;
mod terminal;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use calipers_core::resample::{Bootstrap, Drawn};
use calipers_core::{Better, InputFiles, Value, Warning};
use serde_json::{Map, Value as Json};

pub use json::write as json;
pub use lines::{csv, latex, markdown};
pub use page::section;
pub use ranks::{Rank, Ranking, Ranks, ToBest};
pub use terminal::write as terminal;

use crate::chart::Picture;
use crate::grid::Grid;
use crate::table::{Digits, Spread};

/// What the tables of comparisons show, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// Ranks by every number, not only by the one that is compared first.
    pub all: bool,
    /// How intervals are written.
    pub spread: Spread,
}

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
    /// The names of the sampling units, stratum after stratum.
    pub unit_names: Vec<String>,
    /// The models, the first one to compare with.
    pub models: Vec<Model>,
    /// What intervals were drawn from; as many random sign patterns were tried.
    pub drawn: Drawn,
    /// What the family draws of all models together.
    pub pictures: Vec<Picture>,
    /// The numbers, in report order.
    pub lines: Vec<Line>,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
    /// The files that were read beside the models.
    pub inputs: InputFiles,
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
    /// The least and the greatest that the number can be.
    pub range: [f64; 2],
    /// A number or a reason of each model.
    pub values: Vec<Value>,
    /// Each later model against the first; `None` where one of the two has no number.
    pub against: Vec<Option<Difference>>,
    /// The order of the models, where at least three have the number.
    pub ranks: Option<Ranking>,
}

/// What sets a later model apart from the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its number less that of the first.
    pub difference: f64,
    /// The paired bootstrap interval of the difference.
    pub interval: Option<[f64; 2]>,
    /// Why it is a percentile interval although another method was asked for.
    pub fell_back: Option<Cow<'static, str>>,
    /// What single sampling units say; `None` where the metric has no number of a single unit.
    pub paired: Option<Paired>,
}

/// What single sampling units say.
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
        1.0 - self.drawn.bootstrap.confidence
    }

    /// The level as people write it.
    fn level_text(&self) -> String {
        let text = format!("{:.12}", self.level());
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// The share that an interval claims, in percent.
    fn share(&self) -> String {
        let share = crate::number::shortest(self.drawn.bootstrap.confidence * 100.0);
        share.strip_suffix(".0").unwrap_or(&share).to_owned()
    }

    /// What the columns mean, in a sentence.
    fn method(&self) -> String {
        let Bootstrap { resamples, seed, method, .. } = self.drawn.bootstrap;
        let (share, unit) = (self.share(), &self.drawn.sampling_unit);
        let mut text = String::new();
        if self.lines.iter().any(|line| line.against.iter().flatten().any(|found| found.interval.is_some())) {
            let clusters = match &self.drawn.cluster_by {
                Some(rule) if unit == "cluster" => format!(" by {rule}"),
                _ => String::new(),
            };
            text = format!(
                "{share} % intervals of the difference ({}) from {resamples} paired resamples of the {unit}s{clusters}, \
                 seed {seed}",
                method.name()
            );
        }
        let tests = match self.tests() {
            0 => return text,
            1 => "1 test".into(),
            tests => format!("{tests} tests"),
        };
        let before = if text.is_empty() { "" } else { "; " };
        format!(
            "{text}{before}p of a two-sided permutation test of the mean difference per {unit} (every sign pattern up \
             to 20 differences, else {resamples} random ones); p adj. after Holm's correction for {tests}, which \
             bounds the chance of even one false claim whatever the metrics have to do with each other"
        )
    }

    /// Whether chance does not explain a difference at this level.
    fn is_clear(&self, found: &Difference) -> bool {
        found.paired.as_ref().is_some_and(|paired| paired.adjusted <= self.level())
    }

    /// What the marks mean that occur in the table of a later model.
    fn legend(&self, other: usize) -> Option<String> {
        let best = self.lines.iter().any(|line| {
            let best = line.best();
            [0, other + 1].iter().any(|model| line.is_best(*model, best))
        });
        let clear = self.lines.iter().filter_map(|line| line.against[other].as_ref());
        let clear = clear.into_iter().any(|found| self.is_clear(found));
        let star = format!(
            "{STAR} p adj. at most {}: a difference to {} that chance does not explain",
            self.level_text(),
            self.models[0].name
        );
        let marks: Vec<String> =
            [best.then(|| format!("{BEST} best value of the line")), clear.then_some(star)]
                .into_iter()
                .flatten()
                .collect();
        (!marks.is_empty()).then(|| marks.join("; "))
    }
}

/// A table of all models: its title, its rows, and what its marks mean.
struct Titled {
    title: String,
    grid: Grid,
    notes: Vec<String>,
}

/// Before the best value of a line.
const BEST: &str = ">";
/// Behind a p-value that chance does not explain.
const STAR: &str = "*";

impl Difference {
    /// The interval as it is asked for.
    fn spread(&self, digits: Digits, spread: Spread) -> Option<String> {
        let [low, high] = self.interval?;
        Some(match spread {
            Spread::Brackets => format!("[{}, {}]", digits.signed(low), digits.signed(high)),
            Spread::PlusMinus => digits.spread(spread, self.difference, [low, high]),
        })
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

    /// The format of the numbers of a later model and of the first: as sure as their difference is.
    fn digits(&self, other: usize) -> Digits {
        let numbers = [0, other + 1].map(|model| self.values[model].as_f64().unwrap_or_default().abs());
        let largest = numbers[0].max(numbers[1]);
        Digits::alone(largest, self.against[other].as_ref().and_then(|found| found.interval))
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

    /// Whether a model has the best number.
    fn is_best(&self, model: usize, best: Option<f64>) -> bool {
        let own = self.values[model].as_f64();
        own.zip(best).is_some_and(|(own, best)| own.total_cmp(&best).is_eq())
    }

    /// Why models have no number, each reason once.
    fn reasons<'a>(&'a self, models: &'a [Model]) -> impl Iterator<Item = (&'a str, &'a str)> {
        let named = self.values.iter().zip(models);
        named.filter_map(|(value, model)| Some((value.reason()?, model.name.as_str())))
    }
}
