//! The numbers behind the bias curve, one line a model and budget.

use calipers_core::Value;
use calipers_metrics::robustness::{
    BIAS_MEAN, BIAS_RELATIVE, BIAS_TOTAL, Budget, CLEAN_ACCURACY, FLIPS_ADDED, FLIPS_REMOVED, ROBUST_ACCURACY,
};
use calipers_report::grid::{Cell, Grid};
use calipers_rung::reproduce::Reproduction;

const SCALARS: [&str; 5] =
    [BIAS_TOTAL.id, BIAS_MEAN.id, BIAS_RELATIVE.id, CLEAN_ACCURACY.id, ROBUST_ACCURACY.id];

/// What was allowed, what was used, and how far it moved the model.
pub(super) fn figure6(found: &Reproduction, seeds: &[u64]) -> Grid {
    let names = ["penalty", "weights", "gamma", "split", "seed", "budget", "allowed", "flips"];
    let columns = names.into_iter().chain(SCALARS).map(str::to_owned).collect();
    let mut rows = Vec::new();
    for penalty in &found.penalties {
        let table = penalty.accumulator.per_unit();
        // The first column is the unit's name, which is not among the cells.
        let column = |name: &str| table.columns.iter().skip(1).position(|column| column == name);
        for (_, cells) in &table.rows {
            let value = |name: &str| column(name).map(|at| &cells[at]);
            let text = |name: &str| match value(name) {
                Some(Value::Text(text)) => text.to_string(),
                _ => String::new(),
            };
            let number = |name: &str| value(name).and_then(Value::as_f64);
            let (run, budget) = (text("run"), text("budget"));
            // Runs are named after their seed only where there are several.
            let (split, seed) = match run.split_once("-seed") {
                Some((split, seed)) => (split, seed.to_owned()),
                None => (run.as_str(), seeds.first().map_or(String::new(), u64::to_string)),
            };
            let split: Option<f64> = split.trim_start_matches("split").parse().ok();
            let flips =
                number(FLIPS_ADDED.id).zip(number(FLIPS_REMOVED.id)).map(|(added, removed)| added + removed);
            let mut row = vec![
                Cell::Text(penalty.penalty.kind().to_string()),
                Cell::Text(penalty.penalty.weights().to_string()),
                penalty.penalty.gamma().into(),
                split.into(),
                // As text: an f64 does not hold every seed.
                Cell::Text(seed),
                Cell::Text(budget.clone()),
                Budget::parse(&budget).ok().map(|budget| budget.allowed(found.edges) as f64).into(),
                flips.into(),
            ];
            row.extend(SCALARS.map(|name| number(name).into()));
            rows.push(row);
        }
    }
    Grid { columns, rows }
}
