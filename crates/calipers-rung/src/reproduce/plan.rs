//! What is to be made and of what, checked before the output folder is touched.

use std::path::Path;

use calipers_core::input_files::Digest;
use calipers_core::{Error, Result};
use calipers_io::array::npz;
use calipers_metrics::robustness::Prepare;
use calipers_sources::inputs::Inputs;
use calipers_sources::output;

use super::Options;
use super::parts::folder_of;
use super::settings::{self, Record, Settings};
use super::synthetic::Synthetic;
use crate::files::dataset::{Dataset, GivenGraph, GraphSource};
use crate::files::splits::{NodeSplit, SHARES, SplitSource, Splits};
use crate::model::{Penalty, Settings as ModelSettings};

/// Everything that parts are made of.
pub(super) struct Plan {
    pub(super) source: GraphSource,
    pub(super) dataset: Dataset,
    pub(super) splits: Splits,
    /// The numbers and nodes of the splits that are wanted.
    pub(super) chosen: Vec<(usize, NodeSplit)>,
}

impl Plan {
    /// Reads and checks everything, and claims the folder.
    pub(super) fn new(options: &Options) -> Result<Self> {
        check(options)?;
        let made = Made::of(options)?;
        let source = options.graph.clone().unwrap_or_else(|| GraphSource {
            graph: options.out.join("graph.npz"),
            features: None,
            labels: None,
            prepare: options.given.as_ref().map_or(Prepare::None, |(_, prepare)| *prepare),
        });
        let inputs = Inputs::default();
        let dataset = match &made {
            Some(made) => made.dataset(&source)?,
            None => Dataset::load(&source, &inputs)?,
        };
        let usual = if dataset.masks.is_some() { SplitSource::Masks } else { SplitSource::Stratified(1) };
        let splits = Splits { source: options.splits.clone().unwrap_or(usual), seeds: None, shares: SHARES };
        let all = splits.load(&dataset, &inputs)?;
        let numbers = match (options.split.is_empty(), options.one_split) {
            (true, true) => vec![0],
            (true, false) => (0..all.len()).collect(),
            (false, _) => splits.chosen(&options.split, all.len())?,
        };
        let chosen = numbers.into_iter().map(|number| (number, all[number].clone())).collect();
        let plan = Self { source, dataset, splits, chosen };
        plan.check(options)?;
        let mut files = settings::of_files(&inputs.into_files()?);
        files.extend(made.as_ref().and_then(Made::told));
        let record = plan.record(options, files);
        settings::claim(&options.out, &record, options.resume)?;
        if let Some(made) = made {
            made.write(&plan.source.graph)?;
        }
        Ok(plan)
    }

    /// Refuses what would only be found out after hours of work.
    fn check(&self, options: &Options) -> Result<()> {
        self.dataset.needed_labels()?;
        for (number, split) in &self.chosen {
            for (name, set) in [("train", &split.train), ("test", &split.test)] {
                if set.as_ref().is_none_or(Vec::is_empty) {
                    return Err(Error::value(format!("the split has no {name} nodes"))
                        .in_file(self.splits_shown())
                        .at(format!("split {number}, key {name}"))
                        .advice("choose other splits with --split"));
                }
            }
        }
        let edges = self.dataset.graph.edges() as u64;
        for (text, budget) in &options.budgets {
            let allowed = usize::try_from(budget.allowed(edges)).unwrap_or(usize::MAX);
            if allowed == 0 {
                continue;
            }
            if self.dataset.classes() < 2 {
                return Err(Error::value("the labels are of one class: nothing can be mistaken")
                    .in_file(&self.dataset.labels_shown)
                    .found("label 0 alone")
                    .allowed("labels of two classes or more"));
            }
            let in_budget = |error: Error| error.in_file(&self.dataset.shown).at(format!("budget {text}"));
            options.attack.check(self.dataset.graph.nodes(), allowed).map_err(in_budget)?;
        }
        Ok(())
    }

    /// The file that the splits are in, or what draws them.
    fn splits_shown(&self) -> String {
        match &self.splits.source {
            SplitSource::Masks => self.dataset.shown.clone(),
            _ => self.splits.shown(),
        }
    }

    /// Everything that decides what the parts hold, beside what their names say.
    fn record(&self, options: &Options, files: Settings) -> Record {
        let splits = match &self.splits.source {
            SplitSource::Masks => "masks",
            // How many there are changes none of them.
            SplitSource::Stratified(_) => "stratified",
            SplitSource::File(_) => "a file",
        };
        let named = [
            ("epochs", options.epochs.to_string()),
            ("graph", graph_words(options).to_owned()),
            ("prepare", if self.source.prepare == Prepare::Rung { "rung" } else { "none" }.to_owned()),
            ("samples", options.attack.samples.to_string()),
            ("splits", splits.to_owned()),
            ("steps", options.attack.steps.to_string()),
        ];
        let mut all = files;
        all.extend(named.map(|(name, text)| (name.to_owned(), text)));
        let of = |penalty: &Penalty| (folder_of(penalty), ModelSettings::new(*penalty).to_metadata());
        Record { all, penalties: options.penalties.iter().map(of).collect() }
    }
}

fn graph_words(options: &Options) -> &'static str {
    match (&options.given, &options.graph) {
        (Some(_), _) => "in memory",
        (None, Some(_)) => "a file",
        (None, None) => "synthetic",
    }
}

/// A graph that has no file before the run.
enum Made {
    Drawn(Synthetic),
    /// A graph in memory, and the file that it becomes.
    Given(GivenGraph, Vec<u8>),
}

impl Made {
    fn of(options: &Options) -> Result<Option<Self>> {
        match (&options.given, &options.graph) {
            (Some((given, _)), _) => {
                let mut bytes = Vec::new();
                let written = npz::write_to(&given.arrays, &mut bytes);
                written.map_err(|error| Error::io(format!("cannot write the graph: {error}")))?;
                Ok(Some(Self::Given(given.clone(), bytes)))
            }
            (None, Some(_)) => Ok(None),
            (None, None) => Ok(Some(Self::Drawn(Synthetic::drawn(0)))),
        }
    }

    fn dataset(&self, source: &GraphSource) -> Result<Dataset> {
        match self {
            Self::Drawn(drawn) => drawn.dataset(&source.graph),
            Self::Given(given, _) => Dataset::of_given(given, source.prepare),
        }
    }

    /// What is recorded of it: another graph must not go on with the parts of this one.
    fn told(&self) -> Option<(String, String)> {
        match self {
            Self::Drawn(_) => None,
            Self::Given(_, bytes) => Some(("graph file".to_owned(), format!("blake3 {}", Digest::of(bytes)))),
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        match self {
            Self::Drawn(drawn) => drawn.write(path),
            Self::Given(_, bytes) => output::write(path, bytes),
        }
    }
}

/// Refuses options that contradict themselves.
fn check(options: &Options) -> Result<()> {
    let Options { penalties, budgets, seeds, .. } = options;
    if penalties.is_empty() || budgets.is_empty() || seeds.is_empty() {
        return Err(Error::usage("at least one penalty, one budget and one seed are needed"));
    }
    let twice = |what: &str, option: &str, names: Vec<String>| {
        let again = (1..names.len()).find(|&at| names[..at].contains(&names[at]));
        again.map_or(Ok(()), |at| {
            Err(Error::usage(format!("one {what} is given twice")).at(option).found(&names[at]))
        })
    };
    twice("penalty", "--penalties, --weights", penalties.iter().map(folder_of).collect())?;
    twice("budget", "--budgets", budgets.iter().map(|(_, budget)| budget.label().to_owned()).collect())?;
    twice("seed", "--seeds", seeds.iter().map(u64::to_string).collect())
}
