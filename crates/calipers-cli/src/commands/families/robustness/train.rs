//! `calipers robustness train`: a RUNG model on the labels of some nodes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use calipers::inputs::Inputs;
use calipers::rung::files::checkpoint;
use calipers::rung::model::split::lone_classes;
use calipers::rung::model::{Rung, Training, Watch, train};
use calipers::{Error, Result};
use clap::Args;

use super::model_args::{GraphArgs, PenaltyArgs, SplitArgs};
use super::speaking::{Speaking, Warnings, fresh};
use crate::Outcome;

/// Train a RUNG model on the train nodes of a split
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers robustness train --graph cora.npz --prepare rung --splits splits.json --split 0 \\
      --penalty mcp --weights legacy --gamma 6 --out model.safetensors
  calipers robustness train --graph texas.npz --split 3 --penalty l1 --weights exact --out m.safetensors

Cross-entropy and Adam, without early stopping; the last weights are kept, rounded to f32 once.")]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) splits: SplitArgs,
    #[command(flatten)]
    penalty: PenaltyArgs,
    #[command(flatten)]
    learning: Learning,
    /// Where the model is written: .safetensors, or .pt without its settings
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    pub(crate) speaking: Speaking,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Training")]
struct Learning {
    /// The widths of the hidden layers
    #[arg(long, value_name = "H[,H..]", value_delimiter = ',', default_value = "64")]
    hidden: Vec<usize>,
    /// How often all train nodes are seen
    #[arg(long, value_name = "N", default_value_t = 300)]
    epochs: u32,
    /// The share of hidden units left out in training
    #[arg(long, value_name = "P", default_value_t = 0.5, allow_negative_numbers = true)]
    dropout: f64,
    /// The learning rate
    #[arg(long, value_name = "R", default_value_t = 0.05, allow_negative_numbers = true)]
    lr: f64,
    /// The weight decay
    #[arg(long, value_name = "W", default_value_t = 5e-4, allow_negative_numbers = true)]
    weight_decay: f64,
    /// Seed of the initial weights and of dropout
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
}

impl TrainArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        self.training()?;
        checkpoint::check_ending(&self.out.to_string_lossy()).map_err(Error::as_usage)?;
        fresh(&self.out)?;
        let mut warnings = self.speaking.warnings();
        let model = self.trained(&self.speaking.epochs(), &mut warnings)?;
        checkpoint::write(&self.out, &model)?;
        self.speaking.wrote(&self.out);
        Ok(warnings.outcome())
    }

    /// The trained model, which is not written.
    pub(crate) fn trained(&self, watch: &dyn Watch, warnings: &mut Warnings) -> Result<Rung> {
        let training = self.training()?;
        let inputs = Inputs::default();
        let dataset = self.graph.load(&inputs)?;
        let split = self.splits.load_one(&dataset, &inputs)?;
        let labels = dataset.needed_labels()?;
        let nodes = split.needed("train", split.nodes.train.as_ref())?;
        let val: Vec<usize> = split.nodes.val.iter().flatten().map(|node| *node as usize).collect();
        if split.drawn {
            note_lone_classes(&self.speaking, labels);
        }
        warn_missing_classes(warnings, labels, &nodes);
        let model = train(
            &dataset.graph,
            &dataset.features,
            labels,
            dataset.classes(),
            &nodes,
            &val,
            &training,
            self.speaking.threads(),
            watch,
        );
        model.map_err(|error| error.in_file(&dataset.shown))
    }

    fn training(&self) -> Result<Training> {
        let flags = self.penalty.flags();
        let defaults = Training::new(flags.new_penalty()?);
        let training = Training {
            hidden: self.learning.hidden.clone(),
            epochs: self.learning.epochs,
            dropout: self.learning.dropout,
            lr: self.learning.lr,
            weight_decay: self.learning.weight_decay,
            lambda_hat: flags.lambda_hat.unwrap_or(defaults.lambda_hat),
            layers: flags.layers.unwrap_or(defaults.layers),
            seed: self.learning.seed,
            ..defaults
        };
        training.check()?;
        Ok(training)
    }
}

/// Says which classes a drawn split can only test.
pub(super) fn note_lone_classes(speaking: &Speaking, labels: &[i64]) {
    let lone = lone_classes(labels);
    if !lone.is_empty() {
        speaking.note(&format!("note: classes of one node go to test: {}", listed(&lone)));
    }
}

fn warn_missing_classes(warnings: &mut Warnings, labels: &[i64], train: &[usize]) {
    let seen: BTreeSet<i64> = train.iter().map(|node| labels[*node]).collect();
    let all: BTreeSet<i64> = labels.iter().copied().collect();
    let missing: Vec<i64> = all.difference(&seen).copied().collect();
    if !missing.is_empty() {
        warnings.add("class_not_trained", &format!("no train node is of class {}", listed(&missing)));
    }
}

fn listed(classes: &[i64]) -> String {
    classes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
