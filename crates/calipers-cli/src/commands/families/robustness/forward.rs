//! `calipers robustness forward`: the features of a model on clean and attacked graphs, as a file.

use std::path::PathBuf;

use calipers::inputs::Inputs;
use calipers::metrics::robustness::is_model_name;
use calipers::rung::files::attacked;
use calipers::rung::files::checkpoint::Checkpoint;
use calipers::rung::files::run_arrays::{RunArrays, RunNames, form};
use calipers::rung::from_model::conditions::conditions;
use calipers::{Error, Result};
use clap::Args;

use super::model_args::{AttackedArgs, GraphArgs, PenaltyArgs, SplitArgs};
use super::speaking::{Speaking, fresh};
use crate::Outcome;

/// Write the features of a model on the clean graph and on attacked ones
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  calipers robustness forward --graph cora.npz --prepare rung --splits splits.json --split 0 \\
      --model model.safetensors --flips 0.05=flips/0.05.npy --out arrays.npz

What is written is a run that `calipers robustness arrays.npz` measures.")]
pub(crate) struct ForwardArgs {
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    splits: SplitArgs,
    /// The model (.safetensors or .pt)
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    penalty: PenaltyArgs,
    #[command(flatten)]
    attacked: AttackedArgs,
    /// The name of the model in the file [default: its penalty]
    #[arg(long, value_name = "NAME")]
    model_name: Option<String>,
    /// Where the arrays are written: .npz or .safetensors
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    speaking: Speaking,
}

impl ForwardArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        let AttackedArgs { attacked, flips, budgets } = &self.attacked;
        let conditions = conditions(attacked, flips, budgets)?;
        form(&self.out)?;
        if let Some(name) = self.model_name.as_ref().filter(|name| !is_model_name(name)) {
            return Err(Error::usage("not a name for a model").at("--model-name").found(format!("{name:?}")));
        }
        fresh(&self.out)?;
        let inputs = Inputs::default();
        let dataset = self.graph.load(&inputs)?;
        let split = self.splits.load_one(&dataset, &inputs)?;
        let checkpoint = Checkpoint::read(&self.model, &self.penalty.flags(), &inputs)?;
        let shown = self.model.display();
        let in_model = |error: Error| error.in_file(&shown);
        checkpoint.check(dataset.features.columns(), dataset.classes()).map_err(in_model)?;
        let mut warnings = self.speaking.warnings();
        if let Some(replaced) = &checkpoint.replaced {
            warnings.add("penalty_replaced", &format!("flags replace {replaced}"));
        }
        let threads = self.speaking.threads();
        let mut stuck = |nodes: usize, graph: &str| {
            if nodes > 0 {
                let message = format!(
                    "{nodes} nodes kept their features in a step, on the {graph}: all their edges were pruned"
                );
                warnings.add("stuck_nodes", &message);
            }
        };
        let settings = checkpoint.model.settings();
        let names = RunNames {
            model: Some(self.model_name.clone().unwrap_or_else(|| settings.penalty.kind().to_string())),
            split: Some(split.number as u64),
            seed: settings.seed,
        };
        let (mut arrays, nodes) =
            RunArrays::clean(&checkpoint.model, &dataset, &split.nodes, names, threads).map_err(in_model)?;
        stuck(nodes, "clean graph");
        for condition in &conditions {
            let path = condition.path.path(split.number, None)?;
            let graph =
                attacked::read(&path, condition.form, condition.form.word(), &dataset.graph, &inputs)?;
            let nodes = arrays.add(&checkpoint.model, &dataset, &condition.budget, &graph, threads);
            let nodes = nodes.map_err(|error| in_model(error.at(format!("budget {}", condition.budget))))?;
            stuck(nodes, &format!("graph of budget {}", condition.budget));
        }
        arrays.write(&self.out)?;
        self.speaking.wrote(&self.out);
        Ok(warnings.outcome())
    }
}
