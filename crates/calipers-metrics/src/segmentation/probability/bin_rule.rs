//! Which bin a probability lies in.

use multiversion::multiversion;

use crate::segmentation::probability::block::{LANES, Lanes};
use crate::segmentation::protocol::{Bins, Closed};

/// A probability this close to an edge lies on it.
const EDGE: f64 = 1e-6;

/// Up to so many edges it is faster to compare with all of them, many probabilities at once, than to search.
const MOST_COUNTED: usize = 48;

/// How many edges lie below each probability: as many as a search finds, for the edges ascend.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn edges_below(edges: &[f64], probabilities: &Lanes) -> [usize; LANES] {
    let mut bins = [0; LANES];
    for edge in edges {
        for lane in 0..LANES {
            bins[lane] += usize::from(probabilities[lane] - edge > EDGE);
        }
    }
    bins
}

/// The same with edges that belong to the bin above them.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn edges_reached(edges: &[f64], probabilities: &Lanes) -> [usize; LANES] {
    let mut bins = [0; LANES];
    for edge in edges {
        for lane in 0..LANES {
            bins[lane] += usize::from(probabilities[lane] - edge >= -EDGE);
        }
    }
    bins
}

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

    /// The bins of a block of probabilities.
    pub(super) fn bins(&self, probabilities: &Lanes) -> [usize; LANES] {
        if self.edges.len() > MOST_COUNTED {
            return probabilities.map(|probability| self.bin(probability));
        }
        match self.closed {
            Closed::Right => edges_below(&self.edges, probabilities),
            Closed::Left => edges_reached(&self.edges, probabilities),
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
    fn a_block_gets_the_bins_of_its_probabilities() {
        let mut random = calipers_core::SplitMix64::new(3);
        for closed in [Closed::Right, Closed::Left] {
            for count in [1, 2, 10, 15, 48, 49, 50, 1000] {
                let rule = rule(count, closed);
                let mut probabilities: Lanes = std::array::from_fn(|_| random.unit());
                probabilities[..8].copy_from_slice(&[0.0, 1.0, f64::NAN, 1e-6, 5e-324, 0.5, 0.9, 1.0 - 1e-6]);
                for (lane, near) in [-2e-6, -1e-6, 0.0, 1e-6, 2e-6].into_iter().enumerate() {
                    probabilities[8 + lane] = (count / 2) as f64 / count as f64 + near;
                }
                assert_eq!(rule.bins(&probabilities), probabilities.map(|p| rule.bin(p)), "{count}");
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
