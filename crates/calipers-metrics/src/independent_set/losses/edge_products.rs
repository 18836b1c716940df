//! The exact sum over edges of p_u p_v, and in passing how many edges leave a set.

use calipers_core::ExactSum;
use multiversion::multiversion;

use crate::independent_set::graph::{Graph, ShortEdges, ends};

/// What the products of all edges tell.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    /// The sum over edges of p_u p_v.
    pub(crate) sum: ExactSum,
    /// Edges with one end in the set and one outside.
    pub(crate) leaving: u64,
}

/// So many neighbours are taken together. A short list fits one step, and of a loop that never turns
/// no end is mispredicted.
const STEP: usize = 8;
/// Terms that wait to be added: long slices are added faster than single terms.
const BUFFER: usize = 2048;

/// Multiplies the probabilities of the two ends of every edge.
///
/// The nodes of the set get a negative sign: the product of an edge is negative when one of its ends is
/// in the set, and as large as it was.
pub(crate) fn products(graph: &Graph, p: &[f64], set: Option<&[bool]>) -> Products {
    // A probability may be the negative zero.
    let signed: Vec<f64> = match set {
        Some(set) => p.iter().zip(set).map(|(p, &inside)| if inside { -p.abs() } else { p.abs() }).collect(),
        None => p.iter().map(|p| p.abs()).collect(),
    };
    // The sign carries the set through the product, so that one pass gives both the sum and the count.
    let mut found = Products { sum: ExactSum::new(), leaving: 0 };
    match graph.short_edges() {
        Some(edges) => found.add_edges(edges, &signed),
        None => found.add_neighbours(graph, &signed),
    }
    found
}

impl Products {
    fn add_edges(&mut self, edges: &ShortEdges, signed: &[f64]) {
        let mut terms = [0.0; BUFFER];
        for words in edges.words().chunks(BUFFER) {
            let terms = &mut terms[..words.len()];
            for (term, &word) in terms.iter_mut().zip(words) {
                let (u, v) = ends(word);
                *term = signed[u as usize] * signed[v as usize];
            }
            self.add(terms);
        }
    }

    fn add_neighbours(&mut self, graph: &Graph, signed: &[f64]) {
        let mut terms = [0.0; BUFFER];
        let mut waiting = 0;
        for (&own, (neighbours, count)) in signed.iter().zip(graph.all_smaller_with_rest()) {
            let mut left = count;
            let mut steps = neighbours.chunks(STEP);
            while left > 0
                && let Some(step) = steps.next()
            {
                if waiting > BUFFER - STEP {
                    self.add(&mut terms[..waiting]);
                    waiting = 0;
                }
                let room = &mut terms[waiting..waiting + STEP];
                // What lies behind the list is multiplied too and then written over.
                if let Ok(step) = <&[u32; STEP]>::try_from(step) {
                    for i in 0..STEP {
                        room[i] = own * signed[step[i] as usize];
                    }
                } else {
                    for (term, &w) in room.iter_mut().zip(step) {
                        *term = own * signed[w as usize];
                    }
                }
                waiting += left.min(STEP);
                left = left.saturating_sub(STEP);
            }
        }
        self.add(&mut terms[..waiting]);
    }

    fn add(&mut self, terms: &mut [f64]) {
        self.leaving += drop_signs(terms);
        self.sum.add_slice(terms);
    }
}

/// Makes all terms positive and says how many were not.
#[multiversion(targets("x86_64+avx2"))]
fn drop_signs(terms: &mut [f64]) -> u64 {
    let mut negative = 0;
    for term in terms {
        negative += term.to_bits() >> 63;
        *term = term.abs();
    }
    negative
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::independent_set::graph::Storage;

    proptest! {
        #[test]
        fn the_products_are_those_of_edges_one_by_one(
            nodes in 1u32..120,
            picks in prop::collection::vec((any::<u32>(), any::<u32>()), 0..3_000),
            scores in prop::collection::vec(
                (prop_oneof![Just(0.0), Just(-0.0), Just(1.0), 0.0..1.0f64, Just(1e-200)], any::<bool>()),
                120,
            ),
        ) {
            let pairs: Vec<(u32, u32)> = picks.iter().map(|(u, v)| (u % nodes, v % nodes)).collect();
            let graph = Graph::build(u64::from(nodes), Storage::Once, &&pairs[..]).unwrap();
            let (p, set): (Vec<f64>, Vec<bool>) = scores.into_iter().take(nodes as usize).unzip();
            let (mut sum, mut leaving) = (ExactSum::new(), 0);
            for v in 0..nodes {
                for &w in graph.neighbours(v).iter().filter(|&&w| w < v) {
                    sum.add(p[v as usize] * p[w as usize]);
                    leaving += u64::from(set[v as usize] != set[w as usize]);
                }
            }
            let found = products(&graph, &p, Some(&set));
            prop_assert_eq!((&found.sum, found.leaving), (&sum, leaving));
            let found = products(&graph, &p, None);
            prop_assert_eq!((&found.sum, found.leaving), (&sum, 0));
        }
    }
}
