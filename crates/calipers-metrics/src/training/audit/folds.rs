//! Warnings about the folds of a group.

use std::collections::BTreeSet;

use calipers_core::{Rows, Warning};

use super::super::protocol::Training;
use super::super::reading::{Group, groups};
use super::super::row::Row;
use super::{concerning, listed, whole};

/// From how many folds on a trend over them means something.
const TREND: usize = 5;

pub(super) fn failed(protocol: &Training, rows: &Rows<'_, Row>) -> Vec<Warning> {
    let mut failed = BTreeSet::new();
    let mut shown = Vec::new();
    for (name, runs) in groups(rows) {
        let saturating = Group { protocol, runs: &runs }.saturating().count();
        if saturating > 0 && saturating < runs.len() {
            failed.insert(name);
            shown.push(format!("{} of {} in {name}", runs.len() - saturating, runs.len()));
        }
    }
    let units = named(rows, |row| row.strict.is_none() && failed.contains(row.group.as_str()));
    concerning("failed-folds", units, |_| {
        format!(
            "some folds never saturate ({}): wise averages only the others, naive counts them as 0 epochs; see \
             velocity_rmst",
            listed(shown.clone())
        )
    })
}

pub(super) fn trend(protocol: &Training, rows: &Rows<'_, Row>) -> Vec<Warning> {
    let suspect: BTreeSet<&str> = groups(rows)
        .into_iter()
        .filter(|(_, runs)| has_trend(protocol, runs).unwrap_or(false))
        .map(|(name, _)| name)
        .collect();
    let units = named(rows, |row| suspect.contains(row.group.as_str()));
    concerning("fold-trend", units, |_| {
        format!(
            "folds improve on each other in {}: weights may be carried over from fold to fold",
            listed(suspect.iter().copied())
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

pub(super) fn uneven(protocol: &Training, rows: &Rows<'_, Row>) -> Vec<Warning> {
    let groups = groups(rows);
    let sizes: BTreeSet<usize> = groups.iter().map(|(_, runs)| runs.len()).collect();
    if protocol.folds.is_some() || sizes.len() < 2 {
        return Vec::new();
    }
    let shown = groups.iter().map(|(name, runs)| format!("{} in {name}", runs.len()));
    let message =
        format!("groups have different numbers of folds ({}): declare them with --folds", listed(shown));
    vec![whole("uneven-folds", message)]
}

pub(super) fn missing(protocol: &Training, rows: &Rows<'_, Row>) -> Vec<Warning> {
    if protocol.folds.is_none() && !protocol.preset.is_table() {
        return Vec::new();
    }
    let short: Vec<String> = groups(rows)
        .iter()
        .map(|(name, runs)| (name, runs.len() as u64, Group { protocol, runs }.folds()))
        .filter(|(_, runs, folds)| runs < folds)
        .map(|(name, runs, folds)| format!("{runs} of {folds} in {name}"))
        .collect();
    if short.is_empty() {
        return Vec::new();
    }
    let message = format!("folds are missing ({}): strict aggregations have no value there", listed(short));
    vec![whole("missing-folds", message)]
}

fn named(rows: &Rows<'_, Row>, wrong: impl Fn(&Row) -> bool) -> Vec<String> {
    rows.named().filter(|(_, row)| wrong(row)).map(|(name, _)| name.into()).collect()
}
