//! Local search by (1,2)-swaps: one chosen node makes room for two.

use calipers_core::stop::Turns;

use super::node_set::NodeSet;
use crate::independent_set::graph::Graph;

/// Swaps until none is left. An outside node with exactly one chosen neighbour x belongs to x; the
/// smallest x that owns two non-adjacent nodes is replaced by the smallest such pair v < w, then
/// free nodes are added in ascending order.
///
/// From a maximal independent set the result is one too, and never smaller.
pub fn swap_search(graph: &Graph, start: &[bool]) -> Vec<bool> {
    let mut search = LocalSearch::new(graph, start);
    if search.swap().is_some() {
        search.fill(0..graph.nodes() as u32);
        search.improve();
    }
    search.chosen
}

/// A set of chosen nodes with what swaps need to know about the nodes outside.
#[derive(Debug)]
pub(super) struct LocalSearch<'a> {
    graph: &'a Graph,
    pub(super) chosen: Vec<bool>,
    pub(super) size: usize,
    /// Chosen neighbours of each node.
    pub(super) tight: Vec<u32>,
    /// Their numbers combined by exclusive or: where there is one, its number.
    owners: Vec<u32>,
    /// Chosen nodes that may own a pair: all that came to own a node since they were looked at.
    waiting: NodeSet,
    /// Nodes whose choice changed, in order.
    changes: Vec<u32>,
    owned: Vec<u32>,
}

impl<'a> LocalSearch<'a> {
    pub(super) fn new(graph: &'a Graph, start: &[bool]) -> Self {
        let nodes = graph.nodes();
        let mut search = Self {
            graph,
            chosen: start.to_vec(),
            size: 0,
            tight: vec![0; nodes],
            owners: vec![0; nodes],
            waiting: NodeSet::new(nodes),
            changes: Vec::new(),
            owned: Vec::new(),
        };
        for v in (0..nodes as u32).filter(|&v| start[v as usize]) {
            search.insert(v);
        }
        search
    }

    /// Swaps and fills until no chosen node owns a pair.
    pub(super) fn improve(&mut self) {
        let mut turns = Turns::every(1024);
        while let Some(left) = self.swap()
            && !turns.asked()
        {
            // Only neighbours of the node that left can have become free.
            self.fill(self.graph.neighbours(left).iter().copied());
        }
    }

    /// Adds the given nodes in order, each unless it has a chosen neighbour.
    pub(super) fn fill(&mut self, nodes: impl Iterator<Item = u32>) {
        for v in nodes {
            if !self.chosen[v as usize] && self.tight[v as usize] == 0 {
                self.add(v);
            }
        }
    }

    pub(super) fn add(&mut self, node: u32) {
        self.changes.push(node);
        self.insert(node);
    }

    pub(super) fn remove(&mut self, node: u32) {
        self.changes.push(node);
        self.erase(node);
    }

    /// How many changes were made since the last [`Self::keep`].
    pub(super) fn changes(&self) -> usize {
        self.changes.len()
    }

    /// Makes the present set the one that changes are counted from.
    pub(super) fn keep(&mut self) {
        self.changes.clear();
    }

    /// Forgets changes that cancel out once there are many, so that their number stays below twice
    /// that of the nodes however long it goes without [`Self::keep`]. Only all of them can then be undone.
    pub(super) fn forget_detours(&mut self) {
        if self.changes.len() <= 2 * self.chosen.len() {
            return;
        }
        let mut changed = vec![false; self.chosen.len()];
        for v in self.changes.drain(..) {
            changed[v as usize] = !changed[v as usize];
        }
        self.changes.extend((0..).zip(changed).filter_map(|(v, changed)| changed.then_some(v)));
    }

    /// Goes back to the set after the first `changes` changes, which must have had no swap left.
    pub(super) fn undo(&mut self, changes: usize) {
        while self.changes.len() > changes {
            if let Some(node) = self.changes.pop() {
                if self.chosen[node as usize] {
                    self.erase(node);
                } else {
                    self.insert(node);
                }
            }
        }
        // That set has no swap left, so nobody waits.
        while self.waiting.pop_first().is_some() {}
    }

    /// Makes the first swap, if there is one, and returns the node that left.
    fn swap(&mut self) -> Option<u32> {
        while let Some(x) = self.waiting.pop_first() {
            if let Some((v, w)) = self.pair(x) {
                self.remove(x);
                self.add(v);
                self.add(w);
                return Some(x);
            }
        }
        None
    }

    /// The smallest pair of non-adjacent nodes that `x` owns.
    fn pair(&mut self, x: u32) -> Option<(u32, u32)> {
        let Self { graph, chosen, tight, owned, .. } = self;
        owned.clear();
        let mine = |v: &u32| tight[*v as usize] == 1 && !chosen[*v as usize];
        owned.extend(graph.neighbours(x).iter().copied().filter(mine));
        owned.iter().enumerate().find_map(|(i, &v)| {
            let mut near = graph.neighbours(v);
            owned[i + 1..].iter().find_map(|&w| match near.binary_search(&w) {
                // Owned nodes ascend: the next one lies behind this neighbour.
                Ok(at) => {
                    near = &near[at + 1..];
                    None
                }
                Err(_) => Some((v, w)),
            })
        })
    }

    fn insert(&mut self, node: u32) {
        self.chosen[node as usize] = true;
        self.size += 1;
        self.waiting.insert(node);
        for &w in self.graph.neighbours(node) {
            self.tight[w as usize] += 1;
            self.owners[w as usize] ^= node;
        }
    }

    fn erase(&mut self, node: u32) {
        self.chosen[node as usize] = false;
        self.size -= 1;
        self.waiting.remove(node);
        // The node itself may now belong to a chosen neighbour.
        if self.tight[node as usize] == 1 {
            self.waiting.insert(self.owners[node as usize]);
        }
        for &w in self.graph.neighbours(node) {
            self.tight[w as usize] -= 1;
            self.owners[w as usize] ^= node;
            if self.tight[w as usize] == 1 && !self.chosen[w as usize] {
                self.waiting.insert(self.owners[w as usize]);
            }
        }
    }
}
