//! Warnings about the folds of a group.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Rows, Warning};

use crate::training::protocol::Training;
use crate::training::row::Row;
use crate::warnings::{about, about_run, listed, units};

/// From how many folds on a trend over them means something.
const TREND: usize = 5;

/// The runs of each configuration.
fn groups<'a>(rows: &Rows<'a, Row>) -> BTreeMap<&'a str, Vec<&'a Row>> {
    let mut groups: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|run| groups.entry(&run.group).or_default().push(run));
    groups
}

pub(super) fn failed(rows: &Rows<'_, Row>) -> Option<Warning> {
    let mut failed = BTreeSet::new();
    let mut shown = Vec::new();
    for (name, runs) in groups(rows) {
        let never = runs.iter().filter(|run| run.strict.is_none()).count();
        if never > 0 && never < runs.len() {
            failed.insert(name);
            shown.push(format!("{never} of {} in {name}", runs.len()));
        }
    }
    let units = units(rows, |row| row.strict.is_none() && failed.contains(row.group.as_str()));
    about("failed-folds", units, |_| {
        format!(
            "some folds never saturate ({}): wise averages only the others, naive counts them as 0 epochs; see \
             velocity_rmst",
            listed(shown, "; ")
        )
    })
}

pub(super) fn trend(protocol: &Training, rows: &Rows<'_, Row>) -> Option<Warning> {
    let mut suspect = groups(rows);
    suspect.retain(|_, runs| has_trend(protocol, runs).unwrap_or(false));
    let units = units(rows, |row| suspect.contains_key(row.group.as_str()));
    about("fold-trend", units, |_| {
        format!(
            "folds improve on each other in {}: weights may be carried over from fold to fold",
            listed(suspect.keys().copied(), "; ")
        )
    })
}

/// Whether the first values improve from fold to fold, or the first fold is the worst in every
/// respect; `None` where folds are not distinct whole numbers or a value is missing.
fn has_trend(protocol: &Training, runs: &[&Row]) -> Option<bool> {
    let mut folds = runs
        .iter()
        .map(|run| {
            let digits = run.fold.bytes().all(|byte| byte.is_ascii_digit());
            Some((digits.then(|| run.fold.parse::<u64>().ok())??, run.first?, run.last?, run.epochs))
        })
        .collect::<Option<Vec<_>>>()?;
    folds.sort_by_key(|(fold, ..)| *fold);
    if folds.len() < TREND || folds.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let better = |a, b| protocol.direction.better(a, b);
    let improving = folds.windows(2).all(|pair| better(pair[1].1, pair[0].1));
    let ((_, first, last, epochs), others) = folds.split_first()?;
    let worst =
        others.iter().all(|other| better(other.1, *first) && better(other.2, *last) && other.3 < *epochs);
    Some(improving || worst)
}

pub(super) fn uneven(protocol: &Training, rows: &Rows<'_, Row>) -> Option<Warning> {
    let groups = groups(rows);
    let sizes: BTreeSet<usize> = groups.values().map(Vec::len).collect();
    if protocol.folds.is_some() || sizes.len() < 2 {
        return None;
    }
    let shown = groups.iter().map(|(name, runs)| format!("{} in {name}", runs.len()));
    let message = format!(
        "groups have different numbers of folds ({}): declare them with --folds",
        listed(shown, "; ")
    );
    Some(about_run("uneven-folds", message))
}

pub(super) fn missing(protocol: &Training, rows: &Rows<'_, Row>) -> Option<Warning> {
    let folds = protocol.declared_folds()?;
    let groups = groups(rows).into_iter().map(|(name, runs)| (name, runs.len() as u64));
    let short = groups.filter(|(_, runs)| *runs < folds);
    let short: Vec<String> = short.map(|(name, runs)| format!("{runs} of {folds} in {name}")).collect();
    let message = |short| format!("folds are missing ({short}): strict aggregations have no value there");
    (!short.is_empty()).then(|| about_run("missing-folds", message(listed(short, "; "))))
}
