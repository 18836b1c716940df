//! A threshold as values meet it: in the precision in which they were stored.

use std::cmp::Ordering;

use calipers_core::Stored;

use crate::training::protocol::Training;
use crate::training::protocol::parameters::Direction;

/// A threshold. A writer of single precision turns a value of 0.9 into 0.899999976..: rounded to the
/// same type the two are equal, so that such a value neither saturates nor breaks.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    compared: Stored,
    /// The threshold, rounded.
    at: f64,
    direction: Direction,
    inclusive: bool,
}

impl Bar {
    /// A threshold for values that are compared in a type.
    pub(super) fn new(protocol: &Training, compared: Stored, threshold: f64) -> Self {
        let Training { direction, inclusive, .. } = *protocol;
        Self { compared, at: compared.round(threshold), direction, inclusive }
    }

    /// Whether a value counts as saturated; a failed point never does.
    pub(super) fn is_reached(&self, value: f64) -> bool {
        if self.inclusive {
            !self.is_broken(value)
        } else {
            self.direction.better(self.compared.round(value), self.at)
        }
    }

    /// Whether a value is worse than the threshold; a failed point always is.
    pub(super) fn is_broken(&self, value: f64) -> bool {
        is_worse(self.direction, self.compared.round(value), self.at)
    }
}

/// Whether a value is worse than the reference; a failed point always is.
pub(super) fn is_worse(direction: Direction, value: f64, reference: f64) -> bool {
    direction.better(reference, value) || value.is_nan()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_meets_the_threshold_in_the_precision_it_was_stored_in() {
        let (strict, inclusive) = (Training::default(), Training { inclusive: true, ..Training::default() });
        let stored = f64::from(0.9_f32);
        for (compared, reached, broken) in [(Stored::Single, false, false), (Stored::Double, false, true)] {
            let bar = Bar::new(&strict, compared, 0.9);
            assert_eq!((bar.is_reached(stored), bar.is_broken(stored)), (reached, broken), "{compared:?}");
            assert_eq!(Bar::new(&inclusive, compared, 0.9).is_reached(stored), !broken);
            assert!(bar.is_reached(0.91) && bar.is_broken(0.89) && bar.is_broken(f64::NAN));
            assert!(!bar.is_reached(f64::NAN));
        }
        let half = Bar::new(&strict, Stored::Half, 0.9);
        assert!(!half.is_reached(0.9001) && !half.is_broken(0.8999) && half.is_reached(0.901));
    }
}
