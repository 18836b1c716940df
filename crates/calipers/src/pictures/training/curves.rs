//! The curve of every fold, with threshold, first saturation and broken epochs.

use std::collections::BTreeMap;

use calipers_core::Accumulator;
use calipers_metrics::training::Training;
use calipers_report::chart::lines::{self, Lines, Mark, thinned};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::{Cell, Grid};
use calipers_report::number::{rounded, shortest};

use super::super::readings::{missing, table, words};
use super::configurations;
use crate::families::training::{Curve, curves};
use crate::replay::Evidence;

/// How many groups are drawn.
const MOST_GROUPS: usize = 8;
/// How many folds of a group are drawn.
const MOST_FOLDS: usize = 40;
const SLUG: &str = "curves";
const TITLE: &str = "Training curves";

/// All groups side by side, where there are several, and one picture for each.
pub(super) fn pictures(rows: &Accumulator<Training>, evidence: &Evidence) -> Vec<Picture> {
    let protocol = rows.protocol();
    let replay = match evidence {
        Evidence::Available(replay) => replay,
        Evidence::Missing(why) => return vec![missing(SLUG, TITLE, why)],
    };
    let found = match curves(replay) {
        Ok(found) => found,
        Err(error) => return vec![missing(SLUG, TITLE, error.to_string())],
    };
    let mut groups: BTreeMap<&str, Vec<&Curve>> = BTreeMap::new();
    for curve in &found {
        groups.entry(&curve.group).or_default().push(curve);
    }
    let cut = leave_out_parts(&mut groups, rows);
    let count = groups.len();
    let side_by_side = configurations::picture(protocol, &groups);
    if count == 0 {
        return vec![missing(SLUG, TITLE, "there is no run")];
    }
    let mut pictures: Vec<Picture> = groups
        .into_iter()
        .take(MOST_GROUPS)
        .enumerate()
        .map(|(i, (group, folds))| one_group(protocol, i + 1, group, &folds))
        .collect();
    if count > MOST_GROUPS
        && let Some(last) = pictures.last_mut()
    {
        last.caption += &format!(" The first {MOST_GROUPS} of {count} configurations are drawn.");
    }
    if let Some(last) = pictures.last_mut().filter(|_| cut > 0) {
        last.caption += &format!(" {cut} more configurations are not drawn: there are too many runs.");
    }
    side_by_side.into_iter().chain(pictures).collect()
}

/// Leaves out groups of which only a part of the runs was kept as curves: their mean and their band would be
/// those of a part. Returns how many there are, with those of which no run was kept. A group alone stays.
fn leave_out_parts(groups: &mut BTreeMap<&str, Vec<&Curve>>, rows: &Accumulator<Training>) -> usize {
    let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
    let all = rows.rows();
    all.iter().for_each(|row| *runs.entry(row.group.as_str()).or_default() += 1);
    if runs.len() > 1 {
        groups.retain(|group, folds| runs.get(*group).is_none_or(|runs| *runs <= folds.len()));
    }
    runs.len().saturating_sub(groups.len())
}

fn one_group(protocol: &Training, number: usize, group: &str, folds: &[&Curve]) -> Picture {
    let shown = &folds[..folds.len().min(MOST_FOLDS)];
    let values = || shown.iter().flat_map(|fold| fold.values.iter().copied());
    let y = Axis::around(protocol.label.clone(), values().chain([protocol.threshold]));
    let drawing = Lines {
        title: format!("{TITLE}: {group}"),
        description: format!(
            "{} folds over their epochs with the threshold {}",
            folds.len(),
            shortest(protocol.threshold)
        ),
        x: Axis::around(x_title(protocol), shown.iter().flat_map(|fold| fold.x.iter().copied())),
        y,
        curves: shown.iter().enumerate().map(|(i, fold)| curve(i, fold, shown.len())).collect(),
        levels: vec![(protocol.threshold, format!("threshold {}", shortest(protocol.threshold)))],
        signs: signs(shown),
    };
    let left_out = match folds.len() - shown.len() {
        0 => String::new(),
        n => format!(" {n} more folds are not drawn."),
    };
    let saturated = shown.iter().filter(|fold| fold.saturation.is_some()).count();
    Picture {
        slug: format!("{SLUG}-{number}"),
        title: if group.is_empty() { TITLE.into() } else { format!("{TITLE}: {group}") },
        caption: format!(
            "{saturated} of {} folds pass the threshold. Red: epochs after the first saturation that fall \
             back behind it.{left_out}",
            shown.len()
        ),
        art: Art::Chart(Chart::Lines(drawing)),
        data: vec![("curves".into(), listed(shown))],
        unit: None,
    }
}

/// What the legend explains beside the folds: only what there is.
fn signs(folds: &[&Curve]) -> Vec<(Colour, String, Mark)> {
    let saturated = folds.iter().any(|fold| fold.saturation.is_some());
    let broken = folds.iter().any(|fold| !fold.broken.is_empty());
    [
        (saturated, Colour::Ink, "first saturation", Mark::Ring),
        (broken, Colour::Bad, "broken epochs", Mark::Stretch),
    ]
    .into_iter()
    .filter(|(there, ..)| *there)
    .map(|(_, colour, name, mark)| (colour, name.to_owned(), mark))
    .collect()
}

/// What a fold is called; many say so themselves.
pub(super) fn named(fold: &str) -> String {
    if fold.to_ascii_lowercase().starts_with("fold") { fold.to_owned() } else { format!("fold {fold}") }
}

pub(super) fn x_title(protocol: &Training) -> String {
    if protocol.x == "auto" { "epoch or step".into() } else { protocol.x.clone() }
}

fn curve(place: usize, fold: &Curve, folds: usize) -> lines::Curve {
    let points: Vec<(f64, f64)> = fold.x.iter().copied().zip(fold.values.iter().copied()).collect();
    let at = |position: usize| points.get(position).copied().filter(|(_, y)| y.is_finite());
    let mark = fold.saturation.and_then(at).map(|(x, y)| {
        (x, y, Mark::Ring, format!("{} saturates at {} with {}", named(&fold.fold), rounded(x), rounded(y)))
    });
    let mut stretches: Vec<(f64, f64)> = Vec::new();
    for run in fold.broken.chunk_by(|a, b| b - a == 1) {
        if let (Some(first), Some(last)) = (run.first(), run.last())
            && let (Some(from), Some(to)) = (points.get(*first), points.get(*last))
        {
            stretches.push((from.0, to.0));
        }
    }
    lines::Curve {
        name: (folds <= 8).then(|| named(&fold.fold)),
        width: if folds <= 8 { 1.8 } else { 1.2 },
        opacity: if folds <= 8 { 0.9 } else { 0.65 },
        marks: mark.into_iter().collect(),
        stretches,
        tip: named(&fold.fold),
        ..lines::Curve::new(Colour::Series(place), points)
    }
}

/// The points that are drawn.
fn listed(folds: &[&Curve]) -> Grid {
    let rows = folds.iter().flat_map(|fold| {
        let points: Vec<(f64, f64)> = fold.x.iter().copied().zip(fold.values.iter().copied()).collect();
        thinned(&points).into_iter().map(|(x, value)| {
            vec![
                words(&fold.fold),
                Cell::Number(x),
                Cell::from(Some(value).filter(|value| value.is_finite())),
            ]
        })
    });
    table(&["fold", "x", "value"], rows)
}
