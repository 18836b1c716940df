//! Nodes by residual degree: smallest degree first, then smallest number, while degrees fall.

use super::graph::Graph;
use super::node_heap::NodeHeap;
use super::node_set::NodeSet;

/// The remaining nodes of a graph that loses nodes.
///
/// Small degrees have a bitmap each. The words of one block of 64 nodes lie side by side, so that a
/// node whose degree falls by one stays on its cache line; the rare large degrees wait in a heap.
#[derive(Debug)]
pub(super) struct DegreeQueue {
    /// Residual degree, or [`GONE`].
    degrees: Vec<u32>,
    /// How many degrees, from 0, have bitmaps.
    levels: usize,
    /// Word `block * levels + degree`.
    words: Vec<u64>,
    /// For each degree the blocks that hold such a node.
    blocks: Vec<NodeSet>,
    /// No node in the bitmaps has a smaller degree.
    lowest: usize,
    large: NodeHeap,
}

const GONE: u32 = u32::MAX;
/// Degrees with bitmaps in any graph: 8 bytes a node.
const LEVELS: usize = 64;
/// Small graphs have bitmaps for all their degrees, up to this many words.
const WORDS: usize = 1 << 16;

impl DegreeQueue {
    pub(super) fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        let degrees: Vec<u32> = (0..nodes as u32).map(|v| graph.degree(v) as u32).collect();
        let count = nodes.div_ceil(64);
        let top = degrees.iter().max().map_or(0, |&d| d as usize + 1);
        let levels = top.min(LEVELS.max(WORDS / count.max(1)));
        let large = (0..nodes as u32).filter(|&v| degrees[v as usize] as usize >= levels).collect();
        let mut queue = Self {
            levels,
            words: vec![0; count * levels],
            blocks: vec![NodeSet::new(count); levels],
            lowest: 0,
            large: NodeHeap::new(large, nodes, &degrees),
            degrees,
        };
        for v in 0..nodes as u32 {
            if (queue.degrees[v as usize] as usize) < levels {
                queue.insert(v, queue.degrees[v as usize] as usize);
            }
        }
        queue
    }

    /// Whether the node is still here.
    pub(super) fn holds(&self, node: u32) -> bool {
        self.degrees[node as usize] != GONE
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
        let node = self.large.pop(&self.degrees)?;
        self.degrees[node as usize] = GONE;
        Some(node)
    }

    /// Takes out a node that is here.
    pub(super) fn remove(&mut self, node: u32) {
        let degree = self.degrees[node as usize] as usize;
        if degree < self.levels {
            self.erase(node, degree);
        } else {
            self.large.remove(node, &self.degrees);
        }
        self.degrees[node as usize] = GONE;
    }

    /// Lowers the degree of a node that is here by one.
    pub(super) fn lower(&mut self, node: u32) {
        let degree = self.degrees[node as usize] as usize;
        if degree < self.levels {
            self.erase(node, degree);
        } else if degree == self.levels {
            self.large.remove(node, &self.degrees);
        }
        self.degrees[node as usize] -= 1;
        if degree <= self.levels {
            self.insert(node, degree - 1);
            self.lowest = self.lowest.min(degree - 1);
        } else {
            self.large.lowered(node, &self.degrees);
        }
    }

    fn insert(&mut self, node: u32, degree: usize) {
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
        assert!((0..nodes).all(|v| !queue.holds(v)));
    }
}
