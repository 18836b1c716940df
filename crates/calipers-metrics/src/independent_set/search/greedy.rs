//! Greedy decoding: nodes in an order, each taken unless a neighbour is.

use super::ranking::{ascending, rank};
use crate::independent_set::graph::Graph;

/// The greedy set: nodes by key descending, then by number; each is taken unless a neighbour is.
/// `keys` are finite, one per node.
///
/// ```
/// use calipers_metrics::independent_set::{Graph, Storage, search::greedy};
/// let path: &[(u32, u32)] = &[(0, 1), (1, 2)];
/// let graph = Graph::build(3, Storage::Once, &path)?;
/// assert_eq!(greedy(&graph, &[0.3, 0.9, 0.1]), [false, true, false]);
/// # Ok::<(), calipers_core::Error>(())
/// ```
pub fn greedy(graph: &Graph, keys: &[f64]) -> Vec<bool> {
    greedy_in_order(graph, rank(keys).order)
}

/// Takes the nodes in the given order unless a neighbour is taken.
pub(crate) fn greedy_in_order(graph: &Graph, order: impl IntoIterator<Item = u32>) -> Vec<bool> {
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

/// Nodes by degree ascending, then by number.
pub(crate) fn by_degree(graph: &Graph) -> Vec<u32> {
    ascending(&graph.degrees().collect::<Vec<_>>()).order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;

    #[test]
    fn equal_keys_go_to_the_lower_number_and_zero_has_no_sign() {
        let pairs: &[(u32, u32)] = &[(2, 0), (2, 1), (2, 3), (4, 5)];
        let graph = Graph::build(7, Storage::Once, &pairs).unwrap();
        assert_eq!(greedy(&graph, &[0.0; 7]), greedy(&graph, &[0.0, -0.0, 0.0, -0.0, -0.0, 0.0, 0.0]));
    }
}
