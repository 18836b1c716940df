//! Which bin a probability lies in.

use crate::segmentation::protocol::{Bins, Closed};

/// A probability this close to an edge lies on it.
const EDGE: f64 = 1e-6;

/// The inner edges of equal bins over [0, 1], and which side owns them.
#[derive(Clone, Debug)]
pub(super) struct BinRule {
    edges: Vec<f64>,
    closed: Closed,
}

impl BinRule {
    /// The edges k/n.
    pub(super) fn new(bins: Bins) -> Self {
        let edges = (1..bins.count).map(|k| k as f64 / bins.count as f64).collect();
        Self { edges, closed: bins.closed }
    }

    /// The bin of a probability.
    pub(super) fn bin(&self, probability: f64) -> usize {
        match self.closed {
            Closed::Right => self.edges.partition_point(|edge| probability - edge > EDGE),
            Closed::Left => self.edges.partition_point(|edge| probability - edge >= -EDGE),
        }
    }

    /// How far the places where the bin changes lie above the edges.
    pub(super) fn offset(&self) -> f64 {
        match self.closed {
            Closed::Right => EDGE,
            Closed::Left => -EDGE,
        }
    }

    /// How many bins there are.
    pub(super) fn count(&self) -> usize {
        self.edges.len() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(count: usize, closed: Closed) -> BinRule {
        BinRule::new(Bins { count, closed })
    }

    #[test]
    fn the_ends_lie_in_the_first_and_the_last_bin() {
        for closed in [Closed::Right, Closed::Left] {
            for count in [1, 2, 10, 15, 1000] {
                assert_eq!(rule(count, closed).bin(0.0), 0);
                assert_eq!(rule(count, closed).bin(1.0), count - 1);
            }
        }
    }

    #[test]
    fn a_probability_next_to_an_edge_lies_on_it() {
        for near in [0.3, 0.3 + 5e-7, 0.3 - 5e-7, f64::from(0.3f32)] {
            assert_eq!(rule(10, Closed::Right).bin(near), 2);
            assert_eq!(rule(10, Closed::Left).bin(near), 3);
        }
        assert_eq!(rule(10, Closed::Right).bin(0.3 + 2e-6), 3);
        assert_eq!(rule(10, Closed::Left).bin(0.3 - 2e-6), 2);
    }
}
