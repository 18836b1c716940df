//! Warnings whose evidence was noticed while reading files.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Provenance, Rows, Warning};

use crate::training::protocol::Training;
use crate::training::protocol::parameters::Restarts;
use crate::training::row::Row;
use crate::warnings::{about, about_run, counted, details_of, listed, noticed, units_of};

pub(super) fn sampled(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "sampled-history", |units, details| {
        format!(
            "the history of {} looks sampled ({details}): W&B `history()` gives at most 500 rows; export with \
             `scan_history()`",
            counted(units)
        )
    })
}

pub(super) fn truncated(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "truncated-file", |_, details| {
        format!("the last record is cut off, what was logged in it is lost: {details}")
    })
}

pub(super) fn aggregated(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "aggregated-panel", |units, details| {
        format!(
            "the panel export of {} holds aggregates, minimum and maximum differ: {details}; export the runs \
             themselves",
            counted(units)
        )
    })
}

/// What trackers keep apart: the code of the facts, what it is called, and the rule that keeps it apart.
const KEPT_APART: [(&str, &str, &str, &str); 4] = [
    ("wandb-group", "W&B groups", "wandb", "group"),
    ("wandb-project", "W&B projects", "project", "project"),
    ("mlflow-experiment", "MLflow experiments", "experiment", "experiment"),
    ("mlflow-parent", "MLflow parent runs", "parent", "parent"),
];

pub(super) fn groups_ignored(protocol: &Training, provenance: &Provenance) -> Option<Warning> {
    if protocol.group_by != "none" {
        return None;
    }
    let (mut units, mut parts) = (BTreeSet::new(), Vec::new());
    for (code, what, rule, field) in KEPT_APART {
        let facts = noticed(provenance, code);
        let names = details_of(facts.clone());
        let Some(first) = names.first().filter(|_| names.len() > 1) else { continue };
        units.extend(facts.map(|fact| fact.unit.clone()));
        parts.push(format!(
            "{} {what} ({}): --group-by {rule} keeps them apart, --where '{field}={first}' reads one",
            names.len(),
            listed(names.iter().copied(), "; ")
        ));
    }
    about("groups-ignored", units.into_iter().collect(), |units| {
        format!(
            "{} are taken as one configuration, although they are of {}",
            counted(units),
            parts.join("; and of ")
        )
    })
}

pub(super) fn restarted(protocol: &Training, provenance: &Provenance) -> Option<Warning> {
    let rule = match protocol.restarts {
        Restarts::Append => "the sessions were put one after the other",
        Restarts::Runs => "each session is a run of its own",
        _ => "a later session took the place of earlier values; --restarts overlay keeps them",
    };
    of_facts(provenance, "restarted", |_, details| format!("{rule}: {details}"))
}

pub(super) fn shifted(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "steps-shifted", |_, details| {
        format!(
            "a resumed run counted its steps from the start again, they were shifted behind the earlier ones \
             ({details}): --restarts rewind takes them as they are"
        )
    })
}

pub(super) fn same_name(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "same-name", |_, details| {
        format!(
            "{details}: they are told apart by their ids; --fold-by id or column:COL names them otherwise"
        )
    })
}

/// The word for an x that is the position of a row.
const ROW: &str = "row";

pub(super) fn mixed_x(rows: &Rows<'_, Row>, provenance: &Provenance) -> Option<Warning> {
    let group_of: BTreeMap<&str, &str> = rows.named().map(|(unit, row)| (unit, row.group.as_str())).collect();
    let mut keys: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let facts = noticed(provenance, "x-of").filter(|fact| fact.detail != ROW);
    for fact in facts.clone() {
        let Some(group) = group_of.get(fact.unit.as_str()) else { continue };
        *keys.entry(group).or_default().entry(&fact.detail).or_default() += 1;
    }
    keys.retain(|_, of_group| of_group.len() > 1);
    let mixed = |unit: &str| group_of.get(unit).is_some_and(|group| keys.contains_key(group));
    let units: BTreeSet<String> = facts.map(|fact| fact.unit.clone()).filter(|unit| mixed(unit)).collect();
    let counted = |(group, of_group): (&&str, &BTreeMap<&str, usize>)| {
        let counts: Vec<String> = of_group.iter().map(|(key, runs)| format!("{key} in {runs}")).collect();
        format!("{group}: {}", counts.join(", "))
    };
    about("mixed-x", units.into_iter().collect(), |_| {
        let details = listed(keys.iter().map(counted), "; ");
        format!("runs of one group have their x from different keys ({details}): --x KEY takes one for all")
    })
}

pub(super) fn passed_x(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "x-fallback", |_, details| {
        format!("x was read from {details}, which is not logged beside every value: --x KEY names another")
    })
}

/// The fewest values that two logs of one run must agree in.
const ALIKE: usize = 3;

/// The format of a log, where it is, and the unit it became.
type Logged<'a> = (&'a str, &'a str, &'a str);

pub(super) fn logged_twice(provenance: &Provenance) -> Option<Warning> {
    // A fact is: how many values, what they are, the format, and where.
    let mut alike: BTreeMap<(usize, &str), Vec<Logged<'_>>> = BTreeMap::new();
    for fact in noticed(provenance, "values-of") {
        let mut words = fact.detail.splitn(4, ' ');
        let values = words.next().and_then(|count| count.parse::<usize>().ok());
        let (Some(values), Some(print), Some(format), Some(place)) =
            (values, words.next(), words.next(), words.next())
        else {
            continue;
        };
        if values >= ALIKE {
            alike.entry((values, print)).or_default().push((format, place, &fact.unit));
        }
    }
    let (mut units, mut details) = (BTreeSet::new(), Vec::new());
    for runs in alike.values() {
        let (format, place, _) = runs[0];
        for (other, elsewhere, unit) in runs.iter().filter(|(other, ..)| *other != format) {
            units.insert((*unit).to_owned());
            details.push(format!("{place} and {elsewhere}: --format {format} or --format {other} keeps one"));
        }
    }
    about("logged-twice", units.into_iter().collect(), |_| {
        format!("two runs of different formats have the same values, both count: {}", listed(details, "; "))
    })
}

pub(super) fn joined(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "checkpoints-joined", |_, details| {
        format!("checkpoints of one run were taken as one run, the one that went furthest counts: {details}")
    })
}

pub(super) fn unread(provenance: &Provenance) -> Option<Warning> {
    let details: Vec<&str> = noticed(provenance, "unread-log").map(|fact| fact.detail.as_str()).collect();
    let message = |details| format!("{}: export its runs as CSV", listed(details, "; "));
    (!details.is_empty()).then(|| about_run("unread-log", message(details)))
}

pub(super) fn cumulative_carbon(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "cumulative-carbon", |_, details| {
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
    let mut with: BTreeSet<&str> = rows.named().map(|(unit, _)| unit).collect();
    with.extend(noticed(provenance, "metric-missing").map(|fact| fact.unit.as_str()));
    let missing = noticed(provenance, "missing-history").filter(|fact| !with.contains(fact.unit.as_str()));
    about("missing-history", missing.clone().map(|fact| fact.unit.clone()).collect(), |units| {
        let details = listed(missing.map(|fact| fact.detail.as_str()), "; ");
        format!("{} without a history: {details}", counted(units))
    })
}

pub(super) fn without_metric(provenance: &Provenance) -> Option<Warning> {
    of_facts(provenance, "metric-missing", |units, details| {
        format!("{} left out for lack of the metric: {details}", counted(units))
    })
}

/// The details of all facts under a code, each once.
pub(super) fn details(provenance: &Provenance, code: &str) -> String {
    listed(details_of(noticed(provenance, code)), "; ")
}

/// The warning of all facts under a code; the message is made of the units and the details.
fn of_facts(
    provenance: &Provenance,
    code: &str,
    message: impl Fn(&[String], &str) -> String,
) -> Option<Warning> {
    let units = units_of(noticed(provenance, code));
    about(code, units, |units| message(units, &details(provenance, code)))
}
