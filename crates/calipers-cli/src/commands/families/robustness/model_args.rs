//! The options that graph, splits, model and attacked graphs share between commands.

use std::path::{Path, PathBuf};

use calipers::inputs::Inputs;
use calipers::io::array::Array;
use calipers::metrics::robustness::Budget;
use calipers::metrics::robustness::Prepare;
use calipers::reproduce::synthetic::Synthetic;
use calipers::rung::files::checkpoint::{Checkpoint, Flags};
use calipers::rung::files::dataset::{Dataset, GivenGraph, GraphSource};
use calipers::rung::files::splits::{NodeSplit, SHARES, SplitSource, Splits, of_given};
use calipers::rung::from_model::conditions::AttackFile;
use calipers::rung::model::{Kind, Rung, ScadScale, Weights};
use calipers::{Error, Result};
use clap::Args;

use crate::options::{named, whole};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Graph")]
pub(crate) struct GraphArgs {
    /// The graph: .npz or .safetensors with adjacency, features and labels, an edge list, or "synthetic"
    #[arg(long, value_name = "FILE")]
    pub(super) graph: Option<PathBuf>,
    /// The features of the nodes, where the graph file has none
    #[arg(long, value_name = "FILE.npy")]
    pub(super) features_file: Option<PathBuf>,
    /// The labels of the nodes, where the graph file has none
    #[arg(long, value_name = "FILE.npy")]
    pub(super) labels_file: Option<PathBuf>,
    /// What happens to the graph first: nothing, or loops dropped, made symmetric, clipped to 1 and
    /// the largest component kept [default: none]
    #[arg(long, value_name = "HOW", value_parser = named::<Prepare>(&["none", "rung"]))]
    pub(super) prepare: Option<Prepare>,
    /// A graph that a program has in memory
    #[arg(skip)]
    pub(crate) given: Option<GivenGraph>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Splits")]
pub(crate) struct SplitArgs {
    /// Train, val and test nodes: a .json or .npz file, masks (of the graph file) or stratified:S
    #[arg(long, value_name = "SPLITS")]
    pub(super) splits: Option<String>,
    /// Which splits, from 0; needed where there are several
    #[arg(long, value_name = "K[,K..]", value_delimiter = ',', allow_negative_numbers = true, value_parser = whole::<usize>("from 0 on"))]
    pub(super) split: Vec<usize>,
    /// The seeds of stratified:S [default: 0,1,..]
    #[arg(long, value_name = "S[,S..]", value_delimiter = ',')]
    pub(super) seeds: Vec<u64>,
    /// The shares of train and val nodes in stratified:S [default: 0.1,0.1]
    #[arg(long, value_name = "TRAIN,VAL", value_parser = shares)]
    pub(super) shares: Option<[f64; 2]>,
    /// The sets of one split that a program has in memory
    #[arg(skip)]
    pub(crate) given: Option<Vec<(String, Array)>>,
}

#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Model")]
pub(crate) struct PenaltyArgs {
    /// The penalty on edge differences
    #[arg(long, value_parser = named::<Kind>(&["l2", "l1", "mcp", "scad", "adaptive"]))]
    pub(super) penalty: Option<Kind>,
    /// What stands for the difference y in edge weights: sqrt(y + 0.01), sqrt(y^2 + 0.01) or y
    #[arg(long, value_name = "FORM", value_parser = named::<Weights>(&["legacy", "fixed", "exact"]))]
    pub(super) weights: Option<Weights>,
    /// Where mcp and scad become flat, and the two parts of adaptive meet
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(super) gamma: Option<f64>,
    /// The share of the graph in each step [default: 0.9]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub(super) lambda_hat: Option<f64>,
    /// The number of steps [default: 10]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(super) layers: Option<u32>,
    /// The second parameter of scad [default: 3.7]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(super) scad_a: Option<f64>,
    /// Whether the weights of scad are multiplied by gamma/a [default: one]
    #[arg(long, value_name = "SCALE", value_parser = named::<ScadScale>(&["one", "lambda"]))]
    pub(super) scad_scale: Option<ScadScale>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Attacked graphs")]
pub(crate) struct AttackedArgs {
    /// An attacked graph, in any form of a graph file or as a scipy CSR file
    #[arg(long, value_name = "B=FILE")]
    pub(super) attacked: Vec<String>,
    /// Pairs to toggle in the prepared graph (.npy)
    #[arg(long, value_name = "B=FILE")]
    pub(super) flips: Vec<String>,
    /// The budgets that {budget} stands for in --attacked and --flips
    #[arg(long, value_name = "B[,B..]", value_delimiter = ',', allow_hyphen_values = true)]
    pub(super) budgets: Vec<String>,
    /// Attacked graphs that a program has in memory, and the pairs to toggle
    #[arg(skip)]
    pub(crate) given: Vec<(String, AttackFile, Array)>,
}

/// The word for the graph that needs no file.
const SYNTHETIC: &str = "synthetic";

impl GraphArgs {
    /// Where the graph is.
    pub(super) fn source(&self) -> Result<GraphSource> {
        let graph = self
            .graph
            .clone()
            .ok_or_else(|| Error::usage("--graph is missing").advice("give --graph FILE"))?;
        Ok(GraphSource {
            graph,
            features: self.features_file.clone(),
            labels: self.labels_file.clone(),
            prepare: self.prepare.unwrap_or(Prepare::None),
        })
    }

    /// Reads and prepares the graph.
    pub(super) fn load(&self, inputs: &Inputs) -> Result<Dataset> {
        let prepare = self.prepare.unwrap_or(Prepare::None);
        if let Some(given) = &self.given {
            return Dataset::of_given(given, prepare);
        }
        if !self.is_synthetic() {
            return Dataset::load(&self.source()?, inputs);
        }
        self.check_synthetic()?;
        Synthetic::drawn(0).dataset(Path::new(SYNTHETIC))
    }

    /// Whether the graph is the one that needs no file.
    pub(super) fn is_synthetic(&self) -> bool {
        self.given.is_none() && self.graph.as_deref() == Some(Path::new(SYNTHETIC))
    }

    /// Refuses what the synthetic graph has already.
    pub(super) fn check_synthetic(&self) -> Result<()> {
        let prepared = self.prepare.is_some_and(|prepare| prepare != Prepare::None);
        let given = [
            ("--prepare", prepared),
            ("--features-file", self.features_file.is_some()),
            ("--labels-file", self.labels_file.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Error::usage(format!("the synthetic graph needs no {option}"))),
            None => Ok(()),
        }
    }
}

/// One split, and how messages call it.
pub(super) struct ChosenSplit {
    pub(super) nodes: NodeSplit,
    pub(super) number: usize,
    pub(super) shown: String,
    /// Whether it was drawn, not given.
    pub(super) drawn: bool,
}

impl SplitArgs {
    /// Where drawn splits come from, in words; files are told by what they hold.
    pub(super) fn words(&self) -> String {
        let drawn = self.splits.as_deref().filter(|text| text.starts_with("stratified:"));
        let (Some(drawn), shares) = (drawn, self.shares.unwrap_or([SHARES.0, SHARES.1])) else {
            return "given".into();
        };
        format!("{drawn} seeds {:?} shares {shares:?}", self.seeds)
    }

    /// The only split of a command that works on one.
    pub(super) fn load_one(&self, dataset: &Dataset, inputs: &Inputs) -> Result<ChosenSplit> {
        if let Some(sets) = &self.given {
            let nodes = of_given(sets, dataset.graph.nodes()).map_err(|error| error.at("splits"))?;
            let number = self.split.first().copied().unwrap_or_default();
            return Ok(ChosenSplit { nodes, number, shown: "splits".to_owned(), drawn: false });
        }
        let given = self.splits.as_deref().map(str::parse).transpose()?;
        let source = SplitSource::or_masks(given.as_ref(), dataset)?;
        let drawn = matches!(source, SplitSource::Stratified(_));
        if !self.seeds.is_empty() && !drawn {
            return Err(Error::usage("--seeds are those of stratified:S").advice("leave --seeds out"));
        }
        let seeds = Some(self.seeds.clone()).filter(|seeds| !seeds.is_empty());
        let shares = self.shares.map_or(SHARES, |[train, val]| (train, val));
        let splits = Splits { source, seeds, shares };
        splits.check()?;
        let mut all = splits.load(dataset, inputs)?;
        let chosen = splits.chosen(&self.split, all.len())?;
        let [number] = chosen[..] else {
            return Err(Error::usage("this command works on one split")
                .at("--split")
                .found(format!("{} of them", chosen.len())));
        };
        Ok(ChosenSplit { nodes: all.swap_remove(number), number, shown: splits.shown(), drawn })
    }
}

impl ChosenSplit {
    /// The nodes of a set that has to be there and not be empty.
    pub(super) fn needed(&self, name: &str, set: Option<&Vec<u32>>) -> Result<Vec<usize>> {
        match set {
            Some(set) if !set.is_empty() => Ok(set.iter().map(|node| *node as usize).collect()),
            _ => Err(Error::value(format!("the split has no {name} nodes"))
                .in_file(&self.shown)
                .at(format!("split {}, key {name}", self.number))),
        }
    }
}

impl PenaltyArgs {
    pub(crate) fn flags(&self) -> Flags {
        let Self { penalty, weights, gamma, lambda_hat, layers, scad_a, scad_scale } = *self;
        Flags { penalty, weights, gamma, lambda_hat, layers, scad_a, scad_scale }
    }
}

/// The model that a program has in memory, or else that of a file.
pub(super) fn checkpoint(
    given: Option<&Rung>,
    path: &Path,
    penalty: &PenaltyArgs,
    inputs: &Inputs,
) -> Result<Checkpoint> {
    match given {
        Some(model) => Ok(Checkpoint { model: model.clone(), replaced: None }),
        None => Checkpoint::read(path, &penalty.flags(), inputs),
    }
}

/// Texts and values of `--budgets`; wrong usage where one is no budget or given twice.
pub(super) fn budgets(texts: &[String]) -> Result<Vec<(String, Budget)>> {
    let mut budgets: Vec<(String, Budget)> = Vec::new();
    for text in texts {
        let budget = Budget::parse(text).map_err(|error| error.as_usage().at("--budgets"))?;
        if budgets.iter().any(|(_, other)| *other == budget) {
            return Err(Error::usage("--budgets names one budget twice").found(text));
        }
        budgets.push((text.clone(), budget));
    }
    Ok(budgets)
}

fn shares(text: &str) -> std::result::Result<[f64; 2], String> {
    let shares = text
        .split_once(',')
        .and_then(|(train, val)| Some([train.trim().parse().ok()?, val.trim().parse().ok()?]));
    shares.ok_or_else(|| "shares are written TRAIN,VAL".into())
}
