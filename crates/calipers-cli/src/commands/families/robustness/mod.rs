//! `calipers robustness`: how far an attack moves a graph model.

pub(crate) mod attack;
mod convert;
mod finished;
pub(crate) mod forward;
mod measuring;
pub(crate) mod model_args;
mod per_node;
pub(crate) mod reproduce;
pub(crate) mod speaking;
pub(crate) mod train;

use std::path::{Path, PathBuf};

use calipers::inputs::{Inputs, role};
use calipers::metrics::robustness::Budget;
use calipers::metrics::robustness::Options;
use calipers::reproduce::Unseen;
use calipers::run::Progress;
use calipers::rung::from_model;
use calipers::rung::from_model::config::{Given, Task};
use calipers::sources::robustness;
use calipers::{Error, Result, demo, run};
use clap::Args;

use self::attack::AttackArgs;
use self::convert::ConvertArgs;
use self::forward::ForwardArgs;
use self::measuring::Measuring;
use self::model_args::{AttackedArgs, GraphArgs, PenaltyArgs, SplitArgs};
use self::reproduce::ReproduceArgs;
use self::train::TrainArgs;
use crate::commands::demo::Shown;
use crate::commands::subcommands;
use crate::options::{Output, Work};
use crate::progress::Bar;
use crate::{Measured, Outcome};

/// Score how far an attack moves a graph model
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  calipers robustness run.npz --json -
  calipers robustness runs/ --bins 30 --hist-range 0,10 --per-unit units.csv --per-node nodes.parquet
  calipers robustness meta_s0.npz --attack meta --state meta.state
  calipers robustness run.npz --preset rung-fork
  calipers robustness --graph cora.npz --prepare rung --model model.safetensors --splits splits.json \\
      --split 0 --attacked 0.05=meta_0.05.npz --attacked 0.1=meta_0.1.npz
  calipers robustness --graph cora.npz --prepare rung --model 'mcp3/split_{split}.pt' --penalty mcp \\
      --weights legacy --gamma 3 --splits splits.json --split 0,1,2 \\
      --flips 'flips/{budget}/split_{split}.npy' --budgets 0.05,0.1
  calipers robustness cora.toml

Keys of a run, which is one file:
  clean                                  features on the clean graph, nodes x columns
  attacked_<budget>                      the same on an attacked graph; or `attacked` with `budget`,
                                         or `attacked` (budgets x nodes x columns) with `budgets`
  labels; test_idx or test_mask          for accuracies
  train_idx, val_idx or masks            for --nodes not-train and the leakage audit
  clean_logits, attacked_logits_<budget> class scores, where the features are not
  edge_index or edges                    clean graph: both directions of every edge, or each once
  edge_index_attacked_<budget>, edges_attacked_<budget> or flips_<budget>
                                         attacked graph, or the pairs to toggle in the clean one
  model, run, split, seed                what the file is of; in safetensors its metadata may say it")]
pub(crate) struct RobustnessArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RobustnessCommand>,
    /// Runs: files (.npz .safetensors) or folders of them ("-" reads one from standard input); or a
    /// configuration (.toml)
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// The name of the attack; `calipers merge` joins several attacks
    #[arg(long, value_name = "NAME")]
    attack: Option<String>,
    /// The budget of arrays called `attacked`, where the file has none
    #[arg(long, value_name = "B", value_parser = budget)]
    budget: Option<Budget>,
    #[command(flatten)]
    measuring: Measuring,
    #[command(flatten)]
    names: NameArgs,
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    splits: SplitArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    penalty: PenaltyArgs,
    #[command(flatten)]
    attacked: AttackedArgs,
    /// Write one row per node: .csv, .jsonl or .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    per_node: Option<PathBuf>,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    pub(super) work: Work,
    #[command(flatten)]
    output: Output,
}

subcommands! {
    /// What is done with a model beside measuring it.
    #[derive(Debug)]
    RobustnessCommand:
    Train(Box<TrainArgs>),
    Attack(Box<AttackArgs>),
    Forward(Box<ForwardArgs>),
    Convert(Box<ConvertArgs>),
    Reproduce(Box<ReproduceArgs>),
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Model")]
struct ModelArgs {
    /// The checkpoint (.safetensors or .pt)
    #[arg(long, value_name = "FILE")]
    model: Option<String>,
    /// The splits that the checkpoints were trained on, if others than --splits
    #[arg(long, value_name = "FILE")]
    trained_on: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Names")]
struct NameArgs {
    /// The name of the model: a report is of one [default: what the files say in the key `model`]
    #[arg(long, value_name = "NAME")]
    model_name: Option<String>,
    /// The name of the only run [default: the file's key `run`, else split<K>, seed<S> or split<K>-seed<S>
    /// by its keys `split` and `seed`, else its name]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Find run and model in the names of files: a pattern with (?P<run>..), (?P<model>..) or both
    #[arg(long, value_name = "regex:PATTERN")]
    run_by: Option<String>,
}

fn budget(text: &str) -> std::result::Result<Budget, String> {
    Budget::parse(text).map_err(|error| error.what().to_owned())
}

impl RobustnessArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        match self.command {
            Some(command) => command.run(),
            None => {
                self.output.check_shard(&self.work)?;
                let bar = Bar::new(&self.output);
                self.measure(&bar)?.emit()
            }
        }
    }

    pub(crate) fn measure(self, progress: &dyn Progress) -> Result<Measured> {
        let inputs = Inputs::default();
        let task = self.given(&inputs)?.task(self.per_node.is_some())?;
        if let Task::Arrays(options) = &task {
            options.check()?;
        }
        self.output.check()?;
        if let Some(path) = &self.per_node {
            per_node::check(path)?;
        }
        let names = self.work.names()?;
        let work = self.work.with(names.as_ref(), progress);
        let robustness::Measured { accumulator, nodes } = match task {
            Task::Arrays(options) => robustness::measure(&options, inputs, &work)?,
            Task::Model(options) => from_model::measure(&options, inputs, &work)?,
        };
        let tables = self.per_node.iter().zip(nodes).map(|(path, nodes)| per_node::beside(path, nodes));
        let beside = tables.collect::<Result<_>>()?;
        let (seed, threads) = (self.seed, work.threads);
        Ok(Measured { ledgers: vec![Box::new(accumulator)], beside, output: self.output, seed, threads })
    }

    /// The flags, over the configuration if there is one.
    fn given(&self, inputs: &Inputs) -> Result<Given> {
        let (mut below, mut runs) = (Given::default(), self.inputs.clone());
        if let [path] = &runs[..]
            && path.extension().is_some_and(|ending| ending == "toml")
        {
            below = read_config(path, inputs)?;
            runs.clear();
        }
        let Options { preset, bins, hist_range, nodes, ddof, cutoff, features, .. } =
            self.measuring.options();
        let (graph, splits, attacked) = (self.graph.clone(), self.splits.clone(), self.attacked.clone());
        let PenaltyArgs { penalty, weights, gamma, lambda_hat, layers, scad_a, scad_scale } = self.penalty;
        let flags = Given {
            inputs: runs,
            graph: graph.graph,
            features_file: graph.features_file,
            labels_file: graph.labels_file,
            prepare: graph.prepare,
            model: self.model.model.clone(),
            penalty,
            weights,
            gamma,
            lambda_hat,
            layers,
            scad_a,
            scad_scale,
            splits: splits.splits,
            split: splits.split,
            seeds: splits.seeds,
            shares: splits.shares,
            trained_on: self.model.trained_on.clone(),
            attacked: attacked.attacked,
            flips: attacked.flips,
            budgets: attacked.budgets,
            run: self.names.run.clone(),
            run_by: self.names.run_by.clone(),
            model_name: self.names.model_name.clone(),
            attack: self.attack.clone(),
            budget: self.budget.as_ref().map(ToString::to_string),
            preset,
            bins,
            hist_range,
            nodes,
            ddof,
            cutoff,
            features,
        };
        Ok(flags.over(below))
    }
}

fn read_config(path: &Path, inputs: &Inputs) -> Result<Given> {
    let shown = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let text = String::from_utf8(inputs.read(path, &shown, &role("config", None))?)
        .map_err(|_| Error::format("the configuration is not UTF-8").in_file(&shown))?;
    Given::parse(&text, path.parent().unwrap_or(Path::new(""))).map_err(|error| error.in_file(&shown))
}

/// Penalties under attack on a synthetic graph, and two of them again from arrays.
pub(in crate::commands) fn demo(folder: &Path, seed: u64, work: &run::Work<'_>) -> Result<Shown> {
    let figures = demo::robustness::write(folder, seed, work.threads, &Unseen)?;
    let mut shown = Shown {
        text: format!(
            "\nrobustness, penalties under attack on a synthetic graph\n{}",
            reproduce::verdicts(&figures.verdicts)
        ),
        ..Shown::default()
    };
    for model in demo::robustness::MODELS {
        let inputs = vec![demo::robustness::arrays(folder, model)];
        let options = robustness::options::Options { inputs, ..Default::default() };
        let measured = robustness::measure(&options, Inputs::default(), work)?;
        shown.ledgers.push((Some(model), Box::new(measured.accumulator)));
    }
    let arrays = demo::robustness::arrays(folder, demo::robustness::MODELS[0]);
    shown.next.push(format!("robustness {} --per-node nodes.csv", arrays.display()));
    Ok(shown)
}
