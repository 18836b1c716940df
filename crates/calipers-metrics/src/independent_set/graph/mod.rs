//! The simple undirected graph behind stored entries, and what had to be done to get there.

mod adjacency;
mod batches;
mod edge_source;
mod entry_group;
mod lists;
mod short_edges;
mod sorted_entries;
pub(crate) mod storage;

use calipers_core::{Error, Result, stop};

use adjacency::{Adjacency, Direction, Repeat};
use lists::{Census, Read, read};

pub use edge_source::{EdgeSource, NodeNumber, PackedEntries, Storage, Visit};
pub(crate) use short_edges::{ShortEdges, ends};

/// A simple undirected graph with sorted neighbour lists, and the counts of what was dropped.
///
/// ```
/// use calipers_metrics::independent_set::graph::{Graph, Storage};
/// let path: &[(u32, u32)] = &[(0, 1), (1, 0), (1, 2), (2, 2)];
/// let graph = Graph::build(4, Storage::Both, &path)?;
/// assert_eq!((graph.edges(), graph.self_loops(), graph.one_directional_edges()), (2, 1, 1));
/// assert_eq!(graph.neighbours(1), [0, 2]);
/// # Ok::<(), calipers_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    lists: Adjacency,
    /// How many neighbours of each node have a smaller number.
    smaller: Vec<u32>,
    /// All edges, where they suit: see [`ShortEdges::suit`].
    short_edges: Option<ShortEdges>,
    entries: u64,
    loops: Vec<u32>,
    duplicate_edges: u64,
    one_directional_edges: u64,
    isolated_nodes: u64,
    copies: Copies,
}

/// How often each edge is stored: `usual` times, except the edges listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copies {
    pub(crate) usual: u64,
    /// Edges u < v stored another number of times.
    pub(crate) unusual: Vec<(u32, u32, u64)>,
}

/// The largest complement that is made, as neighbour-list entries: 1 GiB of memory.
const COMPLEMENT_LIMIT: u64 = 1 << 28;

impl Graph {
    /// The simple graph of `nodes` nodes behind the entries: loops dropped, repeats dropped, (u, v)
    /// and (v, u) joined. Refuses a node number that is negative or not below `nodes`.
    pub fn build(nodes: u64, storage: Storage, entries: &dyn EdgeSource) -> Result<Self> {
        if nodes >= u64::from(u32::MAX) {
            return Err(Error::value("too many nodes").found(nodes).allowed(format!("below {}", u32::MAX)));
        }
        let Read { mut lists, edges: mut short_edges, census } = read(nodes, storage, entries)?;
        let Census { loops, proper, repeats } = census;
        let entries = proper + loops.len() as u64;
        let distinct = lists.neighbours.len() as u64;
        let (smaller, one_directional_edges, duplicate_edges, copies);
        match storage {
            Storage::Once => {
                smaller = lists.all_smaller();
                one_directional_edges = 0;
                duplicate_edges = proper - distinct / 2;
                let unusual = repeats.into_iter().filter(|(u, v, _)| u < v).collect();
                copies = Copies { usual: 1, unusual };
            }
            Storage::Both => {
                duplicate_edges = proper - distinct;
                let symmetric = lists.smaller_when_symmetric(short_edges.as_ref());
                stop::wanted()?;
                one_directional_edges = if symmetric.is_some() { 0 } else { one_directional(&lists) };
                stop::wanted()?;
                copies = copies_of_pairs(&lists, one_directional_edges, &repeats);
                stop::wanted()?;
                smaller = symmetric.unwrap_or_else(|| {
                    if one_directional_edges > 0 {
                        lists = lists.joined();
                        short_edges = ShortEdges::of(&lists);
                    }
                    lists.all_smaller()
                });
            }
        }
        stop::wanted()?;
        let isolated_nodes = isolated(&lists);
        Ok(Self {
            lists,
            smaller,
            short_edges,
            entries,
            loops,
            duplicate_edges,
            one_directional_edges,
            isolated_nodes,
            copies,
        })
    }

    /// The graph whose edges are the missing ones, each stored once. Refuses one of more than
    /// 2^28 neighbour-list entries.
    pub fn complement(&self) -> Result<Self> {
        let nodes = self.nodes() as u64;
        let size = nodes * nodes.saturating_sub(1) - 2 * self.edges();
        if size > COMPLEMENT_LIMIT {
            return Err(Error::value("the complement graph is too large")
                .found(format!("{} edges", size / 2))
                .allowed(format!("at most {} edges", COMPLEMENT_LIMIT / 2)));
        }
        let mut lists = Adjacency { offsets: vec![0], neighbours: Vec::with_capacity(size as usize) };
        for v in 0..nodes as u32 {
            let mut next = 0;
            for &w in self.neighbours(v) {
                lists.neighbours.extend((next..w).filter(|&x| x != v));
                next = w + 1;
            }
            lists.neighbours.extend((next..nodes as u32).filter(|&x| x != v));
            lists.offsets.push(lists.neighbours.len());
        }
        Ok(Self {
            isolated_nodes: isolated(&lists),
            smaller: lists.all_smaller(),
            short_edges: ShortEdges::of(&lists),
            lists,
            entries: size / 2,
            loops: Vec::new(),
            duplicate_edges: 0,
            one_directional_edges: 0,
            copies: Copies { usual: 1, unusual: Vec::new() },
        })
    }

    /// Nodes N.
    pub fn nodes(&self) -> usize {
        self.lists.nodes()
    }

    /// Undirected edges m.
    pub fn edges(&self) -> u64 {
        self.lists.neighbours.len() as u64 / 2
    }

    /// Stored entries M, loops and repeats included.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Stored entries u = v.
    pub fn self_loops(&self) -> u64 {
        self.loops.len() as u64
    }

    /// The node of the first stored entry u = v.
    pub fn first_self_loop(&self) -> Option<u64> {
        self.loops.first().map(|&v| u64::from(v))
    }

    /// Proper entries that repeat another one.
    pub fn duplicate_edges(&self) -> u64 {
        self.duplicate_edges
    }

    /// Edges stored in exactly one direction where both are expected.
    pub fn one_directional_edges(&self) -> u64 {
        self.one_directional_edges
    }

    /// Nodes without a proper edge.
    pub fn isolated_nodes(&self) -> u64 {
        self.isolated_nodes
    }

    /// The neighbours of a node, ascending.
    #[inline]
    pub fn neighbours(&self, node: u32) -> &[u32] {
        self.lists.of(node)
    }

    /// How many neighbours a node has.
    pub fn degree(&self, node: u32) -> usize {
        self.neighbours(node).len()
    }

    /// The neighbours with a smaller number than the node: every edge u < v comes up once, at v.
    #[inline]
    pub(crate) fn smaller_neighbours(&self, node: u32) -> &[u32] {
        let start = self.lists.offsets[node as usize];
        &self.lists.neighbours[start..start + self.smaller[node as usize] as usize]
    }

    /// Of each node its neighbours, with all that lies behind them, and how many of them have a
    /// smaller number.
    #[inline]
    pub(crate) fn all_smaller_with_rest(&self) -> impl Iterator<Item = (&[u32], usize)> {
        let Adjacency { offsets, neighbours } = &self.lists;
        self.smaller.iter().zip(offsets).map(|(&count, &start)| (&neighbours[start..], count as usize))
    }

    /// All edges u < v by ascending u and v; `None` when the neighbour lists are better to go over.
    pub(crate) fn short_edges(&self) -> Option<&ShortEdges> {
        self.short_edges.as_ref()
    }

    /// Marks the neighbours of a node.
    #[inline(always)]
    pub(crate) fn mark_neighbours(&self, node: u32, marks: &mut [bool]) {
        let list = self.neighbours(node);
        let mut mark = |nodes: &[u32]| nodes.iter().for_each(|&w| marks[w as usize] = true);
        // Where a loop over a short list ends is mispredicted; two steps of a fixed length may overlap.
        if let Some((first, last)) = both_ends::<4>(list) {
            mark(first);
            mark(last);
        } else if let Some((first, last)) = both_ends::<8>(list) {
            mark(first);
            mark(last);
        } else {
            mark(list);
        }
    }

    /// How many neighbours each node has.
    #[inline]
    pub(crate) fn degrees(&self) -> impl Iterator<Item = u64> {
        self.lists.offsets.windows(2).map(|ends| (ends[1] - ends[0]) as u64)
    }

    /// How often edges are stored.
    pub(crate) fn copies(&self) -> &Copies {
        &self.copies
    }

    /// The node of every stored entry u = v.
    pub(crate) fn loops(&self) -> &[u32] {
        &self.loops
    }
}

/// The first N and the last N of a list, when these are all of it.
fn both_ends<const N: usize>(list: &[u32]) -> Option<(&[u32; N], &[u32; N])> {
    list.first_chunk().zip(list.last_chunk()).filter(|_| list.len() <= 2 * N)
}

fn isolated(lists: &Adjacency) -> u64 {
    lists.offsets.windows(2).filter(|w| w[0] == w[1]).count() as u64
}

/// Pairs that are there in one direction only.
fn one_directional(lists: &Adjacency) -> u64 {
    let mut count = 0;
    lists.pairs(|_, _, there| count += u64::from(there != Direction::Both));
    count
}

/// How often each pair is stored, where both directions are expected: twice or, when most pairs
/// have one direction only, once.
fn copies_of_pairs(lists: &Adjacency, one_directional: u64, repeats: &[Repeat]) -> Copies {
    let pairs = (lists.neighbours.len() as u64 + one_directional) / 2;
    let usual = if one_directional * 2 > pairs { 1 } else { 2 };
    let mut unusual = Vec::new();
    let uniform = one_directional == if usual == 1 { pairs } else { 0 };
    if !uniform || !repeats.is_empty() {
        let times = |u, v| {
            repeats.binary_search_by_key(&(u, v), |repeat| (repeat.0, repeat.1)).map_or(1, |at| repeats[at].2)
        };
        lists.pairs(|u, v, there| {
            let count = match there {
                Direction::Both => times(u, v) + times(v, u),
                Direction::Forward => times(u, v),
                Direction::Backward => times(v, u),
            };
            if count != usual {
                unusual.push((u, v, count));
            }
        });
    }
    Copies { usual, unusual }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(nodes: u64, storage: Storage, pairs: &[(u32, u32)]) -> Graph {
        Graph::build(nodes, storage, &pairs).unwrap()
    }

    #[test]
    fn clean_storage_keeps_only_how_often_edges_are_stored() {
        let both = build(3, Storage::Both, &[(0, 1), (1, 0), (1, 2), (2, 1)]);
        assert_eq!(both.copies(), &Copies { usual: 2, unusual: vec![] });
        let one_way = build(3, Storage::Both, &[(0, 1), (2, 1)]);
        assert_eq!(one_way.copies(), &Copies { usual: 1, unusual: vec![] });
        assert_eq!((one_way.one_directional_edges(), one_way.neighbours(1)), (2, &[0, 2][..]));
        let once = build(3, Storage::Once, &[(1, 0), (1, 2)]);
        assert_eq!(once.copies(), &Copies { usual: 1, unusual: vec![] });
    }

    #[test]
    fn edges_stored_an_unusual_number_of_times_are_listed() {
        let graph = build(4, Storage::Both, &[(0, 1), (1, 0), (1, 0), (1, 2), (2, 1), (3, 2), (3, 3)]);
        assert_eq!(graph.copies(), &Copies { usual: 2, unusual: vec![(0, 1, 3), (2, 3, 1)] });
        assert_eq!((graph.entries(), graph.loops()), (7, &[3][..]));
        let once = build(3, Storage::Once, &[(0, 1), (1, 0), (1, 2)]);
        assert_eq!(once.copies(), &Copies { usual: 1, unusual: vec![(0, 1, 2)] });
        assert_eq!(once.duplicate_edges(), 1);
    }

    #[test]
    fn a_bad_node_number_is_named_with_its_entry_and_the_node_count() {
        for (tails, heads, entry, found) in
            [(vec![0, 1, 2], vec![1, 2, 9], "entry 2", "9"), (vec![1, -4], vec![0, 2], "entry 1", "-4")]
        {
            let error = Graph::build(3, Storage::Both, &(&tails[..], &heads[..])).unwrap_err();
            assert_eq!(error.place(), Some(entry));
            let text = error.to_string();
            assert!(text.contains(found) && text.contains("3 nodes"), "{text}");
        }
    }

    #[test]
    fn the_complement_of_the_complement_has_the_same_neighbours() {
        let graph = build(5, Storage::Once, &[(0, 1), (1, 2), (3, 1)]);
        let twice = graph.complement().unwrap().complement().unwrap();
        assert_eq!((twice.edges(), twice.isolated_nodes()), (3, 1));
        assert!((0..5).all(|v| twice.neighbours(v) == graph.neighbours(v)));
    }
}
