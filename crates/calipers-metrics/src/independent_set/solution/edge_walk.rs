//! Everything that is counted or summed over the edges.

use calipers_core::ExactSum;

use super::sets::violations;
use crate::independent_set::graph::Graph;
use crate::independent_set::losses::{Products, products};

/// A set of nodes seen from the edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SetOnGraph {
    /// Edges with both ends in the set.
    pub(crate) violations: u64,
    /// Nodes of the set with a neighbour in it.
    pub(crate) conflicted: u64,
    /// Whether it is independent and every node outside has a neighbour in it.
    pub(crate) maximal: bool,
}

/// What a walk found.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) prediction: SetOnGraph,
    pub(crate) labels: SetOnGraph,
    /// The sum over edges of p_u p_v; of nothing when no probabilities were given.
    pub(crate) edges: ExactSum,
}

/// Walks over all edges; a set that is not given counts as empty.
pub(crate) fn walk(
    graph: &Graph,
    prediction: Option<&[bool]>,
    labels: Option<&[bool]>,
    p: Option<&[f64]>,
) -> Walk {
    let products = p.map(|p| products(graph, p, prediction));
    let predicted = |set: &[bool]| {
        // An edge inside the set is one of two of its nodes, one that leaves it of one.
        let inside = |products: &Products| (degrees(graph, set) - products.leaving) / 2;
        with_violations(graph, set, products.as_ref().map_or_else(|| violations(graph, set), inside))
    };
    Walk {
        prediction: prediction.map(predicted).unwrap_or_default(),
        labels: labels.map(|set| mostly_independent(graph, set)).unwrap_or_default(),
        edges: products.map(|products| products.sum).unwrap_or_default(),
    }
}

/// How many neighbours the nodes of a set have together.
fn degrees(graph: &Graph, set: &[bool]) -> u64 {
    graph.degrees().zip(set).map(|(degree, &inside)| if inside { degree } else { 0 }).sum()
}

/// A set of which the edges inside are counted.
fn with_violations(graph: &Graph, set: &[bool], violations: u64) -> SetOnGraph {
    if violations == 0 {
        return mostly_independent(graph, set);
    }
    let near = |v: u32| {
        let list = graph.neighbours(v);
        // The first few at once: where among them a loop would end is mispredicted.
        list.first_chunk::<4>().is_some_and(|first| first.iter().fold(false, |any, &w| any | set[w as usize]))
            || list.iter().any(|&w| set[w as usize])
    };
    let conflicted = members(set).into_iter().filter(|&v| near(v)).count() as u64;
    SetOnGraph { violations, conflicted, maximal: false }
}

/// A set that is independent, or else takes a little longer.
fn mostly_independent(graph: &Graph, set: &[bool]) -> SetOnGraph {
    let mut near = vec![false; graph.nodes()];
    for v in members(set) {
        graph.mark_neighbours(v, &mut near);
    }
    let both = |all, (&inside, &near): (&bool, &bool)| all | (inside & near);
    if set.iter().zip(&near).fold(false, both) {
        return with_violations(graph, set, violations(graph, set));
    }
    let maximal = set.iter().zip(&near).fold(true, |all, (&inside, &near)| all & (inside | near));
    SetOnGraph { violations: 0, conflicted: 0, maximal }
}

/// The nodes of a set. Every slot is written and only the count depends on the set: a branch would
/// often be mispredicted.
fn members(set: &[bool]) -> Vec<u32> {
    let mut members = vec![0; set.len()];
    let mut count = 0;
    for (v, &inside) in (0..).zip(set) {
        members[count] = v;
        count += usize::from(inside);
    }
    members.truncate(count);
    members
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::independent_set::graph::Storage;
    use crate::independent_set::search::greedy_in_order;

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

    /// A set seen from every edge, one by one.
    fn slow(graph: &Graph, set: &[bool]) -> SetOnGraph {
        let inside = |v: u32| set[v as usize];
        let near = |v: u32| graph.neighbours(v).iter().filter(|&&w| inside(w)).count() as u64;
        let nodes = 0..graph.nodes() as u32;
        let violations = nodes.clone().filter(|&v| inside(v)).map(near).sum::<u64>() / 2;
        SetOnGraph {
            violations,
            conflicted: nodes.clone().filter(|&v| inside(v) && near(v) > 0).count() as u64,
            maximal: violations == 0 && nodes.clone().all(|v| inside(v) || near(v) > 0),
        }
    }

    proptest! {
        #[test]
        fn sets_are_seen_from_every_edge(
            nodes in 1u32..40,
            picks in prop::collection::vec((any::<u32>(), any::<u32>()), 0..200),
            prediction in prop::collection::vec(any::<bool>(), 40),
            greedy in any::<bool>(),
            p in prop::collection::vec(prop_oneof![Just(0.0), Just(-0.0), 0.0..1.0f64], 40),
        ) {
            let pairs: Vec<(u32, u32)> = picks.iter().map(|(u, v)| (u % nodes, v % nodes)).collect();
            let graph = Graph::build(u64::from(nodes), Storage::Once, &&pairs[..]).unwrap();
            let labels = greedy_in_order(&graph, 0..nodes);
            let (prediction, p) = (&prediction[..nodes as usize], &p[..nodes as usize]);
            let prediction = if greedy { &labels[..] } else { prediction };
            for p in [None, Some(p)] {
                let found = walk(&graph, Some(prediction), Some(&labels), p);
                prop_assert_eq!(found.prediction, slow(&graph, prediction));
                prop_assert_eq!(found.labels, slow(&graph, &labels));
                let swapped = walk(&graph, Some(&labels), Some(prediction), p);
                prop_assert_eq!(swapped.prediction, found.labels);
                prop_assert_eq!(swapped.labels, found.prediction);
            }
        }
    }
}
