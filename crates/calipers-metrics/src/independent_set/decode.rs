//! Greedy decoding: the document's decoder, and the baselines that need no scores.

use calipers_core::SplitMix64;

use super::adaptive::min_degree;
use super::graph::Graph;
use super::protocol::Baseline;
use super::ranking::{ascending, rank};

/// The greedy set: nodes by key descending, then by number; each is taken unless a neighbour is.
/// `keys` are finite, one a node.
///
/// ```
/// use calipers_metrics::independent_set::{decode::greedy, graph::{Graph, Storage}};
/// let path: &[(u32, u32)] = &[(0, 1), (1, 2)];
/// let graph = Graph::build(3, Storage::Once, &path)?;
/// assert_eq!(greedy(&graph, &[0.3, 0.9, 0.1]), [false, true, false]);
/// # Ok::<(), calipers_core::Error>(())
/// ```
pub fn greedy(graph: &Graph, keys: &[f64]) -> Vec<bool> {
    greedy_in_order(graph, rank(keys).order)
}

/// Takes the nodes in the given order unless a neighbour is taken.
pub(super) fn greedy_in_order(graph: &Graph, order: impl IntoIterator<Item = u32>) -> Vec<bool> {
    let mut chosen = vec![false; graph.nodes()];
    let mut blocked = vec![false; graph.nodes()];
    for v in order {
        if !blocked[v as usize] {
            chosen[v as usize] = true;
            graph.mark_neighbours(v, &mut blocked);
        }
    }
    chosen
}

/// The set of a decoder that works without scores; `None` when none is wanted.
pub(super) fn baseline(graph: &Graph, which: Baseline, seed: u64) -> Option<Vec<bool>> {
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

/// Nodes by degree ascending, then by number.
pub(super) fn by_degree(graph: &Graph) -> Vec<u32> {
    ascending(&graph.degrees().collect::<Vec<_>>()).order
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

    #[test]
    fn equal_keys_go_to_the_lower_number_and_zero_has_no_sign() {
        let graph = star_and_edge();
        assert_eq!(greedy(&graph, &[0.0; 7]), greedy(&graph, &[0.0, -0.0, 0.0, -0.0, -0.0, 0.0, 0.0]));
    }
}
