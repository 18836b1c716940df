//! What the per-run JSON of a study says about the report as a whole.

pub mod endings;
pub mod runs_file;

use calipers_core::{Fact, Warning};
use calipers_metrics::training::unit_name;

use self::runs_file::{Group, RunsFile};
use crate::training::assign::GroupBy;
use crate::training::options::Options;

/// How many folds it takes to see a trend.
const TREND: usize = 3;

/// The facts that follow from the file alone, the same for every shard.
pub fn facts(options: &Options) -> Vec<Fact> {
    let Some(runs) = &options.assignment.runs else { return Vec::new() };
    let mut facts = carbon(runs);
    if matches!(options.assignment.group_by, GroupBy::Runs) {
        facts.extend(runs.groups.iter().flat_map(listed));
    }
    facts
}

/// Every run that the file lists; the warning is about those that turn out to have no history.
fn listed(group: &Group) -> impl Iterator<Item = Fact> {
    group.runs.iter().map(|(fold, run)| {
        let name = run.name.as_ref().or(run.id.as_ref());
        let detail = name.map_or_else(|| format!("fold {fold} of {}", group.name), Clone::clone);
        Fact { code: "missing-history".into(), unit: unit_name(&group.name, fold), detail }
    })
}

/// What looks wrong about the file alone.
pub fn doubts(runs: &RunsFile) -> Vec<Warning> {
    warned(&carbon(runs))
}

/// Emissions that grow, as a warning.
pub(super) fn warned(growing: &[Fact]) -> Vec<Warning> {
    let warning = growing.first().map(|first| Warning {
        code: first.code.clone(),
        message: format!("emissions grow from fold to fold, they may be running totals: {}", first.detail),
        units: growing.iter().map(|fact| fact.unit.clone()).collect(),
    });
    warning.into_iter().collect()
}

/// The groups whose emissions grow from fold to fold.
pub fn carbon(runs: &RunsFile) -> Vec<Fact> {
    let growing = runs.groups.iter().filter_map(|group| {
        let mut folds: Vec<(&String, f64)> = group
            .summary
            .iter()
            .flatten()
            .filter_map(|(fold, summary)| Some((fold, summary.emissions?)))
            .collect();
        // Numbers before words, in their own order.
        folds.sort_by_key(|(fold, _)| (fold.parse::<u64>().map_or((1, 0), |number| (0, number)), *fold));
        let grows = folds.len() >= TREND && folds.windows(2).all(|pair| pair[0].1 < pair[1].1);
        let (first, last) = (folds.first()?.1, folds.last()?.1);
        let detail = format!("{} from {first} to {last} over {} folds", group.name, folds.len());
        grows.then(|| Fact { code: "cumulative-carbon".into(), unit: group.name.clone(), detail })
    });
    growing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carbon_of(emissions: &[(&str, f64)]) -> usize {
        let folds: Vec<String> = emissions
            .iter()
            .map(|(fold, x)| format!(r#""fold{fold}": {{"carbon_data": {{"train_emissions": {x}}}}}"#))
            .collect();
        let text = format!(r#"{{"p": {{"g": {{"runs": {{}}, "summary": {{{}}}}}}}}}"#, folds.join(","));
        carbon(&RunsFile::parse(text.as_bytes(), None).unwrap()).len()
    }

    #[test]
    fn emissions_that_grow_with_every_fold_look_like_running_totals() {
        assert_eq!(carbon_of(&[("0", 0.1), ("1", 0.2), ("2", 0.3)]), 1);
        assert_eq!(carbon_of(&[("10", 0.3), ("9", 0.2), ("8", 0.1)]), 1, "folds in the order of numbers");
        assert_eq!(carbon_of(&[("0", 0.1), ("1", 0.2)]), 0);
        assert_eq!(carbon_of(&[("0", 0.1), ("1", 0.2), ("2", 0.2)]), 0);
    }
}
