//! What a file has about it that a reader of the numbers should know.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use calipers_io::history::{Field, Table};
use calipers_metrics::training::Sample;

use super::logs::Log;
use super::runs::claims::Claim;
use super::runs::resolve::fact;
use super::runs::split::{Part as RunPart, Split};

/// How many rows W&B's `history()` gives when it samples.
const SAMPLED_ROWS: usize = 500;

/// Refuses an x that cannot be epochs: whole numbers, one from the next by 1 as a rule.
pub(super) fn these_are_epochs(key: &str, samples: &[Sample]) -> Result<()> {
    let mut x: Vec<f64> = samples.iter().map(|sample| sample.x).collect();
    x.sort_by(f64::total_cmp);
    x.dedup_by_key(|x| x.to_bits());
    let whole = x.iter().all(|x| x.fract().abs() <= 0.0);
    let mut distances: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_by(f64::total_cmp);
    let usual = distances.get(distances.len().saturating_sub(1) / 2).copied();
    if whole && usual.is_none_or(|usual| usual.to_bits() == 1.0_f64.to_bits()) {
        return Ok(());
    }
    let usual = usual.map_or_else(String::new, |usual| format!(", usually {usual} from one to the next"));
    Err(Error::value("these are steps, not epochs")
        .found(format!("{} values of '{key}'{usual}", x.len()))
        .allowed("with --index epoch, a key that ends in epoch, or whole numbers 1 apart")
        .advice("name the key of the epochs with --x KEY, or leave out --index epoch"))
}

/// What a run's file has about it that a reader of the numbers should know.
pub(super) fn noticed(
    log: &Log,
    part: &RunPart,
    split: &Split,
    at: usize,
    claim: &Claim,
) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some(steps) = sampled(&log.table, part, split, at) {
        facts.push(fact(
            "sampled-history",
            format!("{SAMPLED_ROWS} rows over {steps} steps in {}", claim.file),
        ));
    }
    // What is cut off belongs to the run that the rows before it belong to.
    let last = log.table.rows.checked_sub(1).and_then(|row| split.run_of(row as u32));
    if let Some(cut_at) = log.table.cut_at.filter(|_| last.is_none_or(|run| run == at)) {
        let file = match (&log.cut_in, &log.files[..]) {
            (Some(file), _) | (None, [file]) => file,
            _ => &claim.file,
        };
        facts.push(fact("truncated-file", format!("{file} at byte {cut_at}")));
    }
    if log.aggregated {
        facts.push(fact("aggregated-panel", format!("run {} in {}", claim.run, claim.file)));
    }
    if log.joined {
        facts.push(fact("checkpoints-joined", format!("run {}: {}", claim.run, log.files.join(", "))));
    }
    let kept_apart: BTreeMap<Field, &str> = BTreeMap::from([
        (Field::Group, "wandb-group"),
        (Field::Project, "wandb-project"),
        (Field::Experiment, "mlflow-experiment"),
        (Field::Parent, "mlflow-parent"),
    ]);
    for (field, code) in kept_apart {
        if let Some(text) = log.table.run.field(field).filter(|text| !text.is_empty()) {
            facts.push(fact(code, text.to_owned()));
        }
    }
    facts
}

/// Over how many steps a table of W&B was sampled, if it looks so.
fn sampled(table: &Table, part: &RunPart, split: &Split, at: usize) -> Option<f64> {
    let may_be = table.origin.is_table() && part.rows == SAMPLED_ROWS;
    let steps = table.number("_step").filter(|_| may_be)?;
    let mine = steps.rows.iter().zip(&steps.values).filter(|(row, _)| split.run_of(**row) == Some(at));
    let (low, high) = mine
        .map(|(_, step)| *step)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), step| (low.min(step), high.max(step)));
    let steps = high - low + 1.0;
    (steps > SAMPLED_ROWS as f64).then_some(steps)
}
