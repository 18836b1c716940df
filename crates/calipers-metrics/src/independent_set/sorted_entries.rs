//! Entries that come in ascending order and without loops: their heads are the finished lists.

use std::ops::Range;

use multiversion::multiversion;

use super::adjacency::Adjacency;
use super::batches::Batches;

/// The lists of the entries so far, which all ascend.
#[derive(Debug)]
pub(super) struct SortedEntries {
    nodes: u32,
    /// The stored number of the first node.
    first_node: i64,
    /// Where the list of `v` begins, for nodes up to the tail of the last entry.
    offsets: Vec<usize>,
    heads: Vec<u32>,
    meeting: Option<Meeting>,
    chunk: Box<Chunk>,
}

/// The two directions of each edge, compared as the second of them arrives.
///
/// *Correctness.* The entries (u, v), u > v, come up by ascending u, and each finds its (v, u) at the
/// cursor of v, among the larger neighbours of v. When all are found and every cursor ends where its
/// list does, none is missing.
#[derive(Debug)]
struct Meeting {
    cursors: Vec<u32>,
    /// How many neighbours of each node have a smaller number.
    smaller: Vec<u32>,
    all_met: bool,
}

/// Some entries with short node numbers, behind the entry that came before them.
#[derive(Debug)]
struct Chunk {
    tails: [u32; CHUNK + 1],
    heads: [u32; CHUNK + 1],
}

const CHUNK: usize = 2048;
/// Stands for the entry before the first; as a signed number it is below all others.
const NONE: u32 = u32::MAX;
/// Entries whose bits share a word.
const GROUP: usize = 32;

impl SortedEntries {
    /// Room for the entries of a graph; `None` when its node numbers are too long.
    pub(super) fn new(nodes: u64, first_node: i64, entries: u64) -> Option<Self> {
        let short = i32::try_from(nodes).ok()?;
        // An announced length is not trusted with memory: a longer list grows as it arrives.
        let heads = Vec::with_capacity(entries.min(1 << 26) as usize);
        let chunk = Box::new(Chunk { tails: [NONE; CHUNK + 1], heads: [NONE; CHUNK + 1] });
        let count = nodes as usize;
        // On a graph too large for the cache the directions are better compared in batches.
        let meeting = Batches::for_nodes(count).is_none().then(|| Meeting {
            cursors: vec![0; count + 1],
            smaller: vec![0; count],
            all_met: true,
        });
        Some(Self { nodes: short as u32, first_node, offsets: vec![0; count + 1], heads, meeting, chunk })
    }

    /// Takes entries chunk by chunk and returns how many; it stops before a chunk that does not
    /// ascend, or that holds a loop or a bad node number.
    pub(super) fn take(&mut self, tails: &[i64], heads: &[i64]) -> usize {
        let mut taken = 0;
        for (tails, heads) in tails.chunks(CHUNK).zip(heads.chunks(CHUNK)) {
            let count = tails.len();
            let chunk = &mut *self.chunk;
            let short = [&mut chunk.tails[1..=count], &mut chunk.heads[1..=count]];
            if !shorten([tails, heads], self.first_node, short)
                || !is_proper(&chunk.tails[..=count], &chunk.heads[..=count], self.nodes)
                || chunk.tails[count] >= self.nodes
            {
                break;
            }
            self.keep(count);
            taken += count;
        }
        taken
    }

    fn keep(&mut self, count: usize) {
        let Self { offsets, heads: all, meeting, chunk, .. } = self;
        let Chunk { tails, heads } = &mut **chunk;
        let before = all.len();
        all.extend_from_slice(&heads[1..=count]);
        let mut groups = [0; CHUNK / GROUP];
        changes(&tails[..=count], &mut groups);
        for (group, mut changes) in groups.into_iter().enumerate() {
            while changes != 0 {
                let at = group * GROUP + changes.trailing_zeros() as usize;
                begin(tails[at], tails[at + 1], before + at, offsets, all, meeting.as_mut());
                changes &= changes - 1;
            }
        }
        (tails[0], heads[0]) = (tails[count], heads[count]);
    }

    /// How many neighbours `v` has so far, at `v + 1`.
    pub(super) fn into_counts(self) -> Vec<usize> {
        let mut counts = self.into_lists().0.offsets;
        for v in (1..counts.len()).rev() {
            counts[v] -= counts[v - 1];
        }
        counts
    }

    /// The lists of all entries taken; and how many neighbours of each node have a smaller number,
    /// when every entry was seen in both directions.
    pub(super) fn into_lists(self) -> (Adjacency, Option<Vec<u32>>) {
        let Self { nodes, mut offsets, heads, mut meeting, chunk, .. } = self;
        begin(chunk.tails[0], nodes, heads.len(), &mut offsets, &heads, meeting.as_mut());
        let smaller = meeting.and_then(|meeting| meeting.smaller(&offsets));
        (Adjacency { offsets, neighbours: heads }, smaller)
    }
}

/// Ends the list of node `last` at `place` and begins those of the nodes behind it, up to `next`.
#[inline]
fn begin(
    last: u32,
    next: u32,
    place: usize,
    offsets: &mut [usize],
    heads: &[u32],
    meeting: Option<&mut Meeting>,
) {
    let begun = last.wrapping_add(1) as usize..next as usize;
    offsets[next as usize] = place;
    if !begun.is_empty() {
        offsets[begun.clone()].fill(place);
    }
    let Some(meeting) = meeting else { return };
    if !begun.is_empty() {
        meeting.cursors[begun].fill(place as u32);
    }
    if last != NONE {
        meeting.meet(last, offsets[last as usize]..place, heads);
    }
}

impl Meeting {
    /// Lets the smaller neighbours of a node find it in their lists.
    #[inline]
    fn meet(&mut self, node: u32, list: Range<usize>, heads: &[u32]) {
        let start = list.start as u32;
        let mut smaller = 0;
        let mut all_met = self.all_met;
        for &v in &heads[list] {
            if v > node {
                break;
            }
            let cursor = &mut self.cursors[v as usize];
            all_met &= heads.get(*cursor as usize) == Some(&node);
            *cursor = cursor.wrapping_add(1);
            smaller += 1;
        }
        self.all_met = all_met;
        self.smaller[node as usize] = smaller;
        self.cursors[node as usize] = start.wrapping_add(smaller);
    }

    fn smaller(self, offsets: &[usize]) -> Option<Vec<u32>> {
        let at_end = |(&cursor, &end): (&u32, &usize)| cursor as usize == end;
        let symmetric = self.all_met && self.cursors.iter().zip(&offsets[1..]).all(at_end);
        symmetric.then_some(self.smaller)
    }
}

/// For each group of tails, the bits of those that the next one differs from.
#[multiversion(targets("x86_64+avx2"))]
fn changes(tails: &[u32], changes: &mut [u32]) {
    let groups = tails.chunks(GROUP).zip(tails[1..].chunks(GROUP));
    for ((tails, next), changes) in groups.zip(changes) {
        *changes = 0;
        if let (Ok(tails), Ok(next)) = (<&[u32; GROUP]>::try_from(tails), <&[u32; GROUP]>::try_from(next)) {
            for i in 0..GROUP {
                *changes |= u32::from(tails[i] != next[i]) << i;
            }
        } else {
            for (i, (tail, next)) in tails.iter().zip(next).enumerate() {
                *changes |= u32::from(tail != next) << i;
            }
        }
    }
}

/// Shortens the node numbers, counted from the first; false when that changes one. No branch: it becomes vector code.
#[multiversion(targets("x86_64+avx2"))]
fn shorten(long: [&[i64]; 2], first: i64, short: [&mut [u32]; 2]) -> bool {
    let ([tails, heads], [short_tails, short_heads]) = (long, short);
    let count = tails.len();
    let (heads, short_tails) = (&heads[..count], &mut short_tails[..count]);
    let short_heads = &mut short_heads[..count];
    let mut bits = 0;
    for i in 0..count {
        let (tail, head) = (tails[i].wrapping_sub(first), heads[i].wrapping_sub(first));
        bits |= tail | head;
        short_tails[i] = tail as u32;
        short_heads[i] = head as u32;
    }
    bits >> 31 == 0
}

/// Whether all entries but the first ascend, are no loops and have heads below `nodes`. Signed
/// numbers, for which there are vector instructions to compare them.
#[multiversion(targets("x86_64+avx2"))]
fn is_proper(tails: &[u32], heads: &[u32], nodes: u32) -> bool {
    let heads = &heads[..tails.len()];
    let mut proper = true;
    for i in 1..tails.len() {
        let (tail, head) = (tails[i] as i32, heads[i] as i32);
        let (tail_before, head_before) = (tails[i - 1] as i32, heads[i - 1] as i32);
        let ascends = (tail_before < tail) | ((tail_before == tail) & (head_before < head));
        proper &= ascends & (tail != head) & (head < nodes as i32);
    }
    proper
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
        for block in [1, 7, 16, 1000, CHUNK, 5000, tails.len()] {
            let mut sorted = SortedEntries::new(300, 0, 0).unwrap();
            for (tails, heads) in tails.chunks(block).zip(heads.chunks(block)) {
                assert_eq!(sorted.take(tails, heads), tails.len());
            }
            assert_eq!(sorted.into_lists(), (expected.clone(), None));
        }
    }

    #[test]
    fn smaller_neighbours_are_counted_when_both_directions_are_there() {
        let (tails, heads) = entries(300);
        let both = tails.iter().zip(&heads).flat_map(|(&u, &v)| [(u, v), (v, u)]);
        let mut pairs: Vec<(i64, i64)> = both.collect();
        pairs.sort_unstable();
        pairs.dedup();
        let lists = |pairs: &[(i64, i64)]| {
            let (tails, heads): (Vec<_>, Vec<_>) = pairs.iter().map(|(u, v)| (u + 70, v + 70)).unzip();
            let mut sorted = SortedEntries::new(300, 70, 0).unwrap();
            assert_eq!(sorted.take(&tails, &heads), tails.len());
            sorted.into_lists()
        };
        let (all, smaller) = lists(&pairs);
        assert_eq!(smaller, Some(all.all_smaller()));
        for lost in [0, 1, pairs.len() / 3, pairs.len() / 2, pairs.len() - 1] {
            let mut pairs = pairs.clone();
            pairs.remove(lost);
            assert_eq!(lists(&pairs).1, None);
        }
    }

    #[test]
    fn whatever_does_not_ascend_is_left_with_its_chunk() {
        let (tails, heads) = entries(300);
        assert!(tails.len() > 3 * CHUNK);
        let at = 2 * CHUNK + 5;
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
            assert_eq!(sorted.take(&tails, &heads), 2 * CHUNK, "{tail} {head}");
            let counts = sorted.into_counts();
            for u in 0..300 {
                let count = tails[..2 * CHUNK].iter().filter(|&&tail| tail == u).count();
                assert_eq!(counts[u as usize + 1], count);
            }
        }
    }
}
