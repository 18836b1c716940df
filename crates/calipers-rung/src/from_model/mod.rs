//! Attacks on the RUNG model: a graph, a checkpoint and attacked graphs into pairs of features.
//!
//! ```text
//! config      flags and CONFIG.toml -> options
//! conditions  --attacked, --flips   -> which attacked graphs
//! plan        all of it             -> runs and their pairs
//! ```

pub mod conditions;
pub mod config;
mod plan;

use std::path::PathBuf;

use calipers_core::provenance::Setting;
use calipers_core::{Error, Reading, Result};
use calipers_metrics::robustness::{ModelSettings, Robustness};
use calipers_sources::inputs::Inputs;
use calipers_sources::robustness::{Measured, measure_pairs};
use calipers_sources::run::Work;

use self::conditions::{Condition, Template};
use self::plan::{Plan, UnitPlan};
use crate::files::checkpoint::Flags;
use crate::files::dataset::GraphSource;
use crate::files::splits::SplitSource;
use crate::model::Settings;

/// What a run over a model is asked to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The graph.
    pub graph: GraphSource,
    /// Where splits come from; the masks of the graph file without.
    pub splits: Option<SplitSource>,
    /// Which splits; the only one without.
    pub split: Vec<usize>,
    /// The shares of drawn splits.
    pub shares: (f64, f64),
    /// The seeds that stand in paths, or those of drawn splits where no path has any.
    pub seeds: Vec<u64>,
    /// The splits that the checkpoints were trained on, if others.
    pub trained_on: Option<PathBuf>,
    /// The checkpoint of each run.
    pub model: Template,
    /// Settings that win over those of the checkpoints.
    pub flags: Flags,
    /// The attacked graphs of each run.
    pub conditions: Vec<Condition>,
    /// A name for the only run.
    pub run: Option<String>,
    /// The name of the attack.
    pub attack: Option<String>,
    /// The parameters; those of the model are filled in.
    pub protocol: Robustness,
    /// Whether the table of nodes is wanted.
    pub per_node: bool,
}

/// Measures every pair of every run, or those of one shard. `inputs` holds what was read for the
/// options themselves.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Measured> {
    options.check()?;
    let inputs = inputs.keep_going(work.keep_going);
    let plan = Plan::new(options, &inputs)?;
    let chosen = work.choose(&plan.units, &inputs, &[])?;
    // Few pairs leave workers free to share the work on one.
    let within = (work.threads / chosen.units.len().max(1)).max(1);
    let reading = options.reading();
    let protocol = Robustness {
        prepare: Some(options.graph.prepare),
        model_settings: Some(shown(&plan.settings)),
        cutoff: options.protocol.cutoff.or(plan.settings.penalty.cutoff().map(|cutoff| cutoff.max(0.0))),
        ..options.protocol.clone()
    };
    let (how, reserve) = ((&inputs, Some(&reading)), |unit: &UnitPlan| plan.reserve(unit));
    let measured = measure_pairs(&protocol, &chosen, options.per_node, work, how, reserve, |unit, inputs| {
        plan.pair(unit, within, inputs)
    });
    let Measured { accumulator, nodes } = measured?;
    Ok(Measured { accumulator: chosen.recorded(accumulator, inputs, Some(reading))?, nodes })
}

/// The settings of a model as the protocol shows them.
fn shown(settings: &Settings) -> ModelSettings {
    let penalty = &settings.penalty;
    ModelSettings {
        penalty: penalty.kind().to_string(),
        weights: penalty.weights().to_string(),
        gamma: penalty.gamma(),
        lambda_hat: settings.lambda_hat,
        layers: settings.layers.into(),
        scad_a: penalty.scad_a(),
        scad_scale: penalty.scad_scale().to_string(),
    }
}

impl Options {
    /// Refuses options that mean nothing: wrong usage, not wrong data.
    pub fn check(&self) -> Result<()> {
        self.protocol.clone().checked()?;
        self.attack.as_deref().map_or(Ok(()), calipers_sources::robustness::options::check_attack)?;
        if self.conditions.is_empty() {
            return Err(
                Error::usage("no attacked graph is given").allowed("--attacked B=FILE or --flips B=FILE")
            );
        }
        let twice = self.seeds.iter().enumerate().find(|(place, seed)| self.seeds[..*place].contains(seed));
        if let Some((_, seed)) = twice {
            return Err(Error::usage("--seeds names one seed twice").found(seed));
        }
        let used = self.seeds_in_paths() || matches!(self.splits, Some(SplitSource::Stratified(_)));
        if !self.seeds.is_empty() && !used {
            return Err(Error::usage(
                "--seeds are for {seed} in paths or for drawn splits, and there are neither",
            ));
        }
        self.run.as_deref().map_or(Ok(()), calipers_sources::robustness::options::check_run)
    }

    /// Whether seeds tell runs apart, not splits.
    fn seeds_in_paths(&self) -> bool {
        let paths = self.conditions.iter().map(|condition| &condition.path);
        std::iter::once(&self.model).chain(paths).any(Template::has_seeds)
    }

    /// The options that say how files are found and read.
    fn reading(&self) -> Reading {
        let text = |text: Option<String>| text.map_or(Setting::Unset, Setting::Text);
        let list = |words: Vec<String>| Setting::List(words);
        let splits = self.splits.as_ref().map(|source| match source {
            SplitSource::Masks => "masks".to_owned(),
            SplitSource::Stratified(count) => format!("stratified:{count}"),
            SplitSource::File(_) => "file".to_owned(),
        });
        let settings = [
            ("attack", text(self.attack.clone())),
            ("budgets", list(self.conditions.iter().map(|condition| condition.budget.to_string()).collect())),
            ("run", text(self.run.clone())),
            ("seeds", list(self.seeds.iter().map(u64::to_string).collect())),
            ("shares", text(Some(format!("{},{}", self.shares.0, self.shares.1)))),
            ("split", list(self.split.iter().map(usize::to_string).collect())),
            ("splits", text(splits)),
        ];
        settings.into_iter().map(|(key, setting)| (key.to_owned(), setting)).collect()
    }
}
