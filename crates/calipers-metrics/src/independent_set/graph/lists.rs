//! From stored entries to neighbour lists: two readings, one when the entries come in order.

use calipers_core::{Error, Result, stop};

use super::adjacency::{Adjacency, Repeat};
use super::batches::Batches;
use super::edge_source::{EdgeSource, Storage};
use super::short_edges::ShortEdges;
use super::sorted_entries::SortedEntries;

/// What was dropped on the way to the lists.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// The node of every entry u = v, in stored order.
    pub(super) loops: Vec<u32>,
    /// Entries u != v.
    pub(super) proper: u64,
    /// Ordered pairs stored more than once, in order.
    pub(super) repeats: Vec<Repeat>,
}

/// What was read.
#[derive(Debug)]
pub(super) struct Read {
    /// The distinct stored pairs as sorted lists.
    pub(super) lists: Adjacency,
    /// Those pairs u < v, where they suit: see [`ShortEdges::suit`].
    pub(super) edges: Option<ShortEdges>,
    /// What was dropped.
    pub(super) census: Census,
}

/// Reads all entries, once when they come in order and else twice.
pub(super) fn read(nodes: u64, storage: Storage, entries: &dyn EdgeSource) -> Result<Read> {
    let mut first = FirstReading::new(nodes, storage, entries);
    entries.blocks(&mut |tails, heads| stop::wanted().and_then(|()| first.count(tails, heads)))?;
    let FirstReading { sorted, mut counts, mut census, batches, .. } = first;
    // Sorted entries were kept as they came: there is nothing to read a second time.
    if let Some(sorted) = sorted {
        let (lists, edges) = sorted.into_lists();
        return Ok(Read { edges: edges.or_else(|| ShortEdges::of(&lists)), lists, census });
    }
    if let Some(mut batches) = batches {
        batches.visit(|u, _| counts[u as usize + 1] += 1);
    }
    stop::wanted()?;
    let mut second = SecondReading {
        nodes,
        storage,
        first_node: entries.first_node(),
        lists: Adjacency::with_room(counts),
        batches: Batches::for_nodes(nodes as usize),
    };
    let placed = entries.blocks(&mut |tails, heads| {
        stop::wanted()?;
        if second.place(tails, heads) { Ok(()) } else { Err(changed()) }
    });
    placed.and_then(|()| if second.visit() { Ok(()) } else { Err(changed()) })?;
    let mut lists = second.lists;
    lists.finish();
    census.repeats = lists.sort();
    stop::wanted()?;
    Ok(Read { edges: ShortEdges::of(&lists), lists, census })
}

#[cold]
fn changed() -> Error {
    Error::io("the edge entries changed while they were read")
        .advice("run again when no program writes the file")
}

/// Checks node numbers and counts; while the entries come in order, keeps the lists instead.
struct FirstReading {
    nodes: u64,
    storage: Storage,
    first_node: i64,
    read: u64,
    sorted: Option<SortedEntries>,
    /// How many neighbours `v` will have, repeats included, at `v + 1`; empty while `sorted`.
    counts: Vec<usize>,
    census: Census,
    batches: Option<Batches>,
}

impl FirstReading {
    fn new(nodes: u64, storage: Storage, entries: &dyn EdgeSource) -> Self {
        let first_node = entries.first_node();
        let sorted = match storage {
            Storage::Both => SortedEntries::new(nodes, first_node, entries.entries()),
            Storage::Once => None,
        };
        let counts = if sorted.is_some() { Vec::new() } else { vec![0; nodes as usize + 1] };
        let batches = Batches::for_nodes(nodes as usize);
        Self { nodes, storage, first_node, read: 0, sorted, counts, census: Census::default(), batches }
    }

    fn count(&mut self, tails: &[i64], heads: &[i64]) -> Result<()> {
        let sorted = self.sorted.as_mut().map_or(0, |sorted| sorted.take(tails, heads));
        self.census.proper += sorted as u64;
        self.read += sorted as u64;
        if sorted == tails.len() {
            return Ok(());
        }
        // The first entry out of order ends the short way; what was kept so far becomes counts.
        if let Some(sorted) = self.sorted.take() {
            self.counts = sorted.into_counts();
        }
        self.count_unsorted(&tails[sorted..], &heads[sorted..])
    }

    fn count_unsorted(&mut self, tails: &[i64], heads: &[i64]) -> Result<()> {
        let Self { counts, census, batches, nodes, storage, first_node, .. } = self;
        let (nodes, once, loops) = (*nodes, *storage == Storage::Once, census.loops.len());
        for (i, (&u, &v)) in tails.iter().zip(heads).enumerate() {
            // A negative number becomes a huge one: one comparison tests both ends of the range.
            let (u, v) = (u.wrapping_sub(*first_node), v.wrapping_sub(*first_node));
            if u as u64 >= nodes || v as u64 >= nodes {
                return Err(self.out_of_range(i, u, v));
            }
            if u == v {
                census.loops.push(u as u32);
            } else if let Some(batches) = batches {
                let mut count = |u: u32, _| counts[u as usize + 1] += 1;
                batches.add(u as u32, 0, &mut count);
                if once {
                    batches.add(v as u32, 0, &mut count);
                }
            } else {
                counts[u as usize + 1] += 1;
                if once {
                    counts[v as usize + 1] += 1;
                }
            }
        }
        census.proper += (tails.len() - (census.loops.len() - loops)) as u64;
        self.read += tails.len() as u64;
        Ok(())
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

/// Puts each head into the list of its tail.
struct SecondReading {
    nodes: u64,
    storage: Storage,
    first_node: i64,
    lists: Adjacency,
    batches: Option<Batches>,
}

impl SecondReading {
    /// False when the entries are not those of the first reading.
    fn place(&mut self, tails: &[i64], heads: &[i64]) -> bool {
        let Self { nodes, storage, first_node, lists, batches } = self;
        let (nodes, once, first) = (*nodes, *storage == Storage::Once, *first_node);
        let known = |u: i64, v: i64| (u as u64) < nodes && (v as u64) < nodes;
        let own = |(&u, &v): (&i64, &i64)| (u.wrapping_sub(first), v.wrapping_sub(first));
        let mut proper = tails.iter().zip(heads).map(own).filter(|(u, v)| u != v);
        let Some(batches) = batches else {
            return proper.all(|(u, v)| {
                let (node, neighbour) = (u as u32, v as u32);
                known(u, v) && lists.place(node, neighbour) && (!once || lists.place(neighbour, node))
            });
        };
        let mut placed = true;
        for (u, v) in proper {
            if !known(u, v) {
                return false;
            }
            let mut place = |u, v| placed &= lists.place(u, v);
            batches.add(u as u32, v as u32, &mut place);
            if once {
                batches.add(v as u32, u as u32, &mut place);
            }
        }
        placed
    }

    /// Places what waits.
    fn visit(&mut self) -> bool {
        let mut placed = true;
        if let Some(batches) = &mut self.batches {
            batches.visit(|u, v| placed &= self.lists.place(u, v));
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::independent_set::graph::Visit;

    /// Entries that are others at the second reading.
    struct Restless(Cell<usize>, [(i64, i64); 2]);

    impl EdgeSource for Restless {
        fn entries(&self) -> u64 {
            2
        }

        fn blocks(&self, each: Visit<'_>) -> Result<()> {
            let reading = self.0.replace(self.0.get() + 1);
            let (tail, head) = self.1[reading];
            each(&[3, tail], &[1, head])
        }
    }

    #[test]
    fn entries_that_change_between_the_readings_are_an_error_and_no_crash() {
        for second in [(9, 0), (0, 9), (-1, 0)] {
            let source = Restless(Cell::new(0), [(0, 1), second]);
            let error = read(4, Storage::Both, &source).unwrap_err();
            assert!(error.to_string().contains("changed while they were read"));
        }
    }
}
