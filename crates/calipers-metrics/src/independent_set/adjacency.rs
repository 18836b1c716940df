//! Neighbour lists behind one another: filled from stored entries, sorted, joined in both directions.

use calipers_core::{Error, Result};

use super::edge_source::{EdgeSource, Storage};

/// The neighbours of all nodes; those of `v` lie at `offsets[v]..offsets[v + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Adjacency {
    pub(super) offsets: Vec<usize>,
    pub(super) neighbours: Vec<u32>,
}

/// What the first reading of the entries finds.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// The node of every entry u = v, in stored order.
    pub(super) loops: Vec<u32>,
    /// Entries u != v.
    pub(super) proper: u64,
    /// Ordered pairs stored more than once, in order.
    pub(super) repeats: Vec<Repeat>,
}

/// Up to this many neighbours the lists are sorted by reversing all pairs, which is fast while
/// everything fits the cache; beyond, each list is sorted in its place.
const SMALL: usize = 1 << 19;

/// An ordered pair that is stored more than once, and how often.
pub(super) type Repeat = (u32, u32, u64);

/// Which directions of a pair u < v are present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    Forward,
    Backward,
}

impl Adjacency {
    pub(super) fn of(&self, node: u32) -> &[u32] {
        &self.neighbours[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    pub(super) fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The distinct stored pairs as sorted lists, and what was dropped.
    pub(super) fn read(nodes: u64, storage: Storage, entries: &dyn EdgeSource) -> Result<(Self, Census)> {
        let mut reading = Reading::new(nodes, storage, entries.entries());
        entries.blocks(&mut |tails, heads| reading.count(tails, heads))?;
        let Reading { mut offsets, in_order, mut census, .. } = reading;
        for v in 1..offsets.len() {
            offsets[v] += offsets[v - 1];
        }
        if let Some(neighbours) = in_order {
            return Ok((Self { offsets, neighbours }, census));
        }
        let mut lists = Self { neighbours: vec![0; offsets[offsets.len() - 1]], offsets };
        entries.blocks(&mut |tails, heads| lists.fill(tails, heads, storage).ok_or_else(changed))?;
        lists.rewind();
        census.repeats = lists.sort();
        Ok((lists, census))
    }

    /// Puts each head at the cursor of its tail; until [`Self::rewind`], `offsets[u]` is the cursor
    /// of `u`. Gives up where the entries are not those that were counted.
    fn fill(&mut self, tails: &[i64], heads: &[i64], storage: Storage) -> Option<()> {
        for (&u, &v) in tails.iter().zip(heads).filter(|(u, v)| u != v) {
            self.place(u as usize, v as u32)?;
            if storage == Storage::Once {
                self.place(v as usize, u as u32)?;
            }
        }
        Some(())
    }

    fn place(&mut self, node: usize, neighbour: u32) -> Option<()> {
        let cursor = self.offsets.get_mut(node)?;
        *self.neighbours.get_mut(*cursor)? = neighbour;
        *cursor += 1;
        Some(())
    }

    fn rewind(&mut self) {
        let nodes = self.nodes();
        self.offsets.copy_within(0..nodes, 1);
        self.offsets[0] = 0;
    }

    /// Sorts every list, drops repeats and says which pairs were there more than once. Small graphs
    /// may come out with all pairs reversed.
    fn sort(&mut self) -> Vec<Repeat> {
        if self.neighbours.len() <= SMALL {
            *self = self.reversed();
        } else {
            for v in 0..self.nodes() {
                sort_list(&mut self.neighbours[self.offsets[v]..self.offsets[v + 1]]);
            }
        }
        // Equal neighbours of two successive nodes look like a repeat here, and then are none.
        if self.neighbours.windows(2).fold(false, |any, w| any | (w[0] == w[1])) {
            self.drop_repeats()
        } else {
            Vec::new()
        }
    }

    /// All pairs (v, u) for (u, v). Whatever the lists were, these are sorted: their nodes come up
    /// in ascending order.
    fn reversed(&self) -> Self {
        let mut reversed =
            Self { offsets: vec![0; self.offsets.len()], neighbours: vec![0; self.neighbours.len()] };
        for &v in &self.neighbours {
            reversed.offsets[v as usize + 1] += 1;
        }
        for v in 1..reversed.offsets.len() {
            reversed.offsets[v] += reversed.offsets[v - 1];
        }
        for u in 0..self.nodes() as u32 {
            for &v in self.of(u) {
                let cursor = &mut reversed.offsets[v as usize];
                reversed.neighbours[*cursor] = u;
                *cursor += 1;
            }
        }
        reversed.rewind();
        reversed
    }

    fn drop_repeats(&mut self) -> Vec<Repeat> {
        let mut repeats = Vec::new();
        let (mut kept, mut start) = (0, 0);
        for u in 0..self.nodes() {
            let end = self.offsets[u + 1];
            while start < end {
                let v = self.neighbours[start];
                let run = self.neighbours[start..end].iter().take_while(|&&w| w == v).count();
                if run > 1 {
                    repeats.push((u as u32, v, run as u64));
                }
                self.neighbours[kept] = v;
                kept += 1;
                start += run;
            }
            self.offsets[u + 1] = kept;
        }
        self.neighbours.truncate(kept);
        repeats
    }

    /// Visits every unordered pair u < v once. A cursor into each list moves over the smaller
    /// neighbours as they come up, so one pass over sorted lists is enough.
    pub(super) fn pairs(&self, mut each: impl FnMut(u32, u32, Direction)) {
        let mut cursors = self.offsets[..self.nodes()].to_vec();
        for u in 0..self.nodes() as u32 {
            let end = self.offsets[u as usize + 1];
            let mut at = cursors[u as usize];
            while at < end && self.neighbours[at] < u {
                each(self.neighbours[at], u, Direction::Backward);
                at += 1;
            }
            for &v in &self.neighbours[at..end] {
                let (cursor, end) = (&mut cursors[v as usize], self.offsets[v as usize + 1]);
                while *cursor < end && self.neighbours[*cursor] < u {
                    each(self.neighbours[*cursor], v, Direction::Backward);
                    *cursor += 1;
                }
                if *cursor < end && self.neighbours[*cursor] == u {
                    each(u, v, Direction::Both);
                    *cursor += 1;
                } else {
                    each(u, v, Direction::Forward);
                }
            }
        }
    }

    /// The same pairs with both directions present.
    pub(super) fn joined(&self) -> Self {
        let mut offsets = vec![0; self.offsets.len()];
        self.pairs(|u, v, _| {
            offsets[u as usize + 1] += 1;
            offsets[v as usize + 1] += 1;
        });
        for v in 1..offsets.len() {
            offsets[v] += offsets[v - 1];
        }
        let mut joined = Self { neighbours: vec![0; offsets[offsets.len() - 1]], offsets };
        self.pairs(|u, v, _| {
            for (a, b) in [(u, v), (v, u)] {
                joined.neighbours[joined.offsets[a as usize]] = b;
                joined.offsets[a as usize] += 1;
            }
        });
        joined.rewind();
        joined.sort();
        joined
    }
}

/// The first reading: checks node numbers and counts; while the entries come in ascending order
/// without loops it also keeps the heads, which then are the finished lists.
struct Reading {
    nodes: u64,
    storage: Storage,
    read: u64,
    /// The last entry, while they ascend.
    last: Option<(i64, u32)>,
    offsets: Vec<usize>,
    in_order: Option<Vec<u32>>,
    census: Census,
}

impl Reading {
    fn new(nodes: u64, storage: Storage, entries: u64) -> Self {
        // An announced length is not trusted with memory: a longer list grows as it arrives.
        let in_order = (storage == Storage::Both).then(|| Vec::with_capacity(entries.min(1 << 26) as usize));
        Self {
            nodes,
            storage,
            read: 0,
            last: None,
            offsets: vec![0; nodes as usize + 1],
            in_order,
            census: Census::default(),
        }
    }

    fn count(&mut self, tails: &[i64], heads: &[i64]) -> Result<()> {
        let start = self.count_in_order(tails, heads);
        let once = self.storage == Storage::Once;
        for (i, (&u, &v)) in tails.iter().zip(heads).enumerate().skip(start) {
            if u as u64 >= self.nodes || v as u64 >= self.nodes {
                return Err(self.out_of_range(i, u, v));
            }
            if u == v {
                self.census.loops.push(u as u32);
                continue;
            }
            self.census.proper += 1;
            self.offsets[u as usize + 1] += 1;
            if once {
                self.offsets[v as usize + 1] += 1;
            }
        }
        self.read += tails.len() as u64;
        Ok(())
    }

    /// Counts whole runs of one tail as long as the entries ascend; returns how many entries those
    /// are. What breaks the order, a bad node number too, is left to the general count.
    fn count_in_order(&mut self, tails: &[i64], heads: &[i64]) -> usize {
        let mut done = 0;
        for run in tails.chunk_by(|a, b| a == b) {
            let Some(kept) = &mut self.in_order else { break };
            let (u, old) = (run[0], kept.len());
            let list = &heads[done..done + run.len()];
            let wide = list.iter().fold(0, |bits, &v| bits | v) as u64 >> 32 != 0;
            kept.extend(list.iter().map(|&v| v as u32));
            let list = &kept[old..];
            let fits = (u as u64) < self.nodes && !wide && u64::from(list[list.len() - 1]) < self.nodes;
            let ascends = list.windows(2).fold(true, |all, w| all & (w[0] < w[1]));
            let proper = list.iter().fold(true, |all, &v| all & (i64::from(v) != u));
            let next = (u, list[0]);
            if !(fits && ascends && proper && self.last.is_none_or(|last| last < next)) {
                self.in_order = None;
                break;
            }
            self.last = Some((u, list[list.len() - 1]));
            self.offsets[u as usize + 1] += run.len();
            self.census.proper += run.len() as u64;
            done += run.len();
        }
        done
    }

    #[cold]
    fn out_of_range(&self, i: usize, u: i64, v: i64) -> Error {
        Error::value("node number out of range")
            .at(format!("entry {}", self.read + i as u64))
            .found(if u as u64 >= self.nodes { u } else { v })
            .allowed(match self.nodes {
                0 => "no entry, the graph has 0 nodes".to_string(),
                n => format!("0 to {}, the graph has {n} nodes", n - 1),
            })
            .advice("check that nodes are numbered from 0 and that scores and graph belong together")
    }
}

fn changed() -> Error {
    Error::io("the edge entries changed while they were read")
        .advice("run again when no program writes the file")
}

/// Sorts one list. Those of edges that were listed in order are sorted already, or two ascending
/// runs of which the second belongs in front.
fn sort_list(list: &mut [u32]) {
    let run = list.windows(2).take_while(|w| w[0] <= w[1]).count() + 1;
    if run >= list.len() {
        return;
    }
    if list[list.len() - 1] <= list[0] && list[run..].is_sorted() {
        list.rotate_left(run);
    } else {
        list.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_list_is_sorted_whatever_its_shape(
            nodes in 1u32..300,
            picks in prop::collection::vec(any::<u32>(), 0..200),
            turn in any::<prop::sample::Index>(),
            shape in 0..3,
        ) {
            let mut list: Vec<u32> = picks.iter().map(|x| x % nodes).collect();
            if shape > 0 {
                list.sort_unstable();
                list.dedup();
            }
            if shape == 2 && !list.is_empty() {
                let at = turn.index(list.len());
                list.rotate_left(at);
            }
            let mut expected = list.clone();
            expected.sort_unstable();
            sort_list(&mut list);
            prop_assert_eq!(list, expected);
        }
    }
}
