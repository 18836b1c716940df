//! Where a curve first saturates and which later points are broken.

use super::points::Points;
use super::protocol::{Direction, Training};
use super::row::{Break, Saturation};

/// Whether a value counts as saturated; a failed point never does.
pub(crate) fn is_saturated(protocol: &Training, value: f64, threshold: f64) -> bool {
    if protocol.inclusive {
        !is_worse(protocol.direction, value, threshold)
    } else {
        protocol.direction.better(value, threshold)
    }
}

/// Whether a value is worse than the reference; a failed point always is.
fn is_worse(direction: Direction, value: f64, reference: f64) -> bool {
    direction.better(reference, value) || value.is_nan()
}

/// The position of the first saturated point.
pub(crate) fn first_saturated(protocol: &Training, values: &[f64], threshold: f64) -> Option<usize> {
    values.iter().position(|&value| is_saturated(protocol, value, threshold))
}

/// The first saturation at a threshold and what it came to.
pub(crate) fn saturation(protocol: &Training, points: &Points, threshold: f64) -> Option<Saturation> {
    let first = first_saturated(protocol, &points.values, threshold)?;
    let after = &points.values[first + 1..];
    let broken = after.iter().filter(|&&value| is_worse(protocol.direction, value, threshold)).count();
    let diverged = after.last().is_some_and(|&last| is_worse(protocol.direction, last, points.values[first]));
    Some(Saturation { number: points.number(first), broken: broken as u64, diverged })
}

/// The stretches of broken points after a position, as positions of their first and last point.
pub(crate) fn stretches(
    protocol: &Training,
    values: &[f64],
    first: usize,
    threshold: f64,
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (position, &value) in values.iter().enumerate().skip(first + 1) {
        if is_worse(protocol.direction, value, threshold) {
            match found.last_mut() {
                Some((_, last)) if *last + 1 == position => *last = position,
                _ => found.push((position, position)),
            }
        }
    }
    found
}

/// A stretch by the numbers and the x of its ends.
pub(crate) fn named(points: &Points, (first, last): (usize, usize)) -> Break {
    Break { numbers: (points.number(first), points.number(last)), x: (points.x[first], points.x[last]) }
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
