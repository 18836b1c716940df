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
    let (mut predicted_edges, mut labelled_edges) = (0, 0);
    let mut edges = Tally::default();
    for v in 0..nodes as u32 {
        let smaller = graph.smaller_neighbours(v);
        if let Some(p) = p {
            edges.extend(smaller.iter().map(|&w| p[v as usize] * p[w as usize]));
        }
        let (mark, mut seen) = (marks[v as usize], 0);
        for &w in smaller {
            let other = marks[w as usize];
            predicted_edges += u64::from(mark & other & PREDICTED);
            labelled_edges += u64::from(mark & other & LABELLED) / u64::from(LABELLED);
            seen |= other;
            near[w as usize] |= mark;
        }
        near[v as usize] |= seen;
    }
    let set = |mark: u8, violations| SetOnGraph {
        violations,
        conflicted: marks.iter().zip(&near).map(|(own, near)| u64::from(own & near & mark != 0)).sum(),
        maximal: violations == 0 && marks.iter().zip(&near).all(|(own, near)| (own | near) & mark != 0),
    };
    Walk {
        prediction: set(PREDICTED, predicted_edges),
        labels: set(LABELLED, labelled_edges),
        edges: edges.into_sum(),
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
