//! Graphs of the sizes people publish on, made from a seed.

use std::path::Path;

use calipers_core::SplitMix64;

use crate::Outcome;
use crate::harness::npy;

/// Graphs over consecutive node numbers, with scores and labels: a packed batch.
#[derive(Default)]
pub(crate) struct Pack {
    /// Where each graph's nodes begin, and the end of the last.
    pub(crate) ptr: Vec<i64>,
    /// One end of every stored entry.
    pub(crate) src: Vec<i64>,
    /// The other end.
    pub(crate) dst: Vec<i64>,
    /// One score a node.
    pub(crate) logits: Vec<f32>,
    /// One label a node: a maximal independent set.
    pub(crate) labels: Vec<bool>,
}

/// How the entries of a graph lie in its `edge_index`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By their ends, as graph libraries leave them.
    Sorted,
    /// Anyhow, the two directions of an edge next to each other.
    Random,
}

/// Makes one graph: its number of nodes and its undirected edges, each once.
pub(crate) type Recipe = fn(&mut SplitMix64) -> (u32, Vec<(u32, u32)>);

/// The conflict graph of a random 3-SAT formula, as in SATLIB's CBS set: 426 clauses over 100
/// variables give 1278 nodes and about 5300 edges.
pub(crate) fn satlib_size(random: &mut SplitMix64) -> (u32, Vec<(u32, u32)>) {
    const CLAUSES: u32 = 426;
    const VARIABLES: u64 = 100;
    let mut literals: Vec<(u64, bool)> = Vec::new();
    let mut edges = Vec::new();
    for clause in 0..CLAUSES {
        let first = 3 * clause;
        while literals.len() < 3 * clause as usize + 3 {
            let literal = (random.below(VARIABLES), random.below(2) == 1);
            if literals[first as usize..].iter().all(|(variable, _)| *variable != literal.0) {
                literals.push(literal);
            }
        }
        edges.extend([(first, first + 1), (first, first + 2), (first + 1, first + 2)]);
    }
    for (v, literal) in (0..).zip(&literals) {
        let opposite = |other: &&(u64, bool)| other.0 == literal.0 && other.1 != literal.1;
        edges.extend((0..v).zip(&literals).filter(|(_, other)| opposite(other)).map(|(u, _)| (u, v)));
    }
    (3 * CLAUSES, edges)
}

/// A dense Erdős-Rényi graph: 756 nodes and about 42,800 edges.
pub(crate) fn er_size(random: &mut SplitMix64) -> (u32, Vec<(u32, u32)>) {
    let pairs = (0..756u32).flat_map(|v| (0..v).map(move |u| (u, v)));
    (756, pairs.filter(|_| random.unit() < 0.1501).collect())
}

impl Pack {
    /// So many graphs of one recipe, both directions of every edge stored, sorted.
    pub(crate) fn of(recipe: Recipe, graphs: usize, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut pack = Self { ptr: vec![0], ..Self::default() };
        for _ in 0..graphs {
            let (nodes, edges) = recipe(&mut random);
            pack.push(nodes, &edges, Order::Sorted, &mut random);
        }
        pack
    }

    /// One sparse random graph with that many stored entries and a tenth as many nodes.
    pub(crate) fn sparse(entries: u32, order: Order, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let nodes = entries / 10;
        let mut end = || random.below(u64::from(nodes)) as u32;
        let edges: Vec<(u32, u32)> =
            (0..entries / 2).map(|_| (end(), end())).filter(|(u, v)| u != v).collect();
        let mut pack = Self { ptr: vec![0], ..Self::default() };
        pack.push(nodes, &edges, order, &mut random);
        pack
    }

    fn push(&mut self, nodes: u32, edges: &[(u32, u32)], order: Order, random: &mut SplitMix64) {
        let first = self.logits.len() as i64;
        let mut entries: Vec<(u32, u32)> = edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
        if order == Order::Sorted {
            entries.sort_unstable();
            entries.dedup();
        }
        for (u, v) in entries {
            self.src.push(first + i64::from(u));
            self.dst.push(first + i64::from(v));
        }
        self.logits.extend((0..nodes).map(|_| (8.0 * random.unit() - 4.0) as f32));
        self.labels.extend(first_come(nodes, edges));
        self.ptr.push(self.logits.len() as i64);
    }

    /// Writes `edge_index`, `logits`, `labels` and `ptr` as npy files.
    pub(crate) fn save(&self, folder: &Path) -> Outcome {
        npy::save_pair(&folder.join("edge_index.npy"), &self.src, &self.dst)?;
        npy::save(&folder.join("logits.npy"), &self.logits)?;
        npy::save(&folder.join("labels.npy"), &self.labels)?;
        npy::save(&folder.join("ptr.npy"), &self.ptr)
    }

    /// How many graphs there are.
    pub(crate) fn graphs(&self) -> usize {
        self.ptr.len() - 1
    }
}

/// The independent set that takes every node without a taken neighbour of lower number.
fn first_come(nodes: u32, edges: &[(u32, u32)]) -> Vec<bool> {
    let mut lower = vec![Vec::new(); nodes as usize];
    for &(u, v) in edges {
        lower[u.max(v) as usize].push(u.min(v));
    }
    let mut taken = vec![false; nodes as usize];
    for node in 0..nodes as usize {
        taken[node] = !lower[node].iter().any(|&other| taken[other as usize]);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graphs_have_the_published_sizes() {
        let satlib = Pack::of(satlib_size, 20, 1);
        assert_eq!(satlib.ptr[1], 1278);
        let edges = satlib.src.len() / 2 / 20;
        assert!((5150..5500).contains(&edges), "{edges}");
        let er = Pack::of(er_size, 4, 1);
        let edges = er.src.len() / 2 / 4;
        assert!((42_000..43_700).contains(&edges), "{edges}");
    }

    #[test]
    fn labels_are_independent() {
        let pack = Pack::of(satlib_size, 3, 7);
        let inside = |node: i64| pack.labels[node as usize];
        assert!(pack.src.iter().zip(&pack.dst).all(|(&u, &v)| !(inside(u) && inside(v))));
    }
}
