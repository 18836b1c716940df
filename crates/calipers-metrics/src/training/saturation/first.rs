//! Where a curve first saturates.
//!
//! ```text
//! value        saturated      broken: worse than the threshold, after the first saturation
//!   ^          |              |
//!   |          *  *           |
//! t | ---------------------------------
//!   |    *           *  *  *            a break: broken points that follow each other
//!   +--+-----+--+--+--+--+--+--> number
//!            s
//! ```

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::training::curve::points::Points;
use crate::training::parameters::{Direction, Preset};
use crate::training::protocol::Training;

/// The first saturation of a run and what it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saturation {
    /// The number of the point.
    pub number: u64,
    /// How many later points are broken.
    pub broken: u64,
    /// Whether the run ends worse than it saturated.
    pub diverged: bool,
}

impl Saturation {
    /// The first saturation at a threshold, by the strict rule.
    pub(crate) fn at(protocol: &Training, points: &Points, threshold: f64) -> Option<Self> {
        let first = first_saturated(protocol, &points.values, threshold)?;
        let after = &points.values[first + 1..];
        let broken = after.iter().filter(|&&value| is_worse(protocol.direction, value, threshold)).count();
        let diverged =
            after.last().is_some_and(|&last| is_worse(protocol.direction, last, points.values[first]));
        Some(Self { number: points.number(first), broken: broken as u64, diverged })
    }
}

/// Whether a value counts as saturated; a failed point never does.
fn is_saturated(protocol: &Training, value: f64, threshold: f64) -> bool {
    if protocol.inclusive {
        !is_worse(protocol.direction, value, threshold)
    } else {
        protocol.direction.better(value, threshold)
    }
}

/// Whether a value is worse than the reference; a failed point always is.
pub(super) fn is_worse(direction: Direction, value: f64, reference: f64) -> bool {
    direction.better(reference, value) || value.is_nan()
}

/// The position of the first saturated point.
pub(super) fn first_saturated(protocol: &Training, values: &[f64], threshold: f64) -> Option<usize> {
    values.iter().position(|&value| is_saturated(protocol, value, threshold))
}

/// The position of the first of as many consecutive saturated points as the protocol asks for.
pub(crate) fn first_sustained(protocol: &Training, values: &[f64]) -> Option<usize> {
    let needed = protocol.sustain as usize;
    let mut run = 0;
    for (position, &value) in values.iter().enumerate() {
        run = if is_saturated(protocol, value, protocol.threshold) { run + 1 } else { 0 };
        if run >= needed {
            return Some(position + 1 - needed);
        }
    }
    None
}

/// The key whose divergence the programs behind the tables take from the epoch, not the value.
const COMPARED_BY_EPOCH: &str = "val_part_parsed";

/// The first saturation as the published programs find it: values of exactly 0 are passed over and
/// epochs count from 0.
pub(crate) fn published(protocol: &Training, points: &Points) -> Option<Saturation> {
    let kept = || points.values.iter().copied().enumerate().filter(|(_, value)| value.abs() > 0.0);
    let (first, value) = kept().find(|&(_, value)| is_saturated(protocol, value, protocol.threshold))?;
    let (_, last) = kept().next_back()?;
    let by_threshold = protocol.preset == Preset::Script2025;
    let reference = if by_threshold { protocol.threshold } else { value };
    let broken = kept().filter(|&(position, value)| position > first && value < reference).count();
    let number = points.number(first) - 1;
    // A slip of these programs that their published numbers depend on.
    let compared =
        if !by_threshold && protocol.metric == COMPARED_BY_EPOCH { number as f64 } else { reference };
    Some(Saturation { number, broken: broken as u64, diverged: compared > last })
}

/// How many values differ from the threshold but not in single precision.
pub(crate) fn ties(values: &[f64], threshold: f64) -> u64 {
    let single = threshold as f32;
    let tie = |value: f64| {
        let differs = value.partial_cmp(&threshold).is_some_and(Ordering::is_ne);
        // Beyond the largest f32 both are infinite, and their difference is no number: no tie.
        differs && (value as f32 - single).abs() <= 0.0
    };
    values.iter().filter(|&&value| tie(value)).count() as u64
}
