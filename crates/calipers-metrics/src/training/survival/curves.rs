//! The Kaplan-Meier curve of every configuration, for pictures.

use std::collections::BTreeMap;

use calipers_core::Rows;

use super::kaplan_meier::Survival;
use super::lifetimes::Lifetime;
use crate::training::row::Row;

/// The share of runs of a configuration that have not saturated yet.
#[derive(Clone, Debug, PartialEq)]
pub struct SurvivalCurve {
    /// The epochs at which it falls, ascending, and the share left from there on.
    pub steps: Vec<(u64, f64)>,
    /// The epochs at which runs end without having saturated, ascending.
    pub ended: Vec<u64>,
    /// The last epoch of any run: beyond it nothing is known.
    pub last: u64,
}

/// The curve of each configuration by the strict rule, in byte order of their names.
pub fn survival_curves(rows: &Rows<'_, Row>) -> Vec<(String, SurvivalCurve)> {
    let mut groups: BTreeMap<&str, Vec<Lifetime>> = BTreeMap::new();
    for run in rows.iter() {
        groups.entry(&run.group).or_default().push(Lifetime::of(run));
    }
    let curve = |(name, mut runs): (&str, Vec<Lifetime>)| {
        runs.sort_unstable();
        let survival = Survival::new(runs.iter().map(|run| (*run, 1)));
        let ended = runs.iter().filter(|run| !run.saturates).map(|run| run.epoch).collect();
        (name.to_owned(), SurvivalCurve { steps: survival.heights(), ended, last: survival.last })
    };
    groups.into_iter().map(curve).collect()
}
