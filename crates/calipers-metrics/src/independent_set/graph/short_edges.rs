//! The edges of a small graph behind one another, each in one word: a loop over them never guesses
//! where the list of a node ends.

use super::adjacency::Adjacency;
use super::entry_group::GROUP;

/// Pairs u < v by ascending u and v.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShortEdges {
    words: Vec<u32>,
}

/// Long neighbour lists are gone over as fast, and need no room.
const SHORT_LIST: usize = 32;

impl ShortEdges {
    /// Whether a graph of so many nodes and neighbours is worth it: both ends of an edge fit a word, and
    /// neighbour lists are short.
    pub(super) fn suit(nodes: usize, neighbours: usize) -> bool {
        nodes <= 1 << 16 && neighbours <= SHORT_LIST * nodes
    }

    /// Room for the edges of a graph of so many nodes and neighbours, if these suit.
    pub(super) fn with_room(nodes: usize, neighbours: usize) -> Option<Self> {
        Self::suit(nodes, neighbours).then(|| Self { words: Vec::with_capacity(neighbours / 2 + GROUP) })
    }

    /// The pairs u < v of sorted lists, if these suit.
    pub(super) fn of(lists: &Adjacency) -> Option<Self> {
        let mut edges = Self::with_room(lists.nodes(), lists.neighbours.len())?;
        for u in 0..lists.nodes() as u32 {
            let larger = lists.of(u).iter().filter(|&&v| u < v);
            edges.words.extend(larger.map(|&v| word(u, v)));
        }
        Some(edges)
    }

    /// Appends the first `count` words. All are copied and the others dropped: a copy of a fixed
    /// length takes a few instructions.
    #[inline]
    pub(super) fn append(&mut self, words: &[u32; GROUP], count: usize) {
        let kept = self.words.len() + count;
        self.words.extend_from_slice(words);
        self.words.truncate(kept);
    }

    /// All pairs.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }
}

/// A pair in one word.
#[inline]
pub(super) fn word(u: u32, v: u32) -> u32 {
    u << 16 | v
}

/// The pair in a word.
#[inline]
pub(crate) fn ends(word: u32) -> (u32, u32) {
    (word >> 16, word & 0xffff)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::independent_set::graph::{Graph, Storage};

    proptest! {
        #[test]
        fn a_graph_is_the_same_from_entries_in_any_order(
            nodes in 1u32..80,
            picks in prop::collection::btree_set((any::<u8>(), any::<u8>()), 0..2_000),
            shuffled in Just((0..4_000usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let ends = picks.iter().map(|&(u, v)| (u32::from(u) % nodes, u32::from(v) % nodes));
            let mut pairs: Vec<(u32, u32)> = ends.filter(|(u, v)| u != v).flat_map(|(u, v)| [(u, v), (v, u)]).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let sorted = Graph::build(u64::from(nodes), Storage::Both, &&pairs[..]).unwrap();
            let edges = pairs.iter().filter(|(u, v)| u < v).map(|&(u, v)| super::word(u, v));
            if let Some(short) = sorted.short_edges() {
                prop_assert_eq!(short.words(), edges.collect::<Vec<_>>());
            } else {
                prop_assert!(pairs.len() > super::SHORT_LIST * nodes as usize);
            }
            let shuffled: Vec<(u32, u32)> = shuffled.into_iter().filter_map(|i| pairs.get(i).copied()).collect();
            let other = Graph::build(u64::from(nodes), Storage::Both, &&shuffled[..]).unwrap();
            prop_assert_eq!(sorted, other);
        }
    }
}
