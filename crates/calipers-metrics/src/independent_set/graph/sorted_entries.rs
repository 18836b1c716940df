//! Entries that come in ascending order and without loops: their heads are the finished lists.

use multiversion::multiversion;
#[cfg(not(target_feature = "avx2"))]
use multiversion::target::match_target;

use super::adjacency::Adjacency;
use super::entry_group::{GROUP, Group, NONE, Range};
use super::short_edges::ShortEdges;

/// The lists of the entries so far, which all ascend.
#[derive(Debug)]
pub(super) struct SortedEntries {
    range: Range,
    /// Where the list of `v` begins, for nodes up to the tail of the last entry.
    offsets: Vec<usize>,
    heads: Vec<u32>,
    /// The entries whose head is larger than their tail, where they suit: see [`ShortEdges::suit`].
    edges: Option<ShortEdges>,
    /// The last entry.
    last: (u32, u32),
}

impl SortedEntries {
    /// Room for the entries of a graph; `None` when its node numbers are too long.
    pub(super) fn new(nodes: u64, first_node: i64, entries: u64) -> Option<Self> {
        let short = i32::try_from(nodes).ok()?.cast_unsigned();
        // An announced length is not trusted with memory: a longer list grows as it arrives.
        let room = entries.min(1 << 26) as usize;
        Some(Self {
            range: Range { first: first_node, nodes: short },
            offsets: vec![0; nodes as usize + 1],
            heads: Vec::with_capacity(room),
            edges: ShortEdges::with_room(nodes as usize, room),
            last: (NONE, NONE),
        })
    }

    /// Takes entries group by group and returns how many; it stops before a group that does not
    /// ascend, or that holds a loop or a bad node number.
    pub(super) fn take(&mut self, tails: &[i64], heads: &[i64]) -> usize {
        take(self, tails, heads)
    }

    #[inline(always)]
    fn keep(&mut self, group: &Group, count: usize) {
        let before = self.heads.len();
        self.heads.extend_from_slice(&group.heads[..count]);
        if let (Some(edges), Some(words)) = (&mut self.edges, group.edges.first_chunk::<GROUP>()) {
            edges.append(words, group.edge_count);
        }
        let mut changes = group.changes;
        while changes != 0 {
            let at = changes.trailing_zeros() as usize % GROUP;
            let next = group.tails[at];
            begin(self.last.0, next, before + at, &mut self.offsets);
            self.last.0 = next;
            changes &= changes - 1;
        }
        if let Some(&head) = group.heads[..count].last() {
            self.last.1 = head;
        }
    }

    /// How many neighbours `v` has so far, at `v + 1`.
    pub(super) fn into_counts(self) -> Vec<usize> {
        let mut counts = self.into_lists().0.offsets;
        for v in (1..counts.len()).rev() {
            counts[v] -= counts[v - 1];
        }
        counts
    }

    /// The lists of all entries taken, and the entries whose head is larger than their tail.
    pub(super) fn into_lists(self) -> (Adjacency, Option<ShortEdges>) {
        let Self { range, mut offsets, heads, edges, last } = self;
        begin(last.0, range.nodes, heads.len(), &mut offsets);
        // The announced length may have been another.
        let edges = edges.filter(|_| ShortEdges::suit(offsets.len() - 1, heads.len()));
        (Adjacency { offsets, neighbours: heads }, edges)
    }
}

/// What a group needs is done before the next is read: the memory that entries come from works meanwhile.
#[multiversion(targets("x86_64+avx2+bmi1+popcnt"))]
fn take(sorted: &mut SortedEntries, tails: &[i64], heads: &[i64]) -> usize {
    let mut group = Group::new(sorted.edges.is_some());
    let (whole_tails, tails_left) = tails.as_chunks::<GROUP>();
    let (whole_heads, heads_left) = heads.as_chunks::<GROUP>();
    for (number, (tails, heads)) in whole_tails.iter().zip(whole_heads).enumerate() {
        // A build for machines that have AVX2 makes plain versions only, from which its functions cannot be called.
        #[cfg(target_feature = "avx2")]
        let proper = group.read(tails, heads, sorted.range, sorted.last);
        #[cfg(not(target_feature = "avx2"))]
        let proper = match_target! {
            "x86_64+avx2+bmi1+popcnt" => group.read_with_avx2(tails, heads, sorted.range, sorted.last),
            _ => group.read(tails, heads, sorted.range, sorted.last),
        };
        if !proper {
            return number * GROUP;
        }
        sorted.keep(&group, GROUP);
    }
    if !group.read(tails_left, heads_left, sorted.range, sorted.last) {
        return tails.len() - tails_left.len();
    }
    sorted.keep(&group, tails_left.len());
    tails.len()
}

/// Ends the list of node `last` at `place` and begins those of the nodes behind it, up to `next`.
#[inline(always)]
fn begin(last: u32, next: u32, place: usize, offsets: &mut [usize]) {
    offsets[next as usize] = place;
    let empty = last.wrapping_add(1) as usize..next as usize;
    if !empty.is_empty() {
        offsets[empty].fill(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of which every node has a few, in order.
    fn entries(nodes: i64) -> (Vec<i64>, Vec<i64>) {
        let near =
            |u: i64| (0..nodes).filter(move |v| u % 7 != 3 && *v != u && (u * 31 + v * 17) % 97 < 2 + u % 40);
        (0..nodes).flat_map(|u| near(u).map(move |v| (u, v))).unzip()
    }

    #[test]
    fn blocks_of_any_length_give_the_lists() {
        let (tails, heads) = entries(300);
        let mut offsets = vec![0];
        for u in 0..300 {
            offsets.push(tails.partition_point(|&tail| tail <= u));
        }
        let expected = Adjacency { offsets, neighbours: heads.iter().map(|&v| v as u32).collect() };
        for block in [1, 7, 16, GROUP, 1000, tails.len()] {
            let mut sorted = SortedEntries::new(300, 0, 0).unwrap();
            for (tails, heads) in tails.chunks(block).zip(heads.chunks(block)) {
                assert_eq!(sorted.take(tails, heads), tails.len());
            }
            let edges = ShortEdges::of(&expected);
            assert_eq!(sorted.into_lists(), (expected.clone(), edges));
        }
    }

    #[test]
    fn whatever_does_not_ascend_is_left_with_its_group() {
        let (tails, heads) = entries(300);
        assert!(tails.len() > 3 * GROUP);
        let at = 2 * GROUP + 5;
        for (tail, head) in [
            (tails[at], tails[at]),
            (tails[at - 1], heads[at - 1]),
            (tails[at], 300),
            (tails[at], 1 << 31),
            (tails[at], (1 << 32) + heads[at]),
            (tails[at] - (1 << 32), heads[at]),
            (tails[at], -1),
            (0, heads[at]),
            (299, 0),
        ] {
            let (mut tails, mut heads) = (tails.clone(), heads.clone());
            (tails[at], heads[at]) = (tail, head);
            let mut sorted = SortedEntries::new(300, 0, tails.len() as u64).unwrap();
            assert_eq!(sorted.take(&tails, &heads), 2 * GROUP, "{tail} {head}");
            let counts = sorted.into_counts();
            for u in 0..300 {
                let count = tails[..2 * GROUP].iter().filter(|&&tail| tail == u).count();
                assert_eq!(counts[u as usize + 1], count);
            }
        }
    }
}
