//! The figures of the bias document from one command: train, attack, measure, draw, and say which
//! expectations held.
//!
//! ```text
//! settings   what finished parts were made with
//! synthetic  a graph that needs no file
//! parts      models/ and flips/, each file whole or not there
//! measured   layout B over those files -> a report per penalty
//! tables     what figure6.csv holds
//! verdicts   expectations.json
//! figures    figure6 and figure7 as .csv, .svg and .png, index.html
//! ```

mod figures;
mod measured;
mod parts;
pub mod settings;
pub mod synthetic;
mod tables;
mod verdicts;
mod watch;

use std::path::PathBuf;

use calipers_core::{Error, Report, Result};
use calipers_metrics::robustness::protocol::Prepare;
use calipers_metrics::robustness::unit::Budget;
use calipers_models::{Attack, Penalty};
use calipers_report::json;

use self::parts::Job;
use self::settings::Settings;
pub use self::verdicts::Verdicts;
pub use self::watch::{Stage, Unseen};
use crate::inputs::Inputs;
use crate::output;
use crate::sources::robustness::layout_b::dataset::{Dataset, GraphSource};
use crate::sources::robustness::layout_b::splits::{NodeSplit, SHARES, SplitSource, Splits};

/// Budgets by the text they were given as.
pub type Budgets = Vec<(String, Budget)>;

/// What is to be reproduced.
#[derive(Clone, Debug)]
pub struct Options {
    /// The graph; a synthetic one without.
    pub graph: Option<GraphSource>,
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
    /// One report per penalty.
    pub reports: Vec<Report>,
    /// What the document expects, and whether it held.
    pub verdicts: Vec<Verdicts>,
}

impl Options {
    /// How many parts there are to make for so many splits.
    pub fn parts(&self, splits: usize) -> usize {
        splits * self.seeds.len() * self.penalties.len() * (1 + self.budgets.len())
    }

    /// The penalties by the names of their folders: with the form of the weights where there are several.
    fn labels(&self) -> Vec<String> {
        let several = self.penalties.iter().any(|penalty| penalty.weights() != self.penalties[0].weights());
        let label = |penalty: &Penalty| match several {
            true => format!("{}-{}", penalty.kind(), penalty.weights()),
            false => penalty.kind().to_string(),
        };
        self.penalties.iter().map(label).collect()
    }

    /// Everything that decides what the parts hold, beside what their names say.
    fn settings(&self, splits: &Splits, graph: &str) -> Settings {
        let gammas = self.penalties.iter().filter_map(Penalty::gamma).map(|gamma| gamma.to_string());
        let prepare = self.graph.as_ref().map_or(Prepare::None, |graph| graph.prepare);
        let named = [
            ("epochs", self.epochs.to_string()),
            ("gamma", gammas.max().unwrap_or_else(|| "none".into())),
            ("graph", graph.to_owned()),
            ("prepare", if prepare == Prepare::Rung { "rung" } else { "none" }.to_owned()),
            ("samples", self.attack.samples.to_string()),
            ("splits", splits.shown()),
            ("steps", self.attack.steps.to_string()),
        ];
        named.map(|(name, text)| (name.to_owned(), text)).into()
    }
}

/// Trains, attacks, measures and writes everything below `options.out`.
///
/// # Errors
/// Wrong options, inputs that cannot be read, a folder that holds other results, a model that fails.
pub fn run(
    options: &Options,
    threads: usize,
    stage: &dyn Fn(usize) -> Box<dyn Stage>,
) -> Result<Reproduction> {
    if options.penalties.is_empty() || options.budgets.is_empty() || options.seeds.is_empty() {
        return Err(Error::usage("at least one penalty, one budget and one seed are needed"));
    }
    let source = options.graph.clone().unwrap_or_else(|| GraphSource {
        graph: options.out.join("graph.npz"),
        features: None,
        labels: None,
        prepare: Prepare::None,
    });
    let inputs = Inputs::default();
    let (splits, dataset) = match &options.graph {
        Some(_) => {
            let dataset = Dataset::load(&source, &inputs)?;
            (splits_of(options, &dataset), dataset)
        }
        None => {
            let splits = Splits { source: given_or_one(options, false), seeds: None, shares: SHARES };
            settings::claim(&options.out, &options.settings(&splits, "synthetic"), options.resume)?;
            synthetic::write(&source.graph, 0)?;
            (splits, Dataset::load(&source, &inputs)?)
        }
    };
    let all = splits.load(&dataset, &inputs)?;
    let chosen = chosen(options, &splits, all.len())?;
    if options.graph.is_some() {
        let files = inputs.into_files()?;
        let hashes: Vec<String> = files.iter().map(|(_, file)| file.blake3.to_string()).collect();
        settings::claim(&options.out, &options.settings(&splits, &hashes.join(" ")), options.resume)?;
    }
    let labels = options.labels();
    make_parts(options, &dataset, &labels, &all, &chosen, threads, &*stage(options.parts(chosen.len())))?;
    let measured = measured::measure(options, &source, &splits, &chosen, &labels, threads)?;
    let reports: Vec<Report> =
        measured.penalties.iter().map(|penalty| penalty.accumulator.finish()).collect();
    let write = |name: &str, text: &str| output::write(&options.out.join(name), text.as_bytes());
    output::write_with(&options.out.join("report.json"), |out| json::write_to(&reports, out))?;
    let verdicts = verdicts::of(&reports, options, &dataset);
    write("expectations.json", &verdicts::json(&verdicts))?;
    figures::write(options, &measured, dataset.graph.edges() as u64, &verdicts)?;
    Ok(Reproduction { reports, verdicts })
}

fn make_parts(
    options: &Options,
    dataset: &Dataset,
    labels: &[String],
    splits: &[NodeSplit],
    chosen: &[usize],
    threads: usize,
    stage: &dyn Stage,
) -> Result<()> {
    for &number in chosen {
        for &seed in &options.seeds {
            for (penalty, label) in options.penalties.iter().zip(labels) {
                let split = &splits[number];
                Job { options, dataset, penalty: *penalty, label, number, split, seed }
                    .run(threads, stage)?;
            }
        }
    }
    Ok(())
}

fn splits_of(options: &Options, dataset: &Dataset) -> Splits {
    Splits { source: given_or_one(options, dataset.masks.is_some()), seeds: None, shares: SHARES }
}

fn given_or_one(options: &Options, masks: bool) -> SplitSource {
    let usual = if masks { SplitSource::Masks } else { SplitSource::Stratified(1) };
    options.splits.clone().unwrap_or(usual)
}

fn chosen(options: &Options, splits: &Splits, count: usize) -> Result<Vec<usize>> {
    match (options.split.is_empty(), options.one_split) {
        (true, true) => Ok(vec![0]),
        (true, false) => Ok((0..count).collect()),
        (false, _) => splits.chosen(&options.split, count),
    }
}
