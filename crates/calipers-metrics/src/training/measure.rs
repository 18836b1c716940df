//! From a curve to its row.

use std::cmp::Ordering;

use calipers_core::Result;

use super::breaks::{first_saturated, first_sustained, is_saturated, named, saturation, stretches};
use super::points::Points;
use super::protocol::{Direction, Preset, Training};
use super::row::{Aftermath, Doubts, Row, Saturation};
use super::unit::Curve;

/// The key whose divergence the programs behind the tables take from the epoch, not the value.
const COMPARED_BY_EPOCH: &str = "val_part_parsed";

/// Measures one run.
pub(crate) fn measure(protocol: &Training, curve: &Curve<'_>) -> Result<Row> {
    let points = Points::new(protocol, curve)?;
    let values = &points.values;
    let strict = aftermath(protocol, &points);
    let by_preset = if protocol.preset.is_published() {
        published(protocol, &points)
    } else {
        strict.as_ref().map(|aftermath| aftermath.saturation)
    };
    let thresholds = protocol.sweep_thresholds();
    let finite = |value: f64| value.is_finite().then_some(value);
    let best = values.iter().copied().filter(|value| value.is_finite());
    let best = best.reduce(|best, value| if protocol.direction.better(value, best) { value } else { best });
    let names_epochs = curve.x_key.to_lowercase().ends_with("epoch");
    Ok(Row {
        group: curve.group.into(),
        fold: curve.fold.into(),
        folds: curve.folds,
        epochs: points.number(values.len() - 1),
        points: values.len() as u64,
        by_preset,
        strict,
        sustained: first_sustained(protocol, values).map(|position| points.number(position)),
        first: finite(values[0]),
        last: finite(values[values.len() - 1]),
        best,
        sweep: thresholds.into_iter().map(|threshold| saturation(protocol, &points, threshold)).collect(),
        doubts: Doubts {
            repeated: points.repeated,
            gaps: names_epochs && points.have_gaps(),
            not_finite: if curve.marks_missing { points.not_finite } else { 0 },
            single_precision_ties: ties(values, protocol.threshold),
        },
    })
}

/// The first saturation by the strict rule, and what followed.
fn aftermath(protocol: &Training, points: &Points) -> Option<Aftermath> {
    let threshold = protocol.threshold;
    let saturation = saturation(protocol, points, threshold)?;
    let first = first_saturated(protocol, &points.values, threshold)?;
    let after = &points.values[first + 1..];
    let breaks = stretches(protocol, &points.values, first, threshold);
    let lengths = breaks.iter().map(|(first, last)| (last - first + 1) as u64);
    let depth = |value: f64| match protocol.direction {
        Direction::Max => threshold - value,
        Direction::Min => value - threshold,
    };
    Some(Aftermath {
        saturation,
        x: points.x[first],
        value: points.values[first],
        points_after: after.len() as u64,
        longest_break: lengths.max().unwrap_or(0),
        // A point that is not broken lies at no positive depth, and a failed one at none.
        drop_depth: after.iter().fold(0.0, |deepest: f64, &value| deepest.max(depth(value))),
        zeros: after.iter().filter(|value| value.abs() <= 0.0).count() as u64,
        breaks: breaks.into_iter().map(|stretch| named(points, stretch)).collect(),
    })
}

/// The first saturation as the published programs find it: values of exactly 0 are passed over and
/// epochs count from 0.
fn published(protocol: &Training, points: &Points) -> Option<Saturation> {
    let kept = || points.values.iter().copied().enumerate().filter(|(_, value)| value.abs() > 0.0);
    let (first, value) = kept().find(|&(_, value)| is_saturated(protocol, value, protocol.threshold))?;
    let (_, last) = kept().next_back()?;
    let by_threshold = protocol.preset == Preset::Script2025;
    let reference = if by_threshold { protocol.threshold } else { value };
    let broken = kept().filter(|&(position, value)| position > first && value < reference).count();
    let number = points.number(first) - 1;
    let compared =
        if !by_threshold && protocol.metric == COMPARED_BY_EPOCH { number as f64 } else { reference };
    Some(Saturation { number, broken: broken as u64, diverged: compared > last })
}

/// How many values differ from the threshold but not in single precision.
fn ties(values: &[f64], threshold: f64) -> u64 {
    let single = threshold as f32;
    let tie = |value: f64| {
        let differs = value.partial_cmp(&threshold).is_some_and(Ordering::is_ne);
        differs && single.is_finite() && (value as f32 - single).abs() <= 0.0
    };
    values.iter().filter(|&&value| tie(value)).count() as u64
}
