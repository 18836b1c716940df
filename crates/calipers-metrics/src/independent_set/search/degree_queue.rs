//! Nodes by residual degree: smallest degree first, then smallest number, while degrees fall.

use super::node_heap::NodeHeap;
use super::node_set::NodeSet;
use crate::independent_set::graph::Graph;

/// The remaining nodes of a graph that loses nodes.
///
/// Small degrees have a bitmap each. The words of one block of 64 nodes lie side by side, so that a
/// node whose degree falls by one stays on its cache line; larger degrees wait in a heap.
#[derive(Debug)]
pub(super) struct DegreeQueue {
    /// Residual degree where it has a bitmap, else [`LARGE`] or [`GONE`]. One byte a node, because
    /// it is read at random places.
    degrees: Vec<u8>,
    /// How many degrees, from 0, have bitmaps.
    levels: usize,
    /// Word `block * levels + degree`.
    words: Vec<u64>,
    /// For each degree the blocks that hold such a node.
    blocks: Vec<NodeSet>,
    /// No node in the bitmaps has a smaller degree.
    lowest: usize,
    large: NodeHeap,
    /// Residual degrees of the nodes in the heap; empty when there was never one.
    large_degrees: Vec<u32>,
}

const GONE: u8 = u8::MAX;
const LARGE: u8 = u8::MAX - 1;
/// Degrees with bitmaps in any graph: 8 bytes per node.
const LEVELS: usize = 64;
/// Small graphs have bitmaps for more degrees, up to this many words.
const WORDS: usize = 1 << 16;

impl DegreeQueue {
    pub(super) fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes() as u32;
        let count = graph.nodes().div_ceil(64);
        let top = (0..nodes).map(|v| graph.degree(v) + 1).max().unwrap_or(0);
        let levels = top.min(LEVELS.max(WORDS / count.max(1))).min(LARGE as usize);
        let large: Vec<u32> = (0..nodes).filter(|&v| graph.degree(v) >= levels).collect();
        let large_degrees: Vec<u32> =
            if large.is_empty() { Vec::new() } else { (0..nodes).map(|v| graph.degree(v) as u32).collect() };
        let mut queue = Self {
            degrees: vec![LARGE; graph.nodes()],
            levels,
            words: vec![0; count * levels],
            blocks: vec![NodeSet::new(count); levels],
            lowest: 0,
            large: NodeHeap::new(large, graph.nodes(), &large_degrees),
            large_degrees,
        };
        for v in (0..nodes).filter(|&v| graph.degree(v) < levels) {
            queue.insert(v, graph.degree(v));
        }
        queue
    }

    /// Puts those of the given nodes that are still here into `present`.
    pub(super) fn present(&self, nodes: &[u32], present: &mut Vec<u32>) {
        // Every slot is written and only the count depends on what was read: a branch here would
        // be mispredicted half of the time, and wait for memory each time.
        present.resize(nodes.len(), 0);
        let mut count = 0;
        for &node in nodes {
            present[count] = node;
            count += usize::from(self.degrees[node as usize] != GONE);
        }
        present.truncate(count);
    }

    /// Takes out the first node; the degrees of its neighbours are the caller's to lower.
    pub(super) fn pop(&mut self) -> Option<u32> {
        while self.lowest < self.levels {
            if let Some(block) = self.blocks[self.lowest].first() {
                let word = self.words[block as usize * self.levels + self.lowest];
                let node = block * 64 + word.trailing_zeros();
                self.remove(node);
                return Some(node);
            }
            self.lowest += 1;
        }
        let node = self.large.pop(&self.large_degrees)?;
        self.degrees[node as usize] = GONE;
        Some(node)
    }

    /// Takes out a node that is here.
    pub(super) fn remove(&mut self, node: u32) {
        match self.degrees[node as usize] {
            LARGE => self.large.remove(node, &self.large_degrees),
            degree => self.erase(node, degree as usize),
        }
        self.degrees[node as usize] = GONE;
    }

    /// Lowers the degree of a node that is here by one.
    pub(super) fn lower(&mut self, node: u32) {
        let degree = self.degrees[node as usize];
        if degree != LARGE {
            self.erase(node, degree as usize);
            self.insert(node, degree as usize - 1);
            self.lowest = self.lowest.min(degree as usize - 1);
            return;
        }
        self.large_degrees[node as usize] -= 1;
        let degree = self.large_degrees[node as usize] as usize;
        if degree < self.levels {
            self.large.remove(node, &self.large_degrees);
            self.insert(node, degree);
            self.lowest = self.lowest.min(degree);
        } else {
            self.large.lowered(node, &self.large_degrees);
        }
    }

    /// Enters a node under a degree that has a bitmap.
    fn insert(&mut self, node: u32, degree: usize) {
        self.degrees[node as usize] = degree as u8;
        let word = &mut self.words[node as usize / 64 * self.levels + degree];
        if *word == 0 {
            self.blocks[degree].insert(node / 64);
        }
        *word |= 1 << (node % 64);
    }

    fn erase(&mut self, node: u32, degree: usize) {
        let word = &mut self.words[node as usize / 64 * self.levels + degree];
        *word &= !(1 << (node % 64));
        if *word == 0 {
            self.blocks[degree].remove(node / 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;

    #[test]
    fn degrees_above_the_bitmaps_come_last_and_in_order() {
        // Three hubs of more neighbours than a large graph has bitmaps for.
        let nodes = 64 * (WORDS as u32 / LEVELS as u32 + 1);
        let mut pairs = Vec::new();
        for (hub, leaves) in [(3u32, 80u32), (1, 66), (2, 66)] {
            pairs.extend((0..leaves).map(|leaf| (hub, 1_000 * hub + leaf)));
        }
        let graph = Graph::build(u64::from(nodes), Storage::Once, &&pairs[..]).unwrap();
        let mut queue = DegreeQueue::new(&graph);
        assert_eq!(queue.levels, LEVELS);
        assert_eq!(queue.pop(), Some(0));
        for leaf in 0..10 {
            queue.remove(3_000 + leaf);
            queue.lower(3);
        }
        for leaf in 0..5 {
            queue.remove(2_000 + leaf);
            queue.lower(2);
        }
        let rest: Vec<u32> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(rest[rest.len() - 3..], [2, 1, 3]);
        let (every, mut present) = ((0..nodes).collect::<Vec<u32>>(), vec![7]);
        queue.present(&every, &mut present);
        assert!(present.is_empty());
    }

    #[test]
    fn a_hub_beyond_one_byte_still_leaves_at_its_turn() {
        let pairs: Vec<(u32, u32)> = (1..=600).map(|leaf| (0, leaf)).collect();
        let graph = Graph::build(601, Storage::Once, &&pairs[..]).unwrap();
        let mut queue = DegreeQueue::new(&graph);
        for leaf in 1..=599 {
            assert_eq!(queue.pop(), Some(leaf));
            queue.lower(0);
        }
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(0), Some(600), None));
    }
}
