//! The share of runs that have not saturated yet.

use calipers_core::Accumulator;
use calipers_metrics::training::Training;
use calipers_metrics::training::survival::{SurvivalCurve, survival_curves};
use calipers_report::chart::lines::{Course, Curve, Lines, Mark};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;

use super::super::readings::{missing, table, words};

const SLUG: &str = "survival";
const TITLE: &str = "Runs that have not saturated yet";
/// How many groups are drawn.
const MOST: usize = 8;

/// The picture.
pub(super) fn picture(rows: &Accumulator<Training>) -> Picture {
    let groups = survival_curves(&rows.rows());
    if groups.is_empty() {
        return missing(SLUG, TITLE, "there is no run");
    }
    let shown = &groups[..groups.len().min(MOST)];
    let last = shown.iter().map(|(_, curve)| curve.last).max().unwrap_or(1);
    let data = groups.iter().flat_map(|(group, curve)| {
        curve
            .steps
            .iter()
            .map(move |(epoch, share)| vec![words(group), Cell::Number(*epoch as f64), Cell::Number(*share)])
    });
    let data = table(&["group", "epoch", "not saturated"], data);
    let single = shown.len() == 1;
    let ended = shown.iter().any(|(_, curve)| !curve.ended.is_empty());
    let sign = (Colour::Quiet, "a run ends unsaturated".to_owned(), Mark::Stroke);
    let drawing = Lines {
        title: TITLE.into(),
        description: format!("Kaplan-Meier curves of {} configurations", shown.len()),
        x: Axis::around("epoch", [0.0, last as f64]),
        y: Axis::share("share not saturated"),
        curves: shown.iter().enumerate().map(|(i, (name, curve))| drawn(i, name, curve, single)).collect(),
        levels: vec![(0.5, "half".into())],
        signs: ended.then_some(sign).into_iter().collect(),
    };
    let left_out = match groups.len() - shown.len() {
        0 => String::new(),
        n => format!(" {n} more configurations are not drawn."),
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "Kaplan-Meier estimate by the strict rule: a run that ends without saturating counts for as long as \
             it lasted. The sooner the curve falls, the sooner runs saturate.{left_out}"
        ),
        art: Art::Chart(Chart::Lines(drawing)),
        data: vec![("survival".into(), data)],
        unit: None,
    }
}

fn drawn(place: usize, name: &str, curve: &SurvivalCurve, filled: bool) -> Curve {
    let end = curve.steps.last().map_or(1.0, |(_, share)| *share);
    let points = std::iter::once((0.0, 1.0))
        .chain(curve.steps.iter().map(|(epoch, share)| (*epoch as f64, *share)))
        .chain([(curve.last as f64, end)])
        .collect();
    let height = |epoch: u64| {
        let before = curve.steps.partition_point(|(at, _)| *at <= epoch);
        before.checked_sub(1).map_or(1.0, |step| curve.steps[step].1)
    };
    let marks = curve
        .ended
        .iter()
        .map(|epoch| (*epoch as f64, height(*epoch), Mark::Stroke, format!("a run ends at {epoch}")));
    Curve {
        name: Some(if name.is_empty() { "all runs".into() } else { name.to_owned() }),
        course: Course::Steps,
        filled,
        marks: marks.take(200).collect(),
        tip: name.to_owned(),
        ..Curve::new(Colour::Series(place), points)
    }
}
