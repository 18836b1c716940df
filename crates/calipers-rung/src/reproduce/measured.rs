//! The finished parts measured, every penalty in the same bins.

use calipers_core::{Accumulator, Result};
use calipers_metrics::robustness::Robustness;
use calipers_metrics::robustness::figures;
use calipers_sources::inputs::Inputs;
use calipers_sources::run::Work;

use super::Options;
use super::parts::Paths;
use super::plan::Plan;
use crate::files::checkpoint::Flags;
use crate::from_model;
use crate::model::Penalty;

/// The pairs of one penalty.
#[derive(Debug)]
pub struct MeasuredPenalty {
    /// What figures and messages call it.
    pub label: String,
    /// The penalty.
    pub penalty: Penalty,
    /// Its pairs.
    pub accumulator: Accumulator<Robustness>,
}

/// Measures twice: once to learn the range of all edge differences, once in the bins of that range.
pub(super) fn measure(
    options: &Options,
    plan: &Plan,
    labels: &[String],
    threads: usize,
) -> Result<Vec<MeasuredPenalty>> {
    let measure =
        |penalty: &Penalty, label: &str, hist_range: Option<[f64; 2]>| -> Result<Accumulator<Robustness>> {
            let paths = Paths::new(&options.out, penalty);
            let asked = from_model::Options {
                graph: plan.source.clone(),
                splits: Some(plan.splits.source.clone()),
                split: plan.chosen.iter().map(|(number, _)| *number).collect(),
                shares: plan.splits.shares,
                seeds: options.seeds.clone(),
                trained_on: None,
                model: paths.model(),
                flags: Flags::default(),
                conditions: paths.conditions(&options.budgets),
                run: None,
                attack: None,
                protocol: Robustness { hist_range, model: Some(label.to_owned()), ..Robustness::default() },
                per_node: false,
            };
            let measured = from_model::measure(&asked, Inputs::default(), &Work::quiet(threads))?;
            Ok(measured.accumulator)
        };
    let mut range: Option<[f64; 2]> = None;
    for (label, penalty) in labels.iter().zip(&options.penalties) {
        let found = figures::range(&measure(penalty, label, None)?.rows());
        range = match (range, found) {
            (Some([low, high]), Some([other_low, other_high])) => {
                Some([low.min(other_low), high.max(other_high)])
            }
            (one, other) => one.or(other),
        };
    }
    let range = range.filter(|[low, high]| low < high);
    let penalty = |(label, penalty): (&String, &Penalty)| {
        let accumulator = measure(penalty, label, range)?;
        Ok(MeasuredPenalty { label: label.clone(), penalty: *penalty, accumulator })
    };
    labels.iter().zip(&options.penalties).map(penalty).collect()
}
