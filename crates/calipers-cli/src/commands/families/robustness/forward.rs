//! `calipers robustness forward`: the features of a model on clean and attacked graphs, as a file.

use std::path::PathBuf;

use calipers::inputs::Inputs;
use calipers::metrics::robustness::{Budget, is_model_name};
use calipers::rung::files::attacked::{self, AttackedGraph};
use calipers::rung::files::run_arrays::{RunArrays, RunNames, form};
use calipers::rung::from_model::conditions::conditions;
use calipers::rung::model::Rung;
use calipers::{Error, Result};
use clap::Args;

use super::model_args::{AttackedArgs, GraphArgs, PenaltyArgs, SplitArgs, checkpoint};
use super::speaking::{Speaking, Warnings, fresh};
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
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) splits: SplitArgs,
    /// The model (.safetensors or .pt)
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// A model that a program has in memory
    #[arg(skip)]
    pub(crate) given: Option<Rung>,
    #[command(flatten)]
    penalty: PenaltyArgs,
    #[command(flatten)]
    pub(crate) attacked: AttackedArgs,
    /// The name of the model in the file [default: its penalty]
    #[arg(long, value_name = "NAME")]
    model_name: Option<String>,
    /// Where the arrays are written: .npz or .safetensors
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    pub(crate) speaking: Speaking,
}

impl ForwardArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        form(&self.out)?;
        fresh(&self.out)?;
        let mut warnings = self.speaking.warnings();
        self.arrays(&mut warnings)?.write(&self.out)?;
        self.speaking.wrote(&self.out);
        Ok(warnings.outcome())
    }

    /// The arrays, which are not written.
    pub(crate) fn arrays(&self, warnings: &mut Warnings) -> Result<RunArrays> {
        let AttackedArgs { attacked, flips, budgets, given } = &self.attacked;
        let conditions = conditions(attacked, flips, budgets)?;
        if let Some(name) = self.model_name.as_ref().filter(|name| !is_model_name(name)) {
            return Err(Error::usage("not a name for a model").at("--model-name").found(format!("{name:?}")));
        }
        let inputs = Inputs::default();
        let dataset = self.graph.load(&inputs)?;
        let split = self.splits.load_one(&dataset, &inputs)?;
        let checkpoint = checkpoint(self.given.as_ref(), &self.model, &self.penalty, &inputs)?;
        let shown = self.model.display();
        let in_model = |error: Error| error.in_file(&shown);
        checkpoint.check(dataset.features.columns(), dataset.classes()).map_err(in_model)?;
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
        let mut add = |budget: &Budget, graph: &AttackedGraph| -> Result<()> {
            let nodes = arrays.add(&checkpoint.model, &dataset, budget, graph, threads);
            let nodes = nodes.map_err(|error| in_model(error.at(format!("budget {budget}"))))?;
            stuck(nodes, &format!("graph of budget {budget}"));
            Ok(())
        };
        for condition in &conditions {
            let path = condition.path.path(split.number, None)?;
            let (form, clean) = (condition.form, &dataset.graph);
            add(&condition.budget, &attacked::read(&path, form, form.word(), clean, &inputs)?)?;
        }
        for (budget, form, array) in given {
            let place = format!("{}, budget {budget}", form.word());
            let graph = attacked::of_given(array, *form, &dataset.graph).map_err(|error| error.at(place))?;
            add(&Budget::parse(budget)?, &graph)?;
        }
        Ok(arrays)
    }
}
