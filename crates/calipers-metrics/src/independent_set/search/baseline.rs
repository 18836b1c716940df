//! Baseline: what a decoder reaches without scores.

use crate::independent_set::metrics::*;
use calipers_core::SplitMix64;

use super::greedy::{by_degree, greedy_in_order};
use super::ranking::ascending;
use super::residual::min_degree;
use crate::independent_set::graph::Graph;
use crate::independent_set::protocol::Baseline;
use crate::independent_set::row::evidence::{ZERO_REFERENCE, baseline as size, reference, scores};

const BASELINE: Line = Line { group: "baseline", ..PER_GRAPH };

pub(crate) const BASELINE_SIZE: Line = Line {
    id: "baseline_size",
    range: UP_TO_NODES,
    measures: "The size that a decoder without scores reaches on the same graph.",
    formula: "B: by default repeatedly take the node of smallest residual degree, the lower number among \
              equals, and remove it with its neighbours. Other orders: low-degree, high-degree, \
              high-degree-cut, index, random.",
    undefined: "\"not requested: --baseline NAME\".",
    reference: "Calipers; high-degree-cut is a published decoder-only baseline",
    example: ("path3", "2.0"),
    number: Number::mean(|_, row| number(size(row).map(|size| size as f64))),
    ..BASELINE
};

/// The size of the baseline relative to the reference.
pub const BASELINE_APPROX_RATIO: Line = Line {
    id: "baseline_approx_ratio",
    range: NON_NEGATIVE,
    measures: "The approximation ratio of the baseline.",
    formula: "B / R.",
    undefined: "\"not requested: --baseline NAME\"; \"no labels or optimum given\"; \"reference size is 0\".",
    example: ("star", "3.0"),
    number: Number::mean(|protocol, row| {
        number(size(row).and_then(|size| quotient(size, reference(protocol, row)?, ZERO_REFERENCE)))
    }),
    ..BASELINE
};

pub(crate) const MODEL_LIFT: Line = Line {
    id: "model_lift",
    better: higher,
    range: ANY,
    measures: "What the scores add to a decode without them, relative to the reference.",
    formula: "(K - B) / R.",
    undefined: "\"no scores given\"; \"not requested: --baseline NAME\"; \"no labels or optimum given\"; \
                \"reference size is 0\".",
    differs: "Negative when the scores do harm. An approximation ratio alone does not show how much of it \
              the decoder reaches by itself.",
    example: ("path3", "-0.5"),
    number: Number::mean(|protocol, row| {
        let lift = scores(row).and_then(|of| Ok(i128::from(of.decoded) - i128::from(size(row)?)));
        number(lift.and_then(|lift| quotient(lift, reference(protocol, row)?, ZERO_REFERENCE)))
    }),
    ..BASELINE
};

/// The set of a decoder that works without scores; `None` when none is wanted.
pub(crate) fn baseline(graph: &Graph, which: Baseline, seed: u64) -> Option<Vec<bool>> {
    let nodes = graph.nodes() as u32;
    Some(match which {
        Baseline::MinDegree => min_degree(graph),
        Baseline::LowDegree => greedy_in_order(graph, by_degree(graph)),
        Baseline::HighDegree => greedy_in_order(graph, by_falling_degree(graph)),
        Baseline::HighDegreeCut => {
            let order = by_falling_degree(graph);
            let top = order.first().map_or(0, |&v| graph.degree(v));
            greedy_in_order(graph, order.into_iter().take_while(|&v| 2 * graph.degree(v) > top))
        }
        Baseline::Index => greedy_in_order(graph, 0..nodes),
        Baseline::Random => {
            let mut random = SplitMix64::new(seed);
            let keys: Vec<u64> = (0..nodes).map(|_| !random.next_u64()).collect();
            greedy_in_order(graph, ascending(&keys).order)
        }
        Baseline::None => return None,
    })
}

fn by_falling_degree(graph: &Graph) -> Vec<u32> {
    ascending(&graph.degrees().map(|degree| !degree).collect::<Vec<_>>()).order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;

    fn star_and_edge() -> Graph {
        let pairs: &[(u32, u32)] = &[(2, 0), (2, 1), (2, 3), (4, 5)];
        Graph::build(7, Storage::Once, &pairs).unwrap()
    }

    fn chosen(set: Option<Vec<bool>>) -> Vec<usize> {
        let set = set.unwrap();
        (0..set.len()).filter(|&v| set[v]).collect()
    }

    #[test]
    fn each_baseline_takes_nodes_in_its_own_order() {
        let graph = star_and_edge();
        let take = |which| chosen(baseline(&graph, which, 0));
        assert_eq!(take(Baseline::LowDegree), [0, 1, 3, 4, 6]);
        assert_eq!(take(Baseline::HighDegree), [2, 4, 6]);
        assert_eq!(take(Baseline::HighDegreeCut), [2]);
        assert_eq!(take(Baseline::Index), [0, 1, 3, 4, 6]);
        assert_eq!(baseline(&graph, Baseline::None, 0), None);
    }

    #[test]
    fn the_random_baseline_depends_on_the_seed_alone() {
        let pairs: Vec<(u32, u32)> = (0..40).map(|i| (i, (i + 1) % 40)).collect();
        let ring = Graph::build(40, Storage::Once, &&pairs[..]).unwrap();
        let set = |seed| baseline(&ring, Baseline::Random, seed);
        assert_eq!(set(1), set(1));
        assert_ne!(set(1), set(2));
    }
}
