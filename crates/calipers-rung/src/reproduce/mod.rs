//! The numbers of the bias document from one command: train, attack, measure, and say which expectations
//! held.
//!
//! ```text
//! plan          options -> graph and splits, all of it checked before anything is written
//! settings      what finished parts were made with
//! synthetic     a graph that needs no file
//! parts         models/ and flips/, each file whole or not there
//! measured      those files -> an accumulator per penalty
//! expectations  what the document expects, as rules
//! verdicts      which of them held -> expectations.json
//! ```

pub mod expectations;
mod measured;
mod parts;
mod plan;
pub mod settings;
pub mod synthetic;
mod verdicts;
mod watch;

use std::path::PathBuf;

use calipers_core::{Report, Result};
use calipers_metrics::robustness::{Budget, Prepare};
use calipers_sources::output;

pub use self::measured::MeasuredPenalty;
use self::parts::Job;
pub use self::parts::Paths;
use self::plan::Plan;
pub use self::verdicts::Verdicts;
pub use self::watch::{Stage, Unseen};
use crate::files::dataset::{GivenGraph, GraphSource};
use crate::files::splits::SplitSource;
use crate::model::{Attack, Penalty};

/// Budgets by the text they were given as.
pub type Budgets = Vec<(String, Budget)>;

/// What is to be reproduced.
#[derive(Clone, Debug)]
pub struct Options {
    /// The graph; a synthetic one without.
    pub graph: Option<GraphSource>,
    /// A graph in memory instead, and how it is prepared; it is written to `graph.npz` below `out`.
    pub given: Option<(GivenGraph, Prepare)>,
    /// Where splits come from; the masks of the graph file, or one drawn split, without.
    pub splits: Option<SplitSource>,
    /// Which splits; all without.
    pub split: Vec<usize>,
    /// Whether the first split is enough.
    pub one_split: bool,
    /// The seeds of training and attack.
    pub seeds: Vec<u64>,
    /// The penalties to compare.
    pub penalties: Vec<Penalty>,
    /// The shares of edges that may be flipped.
    pub budgets: Budgets,
    /// How often training sees all train nodes.
    pub epochs: u32,
    /// The search; its seed is that of the model.
    pub attack: Attack,
    /// The folder that everything is written to.
    pub out: PathBuf,
    /// Whether finished models and flips are kept.
    pub resume: bool,
}

/// What came out.
#[derive(Debug)]
pub struct Reproduction {
    /// The pairs of each penalty.
    pub penalties: Vec<MeasuredPenalty>,
    /// One report per penalty.
    pub reports: Vec<Report>,
    /// What the document expects, and whether it held.
    pub verdicts: Vec<Verdicts>,
    /// The edges of the clean graph.
    pub edges: u64,
}

impl Options {
    /// How many parts there are to make for so many splits.
    pub fn parts(&self, splits: usize) -> usize {
        splits * self.seeds.len() * self.penalties.len() * (1 + self.budgets.len())
    }

    /// The penalties as figures and messages call them: with the form of the weights where there are several.
    pub fn labels(&self) -> Vec<String> {
        let several = self.penalties.iter().any(|penalty| penalty.weights() != self.penalties[0].weights());
        let label = |penalty: &Penalty| match several {
            true => format!("{}-{}", penalty.kind(), penalty.weights()),
            false => penalty.kind().to_string(),
        };
        self.penalties.iter().map(label).collect()
    }
}

/// Trains, attacks and measures; models, flips and verdicts are written below `options.out`.
///
/// # Errors
/// Wrong options, inputs that cannot be read, a folder that holds other results, a model that fails.
pub fn run(options: &Options, threads: usize, stage: &dyn Stage) -> Result<Reproduction> {
    let plan = Plan::new(options)?;
    let labels = options.labels();
    stage.start(options.parts(plan.chosen.len()));
    make_parts(options, &plan, &labels, threads, stage)?;
    let penalties = measured::measure(options, &plan, &labels, threads)?;
    let reports: Vec<Report> = penalties.iter().map(|penalty| penalty.accumulator.finish()).collect();
    let verdicts = verdicts::of(&reports, &penalties, options, &plan.dataset);
    output::write(&options.out.join("expectations.json"), verdicts::json(&verdicts).as_bytes())?;
    Ok(Reproduction { penalties, reports, verdicts, edges: plan.dataset.graph.edges() as u64 })
}

fn make_parts(
    options: &Options,
    plan: &Plan,
    labels: &[String],
    threads: usize,
    stage: &dyn Stage,
) -> Result<()> {
    let dataset = &plan.dataset;
    for (number, split) in &plan.chosen {
        for &seed in &options.seeds {
            for (penalty, label) in options.penalties.iter().zip(labels) {
                Job { options, dataset, penalty, label, number: *number, split, seed }.run(threads, stage)?;
            }
        }
    }
    Ok(())
}
