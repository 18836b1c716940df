//! Which bin a value falls into, decided exactly.

use crate::robustness::bias::partials::{Partials, two_product, two_sum};
use calipers_core::exact::Rational;

/// Bins between two ends.
pub(in crate::robustness) enum Bins {
    /// Bin k holds lo + k (hi - lo) / bins and what follows up to the next such edge.
    Exact(Even),
    /// The edges rounded to single precision.
    Single(Vec<f32>),
}

/// Bins of equal width, with exact edges.
pub(in crate::robustness) struct Even {
    low: f64,
    high: f64,
    bins: u64,
    /// Bins per unit of length, rounded; not finite where the ends are too far apart or too close.
    scale: f64,
    /// How close to an edge the rounded place says nothing.
    margin: f64,
}

impl Bins {
    /// Bins with exact edges; `low` is below `high`.
    pub(in crate::robustness) fn exact([low, high]: [f64; 2], bins: u64) -> Self {
        let scale = bins as f64 / (high - low);
        let scale = if (high - low).is_finite() && scale.is_normal() { scale } else { f64::NAN };
        Self::Exact(Even { low, high, bins, scale, margin: bins as f64 * 16.0 * f64::EPSILON })
    }

    /// Bins with edges in single precision; `low` is below `high`.
    pub(in crate::robustness) fn single(range: [f64; 2], bins: u64) -> Self {
        Self::Single((0..=bins).map(|k| edge(range, bins, k).nearest_single()).collect())
    }

    /// How many bins there are.
    pub(in crate::robustness) fn len(&self) -> usize {
        match self {
            Self::Exact(even) => even.bins as usize,
            Self::Single(edges) => edges.len() - 1,
        }
    }

    /// The bin of a value, or none outside the ends. The last bin holds its upper end.
    pub(in crate::robustness) fn of(&self, value: f64) -> Option<usize> {
        match self {
            Self::Exact(even) => even.of(value),
            Self::Single(edges) => {
                let value = value as f32;
                let (first, last) = (edges.first()?, edges.last()?);
                let inside = *first <= value && value <= *last;
                let passed = edges[1..self.len()].partition_point(|edge| *edge <= value);
                inside.then_some(passed)
            }
        }
    }
}

impl Even {
    fn of(&self, value: f64) -> Option<usize> {
        if !(self.low..=self.high).contains(&value) {
            return None;
        }
        let place = (value - self.low) * self.scale;
        let nearest = place.round();
        let bin = if (place - nearest).abs() > self.margin {
            place as u64
        } else if place.is_finite() {
            // The rounded place is within the margin of an edge, so no other edge is in question.
            let edge = nearest as u64;
            if self.reaches(value, edge) { edge } else { edge - 1 }
        } else {
            self.search(value)
        };
        Some(bin.min(self.bins - 1) as usize)
    }

    /// Whether a value is at or above edge k: (value - low) bins >= k (high - low).
    fn reaches(&self, value: f64, k: u64) -> bool {
        let distance = two_sum(value, -self.low);
        let width = two_sum(self.high, -self.low);
        let moderate = |x: f64| x.abs() < 1e280 && (x.abs() > 1e-280 || x.to_bits() << 1 == 0);
        if ![distance.0, distance.1, width.0, width.1].into_iter().all(moderate) {
            return Rational::of(value) >= edge([self.low, self.high], self.bins, k);
        }
        let mut sum = Partials::default();
        let terms = [(distance.0, self.bins as f64), (distance.1, self.bins as f64)];
        for (a, b) in terms.into_iter().chain([(width.0, -(k as f64)), (width.1, -(k as f64))]) {
            let (product, error) = two_product(a, b);
            sum.add(error);
            sum.add(product);
        }
        sum.sign() >= 0
    }

    /// The last edge that a value reaches.
    fn search(&self, value: f64) -> u64 {
        let (mut reached, mut beyond) = (0, self.bins);
        while beyond - reached > 1 {
            let middle = reached.midpoint(beyond);
            if self.reaches(value, middle) {
                reached = middle;
            } else {
                beyond = middle;
            }
        }
        reached
    }
}

/// Edge k, exactly.
pub(in crate::robustness) fn edge([low, high]: [f64; 2], bins: u64, k: u64) -> Rational {
    let low = Rational::of(low);
    low.plus(&Rational::of(high).minus(&low).times(&Rational::ratio(k, bins)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, in rationals.
    fn oracle(value: f64, range: [f64; 2], bins: u64) -> Option<usize> {
        if value < range[0] || value > range[1] {
            return None;
        }
        let reached = (0..bins).rev().find(|&k| Rational::of(value) >= edge(range, bins, k));
        Some(reached.unwrap_or_default() as usize)
    }

    fn end() -> impl Strategy<Value = f64> {
        prop_oneof![
            (0i32..9).prop_map(f64::from),
            -2.0..2.0f64,
            Just(1e-310),
            Just(-1.7e308),
            Just(1.7e308),
            Just(f64::from_bits(1)),
        ]
    }

    proptest! {
        #[test]
        fn bins_are_those_of_the_definition(a in end(), b in end(), bins in 1u64..12, share in 0u64..13, step in -1i32..2) {
            prop_assume!(a.total_cmp(&b).is_ne() && (a - b).abs() > 0.0);
            let range = [a.min(b), a.max(b)];
            let exact = Bins::exact(range, bins);
            let near = edge(range, bins, share.min(bins)).nearest();
            let near = match step {
                0 => near,
                1 => near.next_up(),
                _ => near.next_down(),
            };
            for value in [near, range[0], range[1], range[0] / 2.0 + range[1] / 2.0] {
                prop_assert_eq!(exact.of(value), oracle(value, range, bins), "{} in {:?}", value, range);
            }
        }

        #[test]
        fn edges_in_single_precision_are_compared_as_such(value in 0.0..10.0f32, bins in 1u64..12) {
            let found = Bins::single([0.0, 10.0], bins).of(value.into());
            let edges: Vec<f32> = (0..bins).map(|k| edge([0.0, 10.0], bins, k).nearest_single()).collect();
            prop_assert_eq!(found, edges.iter().rposition(|edge| *edge <= value));
        }
    }

    #[test]
    fn inner_edges_go_right_and_the_upper_end_stays() {
        let bins = Bins::exact([1.0, 3.0], 2);
        let found: Vec<_> =
            [1.0, 2.0f64.next_down(), 2.0, 3.0, 3.0f64.next_up(), 0.5].map(|y| bins.of(y)).into();
        assert_eq!(found, [Some(0), Some(0), Some(1), Some(1), None, None]);
        let single = Bins::single([1.0, 3.0], 2);
        assert_eq!([0.5, 1.0, 2.0, 3.0, 3.5].map(|y| single.of(y)), [None, Some(0), Some(1), Some(1), None]);
    }
}
