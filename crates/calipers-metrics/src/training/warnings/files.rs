//! Warnings whose evidence was noticed while reading files.

use std::collections::BTreeSet;

use calipers_core::{Fact, Provenance, Rows, Warning};

use super::{about, counted, listed};
use crate::training::protocol::Training;
use crate::training::row::Row;

pub(super) fn sampled(provenance: &Provenance) -> Option<Warning> {
    noticed(provenance, "sampled-history", |units, details| {
        format!(
            "the history of {} looks sampled ({details}): W&B `history()` gives at most 500 rows; export with \
             `scan_history()`",
            counted(units)
        )
    })
}

pub(super) fn truncated(provenance: &Provenance) -> Option<Warning> {
    noticed(provenance, "truncated-file", |_, details| {
        format!("the last record is cut off, what was logged in it is lost: {details}")
    })
}

pub(super) fn aggregated(provenance: &Provenance) -> Option<Warning> {
    noticed(provenance, "aggregated-panel", |units, details| {
        format!(
            "the panel export of {} holds aggregates, minimum and maximum differ: {details}; export the runs \
             themselves",
            counted(units)
        )
    })
}

pub(super) fn groups_ignored(protocol: &Training, provenance: &Provenance) -> Option<Warning> {
    let facts = || provenance.facts.iter().filter(|fact| fact.code == "wandb-group");
    let groups: BTreeSet<&str> = facts().map(|fact| fact.detail.as_str()).collect();
    if protocol.group_by != "none" || groups.len() < 2 {
        return None;
    }
    let units = facts().map(|fact| fact.unit.clone()).collect::<BTreeSet<_>>().into_iter().collect();
    about("groups-ignored", units, |units| {
        format!(
            "{} of {} W&B groups are taken as one configuration ({}): use --group-by wandb to keep them apart",
            counted(units),
            groups.len(),
            listed(groups.iter().copied())
        )
    })
}

pub(super) fn cumulative_carbon(provenance: &Provenance) -> Option<Warning> {
    noticed(provenance, "cumulative-carbon", |_, details| {
        format!("emissions grow from fold to fold, they may be running totals: {details}")
    })
}

/// There is a fact for every run that a file of runs lists, in every shard; those that were
/// measured or lack the metric have a history. A shard alone knows nothing of the others' runs.
pub(super) fn without_history(rows: &Rows<'_, Row>, provenance: &Provenance) -> Option<Warning> {
    let shards = &provenance.shards;
    if !shards.is_empty() && shards.iter().all(|(of, have)| have.len() < *of as usize) {
        return None;
    }
    let facts = || provenance.facts.iter();
    let mut with: BTreeSet<&str> = rows.named().map(|(unit, _)| unit).collect();
    with.extend(facts().filter(|fact| fact.code == "metric-missing").map(|fact| fact.unit.as_str()));
    let missing = |fact: &&Fact| fact.code == "missing-history" && !with.contains(fact.unit.as_str());
    let missing: Vec<&Fact> = facts().filter(missing).collect();
    let units = missing.iter().map(|fact| fact.unit.clone()).collect();
    about("missing-history", units, |units| {
        let details = listed(missing.iter().map(|fact| fact.detail.as_str()));
        format!("{} without a history: {details}", counted(units))
    })
}

pub(super) fn without_metric(provenance: &Provenance) -> Option<Warning> {
    noticed(provenance, "metric-missing", |units, details| {
        format!("{} left out for lack of the metric: {details}", counted(units))
    })
}

/// The warning of all facts under a code; the message is made of the units and the details.
fn noticed(
    provenance: &Provenance,
    code: &str,
    message: impl Fn(&[String], &str) -> String,
) -> Option<Warning> {
    let facts = || provenance.facts.iter().filter(|fact| fact.code == code);
    let mut units: Vec<String> = facts().map(|fact| fact.unit.clone()).collect();
    units.dedup();
    let mut details: Vec<&str> = facts().map(|fact| fact.detail.as_str()).collect();
    details.dedup();
    about(code, units, |units| message(units, &listed(details.iter().copied())))
}
