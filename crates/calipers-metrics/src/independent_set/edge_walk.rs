//! One walk over the edges for everything that is counted or summed there.

use calipers_core::ExactSum;

use super::graph::Graph;
use super::sums::Tally;

/// A set of nodes seen from the edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SetOnGraph {
    /// Edges with both ends in the set.
    pub(super) violations: u64,
    /// Nodes of the set with a neighbour in it.
    pub(super) conflicted: u64,
    /// Whether it is independent and every node outside has a neighbour in it.
    pub(super) maximal: bool,
}

/// What a walk found.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) prediction: SetOnGraph,
    pub(super) labels: SetOnGraph,
    /// The sum over edges of p_u p_v; of nothing when no probabilities were given.
    pub(super) edges: ExactSum,
}

const PREDICTED: u8 = 1;
const LABELLED: u8 = 2;

/// Walks over all edges once; a set that is not given counts as empty.
pub(super) fn walk(
    graph: &Graph,
    prediction: Option<&[bool]>,
    labels: Option<&[bool]>,
    p: Option<&[f64]>,
) -> Walk {
    let nodes = graph.nodes();
    let mut marks = vec![0; nodes];
    for (set, mark) in [(prediction, PREDICTED), (labels, LABELLED)] {
        for (marks, &member) in marks.iter_mut().zip(set.unwrap_or_default()) {
            *marks |= mark * u8::from(member);
        }
    }
    // The marks of all neighbours of a node, combined.
    let mut near = vec![0; nodes];
    let mut edges = Tally::default();
    let [predicted_edges, labelled_edges] = match p {
        Some(p) => meet_with_products(graph, &marks, &mut near, p, &mut edges),
        None => meet(graph, &marks, &mut near),
    };
    let set = |mark: u8, violations| SetOnGraph {
        violations,
        conflicted: conflicted(&marks, &near, mark),
        maximal: violations == 0
            && marks.iter().zip(&near).fold(mark, |all, (own, near)| all & (own | near)) != 0,
    };
    Walk {
        prediction: set(PREDICTED, predicted_edges),
        labels: set(LABELLED, labelled_edges),
        edges: edges.into_sum(),
    }
}

/// Nodes with a mark that a neighbour has too.
fn conflicted(marks: &[u8], near: &[u8], mark: u8) -> u64 {
    // So many of the largest mark can be summed in a byte, sixteen bytes at a time.
    const BYTES: usize = 64;
    let parts = marks.chunks(BYTES).zip(near.chunks(BYTES));
    let sum = |(own, near): (&[u8], &[u8])| own.iter().zip(near).map(|(a, b)| a & b & mark).sum::<u8>();
    parts.map(|part| u64::from(sum(part) / mark)).sum()
}

/// Lets each node and its neighbours see the marks of one another; counts the edges whose ends are
/// both predicted and those whose ends are both labelled.
fn meet(graph: &Graph, marks: &[u8], near: &mut [u8]) -> [u64; 2] {
    let mut shared = Shared::default();
    let near = &mut near[..marks.len()];
    for (v, smaller) in graph.all_smaller_neighbours().enumerate() {
        let mut seen = 0;
        for &w in smaller {
            let other = marks[w as usize];
            shared.add(marks[v], other);
            seen |= other;
            near[w as usize] |= marks[v];
        }
        near[v] |= seen;
    }
    shared.edges()
}

/// The same, and in passing the products of the probabilities. Apart from its caller it has enough
/// registers.
#[inline(never)]
fn meet_with_products(
    graph: &Graph,
    marks: &[u8],
    near: &mut [u8],
    p: &[f64],
    edges: &mut Tally,
) -> [u64; 2] {
    let mut shared = Shared::default();
    // Of equal length, so that one check of a node number serves them all.
    let (near, p) = (&mut near[..marks.len()], &p[..marks.len()]);
    for (v, smaller) in graph.all_smaller_neighbours().enumerate() {
        let (mark, own, mut seen) = (marks[v], p[v], 0);
        if mark == 0 && smaller.len() >= LONG {
            // Nobody need hear of this node.
            for (term, &w) in edges.room(smaller.len()).iter_mut().zip(smaller) {
                *term = own * p[w as usize];
                seen |= marks[w as usize];
            }
            near[v] |= seen;
            continue;
        }
        for (term, &w) in edges.room(smaller.len()).iter_mut().zip(smaller) {
            *term = own * p[w as usize];
            let other = marks[w as usize];
            shared.add(mark, other);
            seen |= other;
            near[w as usize] |= mark;
        }
        near[v] |= seen;
    }
    shared.edges()
}

/// So many neighbours are worth a branch that is often guessed wrong.
const LONG: usize = 16;

/// Counts the marks that both ends of an edge have.
#[derive(Default)]
struct Shared {
    /// Of all edges: one for a shared prediction, two for a shared label.
    total: u64,
    /// Of the edges with a shared label.
    labelled: u64,
}

impl Shared {
    #[inline(always)]
    fn add(&mut self, one: u8, other: u8) {
        let both = u64::from(one) & u64::from(other);
        self.total += both;
        self.labelled += both / u64::from(LABELLED);
    }

    /// How many edges share a prediction, and how many a label.
    fn edges(&self) -> [u64; 2] {
        [self.total - u64::from(LABELLED) * self.labelled, self.labelled]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;

    #[test]
    fn two_sets_do_not_disturb_each_other() {
        let pairs: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (3, 4)];
        let graph = Graph::build(6, Storage::Once, &pairs).unwrap();
        let (a, b) = ([true, true, true, false, false, false], [true, false, true, false, true, true]);
        let found = walk(&graph, Some(&a), Some(&b), None);
        assert_eq!(found.prediction, SetOnGraph { violations: 2, conflicted: 3, maximal: false });
        assert_eq!(found.labels, SetOnGraph { violations: 0, conflicted: 0, maximal: true });
        let alone = walk(&graph, Some(&b), None, None);
        assert_eq!(alone.prediction, found.labels);
        assert_eq!(alone.labels, SetOnGraph::default());
    }
}
