//! A small graph, models trained on it, attacks on them, and what the models then say as arrays.

use std::path::{Path, PathBuf};

use calipers_core::Result;
use calipers_metrics::robustness::Budget;
use calipers_metrics::robustness::Prepare;
use calipers_rung::files::attacked;
use calipers_rung::files::checkpoint::{Checkpoint, Flags};
use calipers_rung::files::dataset::{Dataset, GraphSource};
use calipers_rung::files::run_arrays::{RunArrays, RunNames};
use calipers_rung::files::splits::{SHARES, SplitSource, Splits};
use calipers_rung::from_model::conditions::AttackFile;
use calipers_rung::model::penalty::SCAD_A;
use calipers_rung::model::{Attack, Kind, Penalty, ScadScale, Weights};
use calipers_sources::inputs::Inputs;

use crate::reproduce::{self, Budgets, Options, Paths, Reproduction, Stage};

/// The models whose features are written as arrays, by penalty.
pub const MODELS: [&str; 2] = ["l1", "mcp"];

/// The array file of a model.
pub fn arrays(folder: &Path, model: &str) -> PathBuf {
    folder.join(format!("{model}.npz"))
}

/// Trains, attacks and draws below `folder`/figures; the features of two models go to array files
/// beside it. What an earlier demo finished is kept.
pub fn write(folder: &Path, seed: u64, threads: usize, stage: &dyn Stage) -> Result<Reproduction> {
    let budget = |text: &str| Ok((text.to_owned(), Budget::parse(text)?));
    let budgets: Budgets = ["0.05", "0.2", "0.4"].into_iter().map(budget).collect::<Result<_>>()?;
    let penalty = |(kind, gamma)| Penalty::new(kind, Weights::Exact, gamma, SCAD_A, ScadScale::One);
    let penalties = [(Kind::L2, None), (Kind::L1, None), (Kind::Mcp, Some(3.0))];
    let options = Options {
        graph: None,
        given: None,
        splits: None,
        split: Vec::new(),
        one_split: true,
        seeds: vec![seed],
        penalties: penalties.into_iter().map(penalty).collect::<Result<_>>()?,
        budgets,
        epochs: 100,
        attack: Attack { steps: 40, samples: 10, ..Attack::default() },
        out: folder.join("figures"),
        resume: true,
    };
    super::create_folder(folder)?;
    let found = reproduce::run(&options, threads, stage)?;
    for penalty in &options.penalties {
        let model = penalty.kind().word();
        if MODELS.contains(&model) {
            write_arrays(&options, penalty, seed, threads, &arrays(folder, model))?;
        }
    }
    Ok(found)
}

fn write_arrays(options: &Options, penalty: &Penalty, seed: u64, threads: usize, path: &Path) -> Result<()> {
    let (out, inputs) = (&options.out, Inputs::default());
    let graph = out.join("graph.npz");
    let source = GraphSource { graph, features: None, labels: None, prepare: Prepare::None };
    let dataset = Dataset::load(&source, &inputs)?;
    let splits = Splits { source: SplitSource::Stratified(1), seeds: None, shares: SHARES };
    let split = &splits.load(&dataset, &inputs)?[0];
    let paths = Paths::new(out, penalty);
    let stored = paths.model().path(0, Some(seed))?;
    let model_file = Checkpoint::read(&stored, &Flags::default(), &inputs)?.model;
    let names = RunNames { model: Some(penalty.kind().word().into()), split: Some(0), seed: Some(seed) };
    let (mut run, _) = RunArrays::clean(&model_file, &dataset, split, names, threads)?;
    for condition in paths.conditions(&options.budgets) {
        let flips = condition.path.path(0, Some(seed))?;
        let graph =
            attacked::read(&flips, AttackFile::Flips, AttackFile::Flips.word(), &dataset.graph, &inputs)?;
        run.add(&model_file, &dataset, &condition.budget, &graph, threads)?;
    }
    run.write(path)
}
