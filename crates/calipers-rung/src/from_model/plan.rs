//! Which runs there are, and the pairs of each: the same weights on the clean graph and on
//! attacked ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Fact, Result};
use calipers_metrics::robustness::{Edge, unit_name};
use calipers_sources::file_cache::FileCache;
use calipers_sources::inputs::Inputs;
use calipers_sources::robustness::Numbers;
use calipers_sources::robustness::OwnedPair;
use calipers_sources::run::Named;

use super::Options;
use super::conditions::run_words;
use crate::files::attacked;
use crate::files::checkpoint::Checkpoint;
use crate::files::dataset::Dataset;
use crate::files::split_file::from_file;
use crate::files::splits::{NodeSplit, SplitSource, Splits};
use crate::model::Settings;

/// One run: a checkpoint and the nodes it is scored on.
struct Run {
    name: String,
    split: usize,
    seed: Option<u64>,
    checkpoint: Checkpoint,
    shown: String,
    test: Arc<Vec<u32>>,
    train: Option<Arc<Vec<u32>>>,
    val: Option<Arc<Vec<u32>>>,
}

/// The features of a run on the clean graph.
struct Clean {
    numbers: Numbers,
    stuck: usize,
}

/// One pair and where it is.
pub(super) struct UnitPlan {
    name: String,
    run: usize,
    condition: usize,
}

impl Named for UnitPlan {
    fn name(&self) -> &str {
        &self.name
    }
}

/// Every pair, and what they are made of.
pub(super) struct Plan<'a> {
    options: &'a Options,
    dataset: Dataset,
    labels: Option<Arc<Vec<i64>>>,
    edges: Arc<Vec<Edge>>,
    runs: FileCache<Run, Clean>,
    pub(super) units: Vec<UnitPlan>,
    /// The settings that all checkpoints have.
    pub(super) settings: Settings,
}

impl<'a> Plan<'a> {
    /// Reads graph, splits and checkpoints.
    pub(super) fn new(options: &'a Options, inputs: &Inputs) -> Result<Self> {
        let dataset = Dataset::load(&options.graph, inputs)?;
        let source = SplitSource::or_masks(options.splits.as_ref(), &dataset)?;
        let in_paths = options.seeds_in_paths();
        let drawn = Some(options.seeds.clone()).filter(|seeds| !seeds.is_empty() && !in_paths);
        let splits = Splits { source, seeds: drawn, shares: options.shares };
        splits.check()?;
        let all = splits.load(&dataset, inputs)?;
        let chosen = splits.chosen(&options.split, all.len())?;
        let trained_on = match &options.trained_on {
            Some(path) => Some((
                path.display().to_string(),
                from_file(path, "trained-on", dataset.graph.nodes(), inputs)?,
            )),
            None => None,
        };
        let seeds: Vec<Option<u64>> =
            if in_paths { options.seeds.iter().copied().map(Some).collect() } else { vec![None] };
        let seeds = if seeds.is_empty() { vec![None] } else { seeds };
        let mut runs: Vec<Run> = Vec::new();
        for &number in &chosen {
            let split = &all[number];
            let test = split.test.as_ref().ok_or_else(|| {
                Error::value("the split has no test nodes")
                    .in_file(splits.shown())
                    .at(format!("split {number}, key test"))
            })?;
            let train = match &trained_on {
                None => split.train.clone(),
                Some((shown, others)) => trained(others, number).map_err(|error| error.in_file(shown))?,
            };
            for &seed in &seeds {
                let path = options.model.path(number, seed)?;
                let word = format!("model:{}", run_words(number, seed));
                let checkpoint = Checkpoint::read_as(&path, &word, &options.flags, inputs)?;
                let shown = path.display().to_string();
                checkpoint
                    .check(dataset.features.columns(), dataset.classes())
                    .map_err(|error| error.in_file(&shown))?;
                runs.push(Run {
                    name: run_name(options, number, seed.filter(|_| seeds.len() > 1)),
                    split: number,
                    seed,
                    checkpoint,
                    shown,
                    test: Arc::new(test.clone()),
                    train: train.clone().map(Arc::new),
                    val: split.val.clone().map(Arc::new),
                });
            }
        }
        if options.run.is_some() && runs.len() > 1 {
            return Err(Error::usage("--run names one run").found(format!("{} runs", runs.len())));
        }
        let settings = common(&runs)?;
        let mut units = Vec::new();
        for (run, of) in runs.iter().enumerate() {
            for (condition, at) in options.conditions.iter().enumerate() {
                let name = unit_name(&of.name, options.attack.as_deref(), &at.budget);
                units.push(UnitPlan { name, run, condition });
            }
        }
        let edges = Arc::new(dataset.graph.pairs().collect());
        let labels = dataset.labels.clone().map(Arc::new);
        Ok(Self { options, dataset, labels, edges, runs: FileCache::new(runs), units, settings })
    }

    /// Announces that a pair will be computed.
    pub(super) fn reserve(&self, unit: &UnitPlan) {
        self.runs.reserve(unit.run);
    }

    /// Computes the features of a pair; says what was noticed on the way.
    pub(super) fn pair(
        &self,
        unit: &UnitPlan,
        threads: usize,
        inputs: &Inputs,
    ) -> Result<(OwnedPair, Vec<Fact>)> {
        let Self { dataset, options, .. } = self;
        let run = self.runs.file(unit.run);
        let model = &run.checkpoint.model;
        let condition = &options.conditions[unit.condition];
        let path = condition.path.path(run.split, run.seed)?;
        let (of_run, budget) = (run_words(run.split, run.seed), condition.budget.label());
        let word = format!("{}:{of_run}/{budget}", condition.form.word());
        let attacked = attacked::read(&path, condition.form, &word, &dataset.graph, inputs)?;
        let forward = |graph, which: &str| {
            let forward = model.forward(graph, &dataset.features, threads);
            let forward = forward.map_err(|error| error.in_file(&run.shown).at(which))?;
            let numbers = Numbers::computed(which, graph.nodes(), forward.columns, forward.features);
            Ok(Clean { numbers, stuck: forward.stuck_nodes })
        };
        let clean = self
            .runs
            .take(unit.run, inputs, |_, _| forward(&dataset.graph, "features on the clean graph"))?;
        let on_attacked = forward(&attacked.graph, "features on the attacked graph")?;
        let pair = OwnedPair {
            attack: options.attack.clone(),
            labels: self.labels.clone(),
            test: Some(Arc::clone(&run.test)),
            train: run.train.clone(),
            val: run.val.clone(),
            clean_edges: Some(Arc::clone(&self.edges)),
            attacked_edges: Some(Arc::new(attacked.graph.pairs().collect())),
            ..OwnedPair::new(
                run.name.clone(),
                condition.budget.clone(),
                clean.numbers.clone(),
                on_attacked.numbers,
            )
        };
        let mut facts = Vec::new();
        let mut notice = |code: &str, detail: String| {
            facts.push(Fact { code: code.into(), unit: unit.name.clone(), detail });
        };
        if let Some(replaced) = &run.checkpoint.replaced {
            notice("penalty_replaced", replaced.clone());
        }
        if clean.stuck + on_attacked.stuck > 0 {
            let (on_clean, on_attacked) = (clean.stuck, on_attacked.stuck);
            notice(
                "stuck_nodes",
                format!("{on_clean} on the clean graph, {on_attacked} on the attacked one"),
            );
        }
        Ok((pair, facts))
    }
}

/// The train nodes of the split that a checkpoint was trained on.
fn trained(others: &[NodeSplit], number: usize) -> Result<Option<Vec<u32>>> {
    let split = others.get(number).ok_or_else(|| {
        Error::value("no such split")
            .at(format!("--trained-on, split {number}"))
            .found(format!("{} splits", others.len()))
            .allowed(format!("0 to {}", others.len() as i64 - 1))
    })?;
    match &split.train {
        Some(train) => Ok(Some(train.clone())),
        None => Err(Error::value("the split has no train nodes")
            .at(format!("--trained-on, split {number}, key train"))),
    }
}

fn run_name(options: &Options, split: usize, seed: Option<u64>) -> String {
    options.run.clone().unwrap_or_else(|| run_words(split, seed))
}

/// The settings that all runs have: one report is about one way of propagating.
fn common(runs: &[Run]) -> Result<Settings> {
    let of = |run: &Run| {
        let settings = run.checkpoint.model.settings();
        Settings { dropout: None, seed: None, epochs: None, ..settings.clone() }
    };
    let first = runs.first().ok_or_else(|| Error::usage("no run to measure"))?;
    match runs.iter().find(|run| of(run) != of(first)) {
        None => Ok(of(first)),
        Some(other) => {
            let (ours, theirs) = (of(first).to_metadata(), of(other).to_metadata());
            let shown = |texts: &BTreeMap<String, String>, key: &str| {
                texts.get(key).cloned().unwrap_or("none".into())
            };
            let keys = ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key)));
            let differ = keys.filter(|key| ours.get(*key) != theirs.get(*key));
            let differ: Vec<String> = differ
                .map(|key| format!("{key} {} and {}", shown(&ours, key), shown(&theirs, key)))
                .collect();
            Err(Error::new(ErrorKind::Value, "the checkpoints have different settings")
                .in_file(&other.shown)
                .found(format!("{} (the first in {})", differ.join(", "), first.shown))
                .advice(
                    "measure them in runs of their own, or give --penalty, --weights and --gamma for all",
                ))
        }
    }
}
