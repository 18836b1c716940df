//! Entries that come in ascending order and without loops: their heads are the finished lists.

use multiversion::multiversion;

use super::adjacency::Adjacency;

/// The lists of the entries so far, which all ascend.
#[derive(Debug)]
pub(super) struct SortedEntries {
    nodes: u32,
    /// One past the last entry of `v`, at `v + 1`; 0 when it has none.
    ends: Vec<usize>,
    heads: Vec<u32>,
    chunk: Box<Chunk>,
}

/// Some entries with short node numbers, behind the entry that came before them.
#[derive(Debug)]
struct Chunk {
    tails: [u32; CHUNK + 1],
    heads: [u32; CHUNK + 1],
}

const CHUNK: usize = 512;
/// Stands for the entry before the first; as a signed number it is below all others.
const NONE: u32 = u32::MAX;
/// Entries whose bits share a word.
const GROUP: usize = 32;

impl SortedEntries {
    /// Room for the entries of a graph; `None` when its node numbers are too long.
    pub(super) fn new(nodes: u64, entries: u64) -> Option<Self> {
        let short = i32::try_from(nodes).ok()?;
        // An announced length is not trusted with memory: a longer list grows as it arrives.
        let heads = Vec::with_capacity(entries.min(1 << 26) as usize);
        let chunk = Box::new(Chunk { tails: [NONE; CHUNK + 1], heads: [NONE; CHUNK + 1] });
        Some(Self { nodes: short as u32, ends: vec![0; nodes as usize + 1], heads, chunk })
    }

    /// Takes entries chunk by chunk and returns how many; it stops before a chunk that does not
    /// ascend, or that holds a loop or a bad node number.
    pub(super) fn take(&mut self, tails: &[i64], heads: &[i64]) -> usize {
        let mut taken = 0;
        for (tails, heads) in tails.chunks(CHUNK).zip(heads.chunks(CHUNK)) {
            let count = tails.len();
            let chunk = &mut *self.chunk;
            let short = [&mut chunk.tails[1..=count], &mut chunk.heads[1..=count]];
            if !shorten([tails, heads], short)
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
        let Chunk { tails, heads } = &mut *self.chunk;
        let mut groups = [0; CHUNK / GROUP];
        changes(&tails[..=count], &mut groups);
        for (group, mut changes) in groups.into_iter().enumerate() {
            while changes != 0 {
                let at = group * GROUP + changes.trailing_zeros() as usize;
                self.ends[tails[at].wrapping_add(1) as usize] = self.heads.len() + at;
                changes &= changes - 1;
            }
        }
        self.heads.extend_from_slice(&heads[1..=count]);
        (tails[0], heads[0]) = (tails[count], heads[count]);
    }

    /// How many neighbours `v` has so far, at `v + 1`.
    pub(super) fn into_counts(self) -> Vec<usize> {
        let mut counts = self.into_lists().offsets;
        for v in (1..counts.len()).rev() {
            counts[v] -= counts[v - 1];
        }
        counts
    }

    /// The lists of all entries taken.
    pub(super) fn into_lists(self) -> Adjacency {
        let Self { ends: mut offsets, heads, chunk, .. } = self;
        offsets[chunk.tails[0].wrapping_add(1) as usize] = heads.len();
        let mut last = 0;
        for end in &mut offsets {
            last = last.max(*end);
            *end = last;
        }
        Adjacency { offsets, neighbours: heads }
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

/// Shortens the node numbers; false when that changes one. No branch: it becomes vector code.
#[multiversion(targets("x86_64+avx2"))]
fn shorten(long: [&[i64]; 2], short: [&mut [u32]; 2]) -> bool {
    let mut bits = 0;
    for (long, short) in long.into_iter().zip(short) {
        for (short, &long) in short.iter_mut().zip(long) {
            bits |= long;
            *short = long as u32;
        }
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
            let mut sorted = SortedEntries::new(300, 0).unwrap();
            for (tails, heads) in tails.chunks(block).zip(heads.chunks(block)) {
                assert_eq!(sorted.take(tails, heads), tails.len());
            }
            assert_eq!(sorted.into_lists(), expected);
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
            let mut sorted = SortedEntries::new(300, tails.len() as u64).unwrap();
            assert_eq!(sorted.take(&tails, &heads), 2 * CHUNK, "{tail} {head}");
            let counts = sorted.into_counts();
            for u in 0..300 {
                let count = tails[..2 * CHUNK].iter().filter(|&&tail| tail == u).count();
                assert_eq!(counts[u as usize + 1], count);
            }
        }
    }
}
