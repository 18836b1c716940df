//! `calipers explanation`: explanations of graph neural networks.

use std::path::{Path, PathBuf};

use calipers::chosen::Chosen;
use calipers::core::Protocol;
use calipers::inputs::Inputs;
use calipers::metrics::explanation::{
    Explanation, MaskScores, Options as Parameters, Preset, Scores, Task, missing_keys,
};
use calipers::run::Progress;
use calipers::sources::explanation::{Options, measure};
use calipers::{Error, Result, demo, registry, run};
use clap::Args;

use crate::commands::demo::{Shown, first_numbers};
use crate::options::{Output, Work, named};
use crate::progress::Bar;
use crate::{Measured, Outcome};

/// Score explanations of graph neural networks
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers explanation runs/gnnexplainer/ --scores logits --json report.json
  calipers explanation mutag.npz --scores logits --per-unit units.csv --state mutag.state
  calipers explanation masks.jsonl --mask-scores raw --threshold 0.1 --metrics recall,precision,auroc
  calipers explanation curves.json --pos-weight 0.2 --neg-weight 0.8 --json -
  calipers explanation karate_probs.npz --scores probs --preset pyg --json -
  cat units.jsonl | calipers explanation - --task binary --scores probs --json -

Keys of a unit, all optional; each metric says which it needs:
  y, y_hat, y_sub, y_comp                true labels; predictions on the full graph, with only the
                                         explanation kept, with the explanation removed
  index                                  the instances that count
  y_sub_sweep, y_comp_sweep, x           predictions at several explanation sizes
  y_sub_samples, y_comp_samples          predictions on random perturbations
  pred_mask, target_mask, target_masks   importance, true importance, alternative truths; by node or
                                         edge type as pred_mask.TYPE
  pred_mask_samples                      masks of perturbed inputs
  pos_fidelity, neg_fidelity, x          a given fidelity curve
A file with `unit`, `ptr` or `mask_ptr` holds a batch of units.")]
pub(crate) struct ExplanationArgs {
    /// Files with units (.npz .safetensors .pt .json .jsonl) or folders of them ("-" reads JSON lines from
    /// standard input)
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    measure: Measure,
    #[command(flatten)]
    pub(super) work: Work,
    #[command(flatten)]
    output: Output,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Measuring")]
struct Measure {
    /// What the model predicts [default: multiclass]
    #[arg(long, value_parser = named::<Task>(&["multiclass", "binary", "regression"]))]
    task: Option<Task>,
    /// What float predictions are; never guessed
    #[arg(long, value_name = "KIND", value_parser = named::<Scores>(&["probs", "log_probs", "logits"]))]
    scores: Option<Scores>,
    /// Elements with pred_mask > T are selected [default: 0.5]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// Elements with target_mask >= T are in the truth [default: --threshold; 0.5 with raw masks]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    target_threshold: Option<f64>,
    /// What mask values are [default: probs]
    #[arg(long, value_name = "KIND", value_parser = named::<MaskScores>(&["probs", "logits", "raw"]))]
    mask_scores: Option<MaskScores>,
    /// Weight of fid+ in the characterization score [default: 0.5]
    #[arg(long, value_name = "W", allow_negative_numbers = true)]
    pos_weight: Option<f64>,
    /// Weight of 1 - fid- in the characterization score [default: 0.5]
    #[arg(long, value_name = "W", allow_negative_numbers = true)]
    neg_weight: Option<f64>,
    /// Which formulas: exact ones, or those of published code [default: strict]
    #[arg(long, value_parser = named::<Preset>(&["strict", "document", "pyg", "graphxai"]))]
    preset: Option<Preset>,
    /// Print only these metrics, separated by commas; the state keeps everything
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
}

impl ExplanationArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        self.output.check_shard(&self.work)?;
        let bar = Bar::new(&self.output);
        self.measure(&bar)?.emit()
    }

    pub(super) fn measure(self, progress: &dyn Progress) -> Result<Measured> {
        let Self { inputs, measure: given, work, mut output } = self;
        let parameters = Parameters {
            task: given.task,
            scores: given.scores,
            threshold: given.threshold,
            target_threshold: given.target_threshold,
            mask_scores: given.mask_scores,
            pos_weight: given.pos_weight,
            neg_weight: given.neg_weight,
            preset: given.preset,
        };
        let protocol = parameters.resolve()?;
        let ids = chosen(&given.metrics, &protocol)?;
        if !ids.is_empty() {
            output.chosen = Chosen::only(ids.iter().map(|id| format!("{}.{id}", Explanation::NAME)));
        }
        output.check()?;
        let options = Options { inputs, protocol };
        let names = work.names()?;
        let accumulator = measure(&options, Inputs::default(), &work.with(names.as_ref(), progress))?;
        // The evidence of a metric may be in another shard.
        if accumulator.provenance.listings.are_whole() {
            let rows = accumulator.rows();
            let missing = ids.iter().find_map(|id| Some((id, missing_keys(id, &rows)?)));
            if let Some((id, missing)) = missing {
                return Err(Error::value(format!("{id} cannot be computed: {missing}")).at("--metrics"));
            }
        }
        let (seed, threads) = (given.seed, work.threads());
        Ok(Measured { ledgers: vec![Box::new(accumulator)], beside: Vec::new(), output, seed, threads })
    }
}

/// The metrics that were asked for, with or without the family. Unknown ones, and those the preset does
/// not have, are wrong usage.
fn chosen(ids: &[String], protocol: &Explanation) -> Result<Vec<&'static str>> {
    let known = |id: &String| {
        let id = id.trim();
        let id = id.strip_prefix(Explanation::NAME).and_then(|id| id.strip_prefix('.')).unwrap_or(id);
        let metric = Explanation::METRICS.iter().find(|metric| metric.id == id);
        let all = Explanation::METRICS.iter().map(|metric| metric.id);
        let metric = metric.ok_or_else(|| registry::unknown(id, all).at("--metrics"))?;
        if (metric.presets)(protocol) {
            return Ok(metric.id);
        }
        let preset = serde_json::to_value(protocol.preset).unwrap_or_default();
        let preset = preset.as_str().unwrap_or_default();
        Err(Error::usage(format!("--preset {preset} has no such metric")).at("--metrics").found(id))
    };
    ids.iter().map(known).collect()
}

/// Molecules whose true explanation is known.
pub(in crate::commands) fn demo(folder: &Path, seed: u64, work: &run::Work<'_>) -> Result<Shown> {
    demo::explanation::write(folder, seed)?;
    let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let options = Options { inputs: vec![folder.to_owned()], protocol };
    let measured = measure(&options, Inputs::default(), work)?;
    let file = folder.join(demo::explanation::UNITS);
    Ok(Shown {
        text: first_numbers(&measured),
        ledgers: vec![(None, Box::new(measured))],
        next: vec![format!("explanation {} --scores logits --per-unit molecules.csv", file.display())],
        ..Shown::default()
    })
}
