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

use serde::{Deserialize, Serialize};

use super::bar::{Bar, is_worse};
use crate::training::curve::points::Points;
use crate::training::protocol::Training;
use crate::training::protocol::parameters::Preset;

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
        let bar = Bar::new(protocol, points.compared, threshold);
        let first = first_saturated(&bar, points)?;
        let after = &points.values[first + 1..];
        let broken = after.iter().filter(|&&value| bar.is_broken(value)).count();
        let diverged =
            after.last().is_some_and(|&last| is_worse(protocol.direction, last, points.values[first]));
        Some(Self { number: points.number(first), broken: broken as u64, diverged })
    }
}

/// The position of the first saturated point.
pub(super) fn first_saturated(bar: &Bar, points: &Points) -> Option<usize> {
    points.values.iter().position(|&value| bar.is_reached(value))
}

/// The position of the first of as many consecutive saturated points as the protocol asks for.
pub(crate) fn first_sustained(protocol: &Training, points: &Points) -> Option<usize> {
    let bar = Bar::new(protocol, points.compared, protocol.threshold);
    let needed = protocol.sustain as usize;
    let mut run = 0;
    for (position, &value) in points.values.iter().enumerate() {
        run = if bar.is_reached(value) { run + 1 } else { 0 };
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
    let bar = Bar::new(protocol, points.compared, protocol.threshold);
    let (first, value) = kept().find(|&(_, value)| bar.is_reached(value))?;
    let (_, last) = kept().next_back()?;
    let by_threshold = protocol.preset == Preset::Script2025;
    // The 2025 program compares with the threshold, the others with the value at first saturation.
    let is_below = |later: f64| if by_threshold { bar.is_broken(later) } else { later < value };
    let broken = kept().filter(|&(position, later)| position > first && is_below(later)).count();
    let number = points.number(first) - 1;
    // A slip of these programs that their published numbers depend on.
    let diverged = if !by_threshold && protocol.metric == COMPARED_BY_EPOCH {
        number as f64 > last
    } else {
        is_below(last)
    };
    Some(Saturation { number, broken: broken as u64, diverged })
}
