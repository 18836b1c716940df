//! Neighbour lists behind one another: filled, sorted, compared with and joined to their reverse.

use calipers_core::stop::Turns;

use super::batches::Batches;
use super::short_edges::{ShortEdges, ends};

/// The neighbours of all nodes; those of `v` lie at `offsets[v]..offsets[v + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Adjacency {
    pub(super) offsets: Vec<usize>,
    pub(super) neighbours: Vec<u32>,
}

/// An ordered pair that is stored more than once, and how often.
pub(super) type Repeat = (u32, u32, u64);

/// Which directions of a pair u < v are present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    Forward,
    Backward,
}

/// Up to this many neighbours the lists are sorted by reversing all pairs, which is fast while
/// everything fits the cache; beyond, each list is sorted in its place.
const SMALL: usize = 1 << 19;

/// How many nodes are gone over between two questions whether the graph is still wanted.
const NODES_PER_QUESTION: u32 = 1 << 14;

impl Adjacency {
    #[inline]
    pub(super) fn of(&self, node: u32) -> &[u32] {
        &self.neighbours[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// How many neighbours in the sorted list of a node have a smaller number.
    fn smaller(&self, node: u32) -> usize {
        self.of(node).partition_point(|&w| w < node)
    }

    /// How many neighbours of each node have a smaller number.
    pub(super) fn all_smaller(&self) -> Vec<u32> {
        (0..self.nodes() as u32).map(|v| self.smaller(v) as u32).collect()
    }

    pub(super) fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Lists with room for as many neighbours of `v` as `counts[v + 1]` says. Until
    /// [`Self::finish`], `offsets[v]` is where the next neighbour of `v` goes.
    pub(super) fn with_room(mut counts: Vec<usize>) -> Self {
        for v in 1..counts.len() {
            counts[v] += counts[v - 1];
        }
        Self { neighbours: vec![0; counts[counts.len() - 1]], offsets: counts }
    }

    /// Appends a neighbour to the list of a node; false when all room is taken.
    #[inline]
    pub(super) fn place(&mut self, node: u32, neighbour: u32) -> bool {
        let cursor = &mut self.offsets[node as usize];
        let Some(slot) = self.neighbours.get_mut(*cursor) else { return false };
        *slot = neighbour;
        *cursor += 1;
        true
    }

    /// Ends the filling.
    pub(super) fn finish(&mut self) {
        let nodes = self.nodes();
        self.offsets.copy_within(0..nodes, 1);
        self.offsets[0] = 0;
    }

    /// Sorts every list, drops repeats and says which pairs were there more than once. Small graphs
    /// may come out with all pairs reversed.
    pub(super) fn sort(&mut self) -> Vec<Repeat> {
        // Reversing sorts in linear time, but visits lists at random: too slow outside the cache.
        if self.neighbours.len() <= SMALL {
            *self = self.reversed();
        } else {
            let mut turns = Turns::every(NODES_PER_QUESTION);
            for v in 0..self.nodes() {
                if turns.asked() {
                    break;
                }
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
        let mut counts = vec![0; self.offsets.len()];
        for &v in &self.neighbours {
            counts[v as usize + 1] += 1;
        }
        let mut reversed = Self::with_room(counts);
        for u in 0..self.nodes() as u32 {
            for &v in self.of(u) {
                reversed.place(v, u);
            }
        }
        reversed.finish();
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

    /// How many neighbours of each node have a smaller number, when every pair of the sorted lists is
    /// there in both directions. `larger` are the pairs u < v, if they are at hand.
    ///
    /// *Correctness.* The pairs u < v come up by ascending u, and each finds its (v, u) at the cursor
    /// of v. When no cursor leaves its list and all smaller neighbours are found, none is missing.
    pub(super) fn smaller_when_symmetric(&self, larger: Option<&ShortEdges>) -> Option<Vec<u32>> {
        let Self { offsets, neighbours } = self;
        let nodes = self.nodes();
        u32::try_from(neighbours.len()).ok()?;
        let mut cursors: Vec<u32> = offsets[..nodes].iter().map(|&start| start as u32).collect();
        match (larger, Batches::for_nodes(nodes)) {
            (Some(larger), _) => self.meet_edges(&mut cursors, larger)?,
            (None, None) => self.meet_in_order(&mut cursors)?,
            (None, Some(batches)) => self.meet_in_batches(&mut cursors, batches)?,
        }
        cursors.iter_mut().zip(offsets).for_each(|(cursor, &start)| *cursor -= start as u32);
        Some(cursors)
    }

    /// Moves each cursor over the smaller neighbours; `None` when a direction is missing.
    #[inline(never)]
    fn meet_edges(&self, cursors: &mut [u32], larger: &ShortEdges) -> Option<()> {
        let mut differences = 0;
        for &word in larger.words() {
            let (u, v) = ends(word);
            let cursor = &mut cursors[v as usize];
            differences |= u ^ self.neighbours.get(*cursor as usize)?;
            *cursor += 1;
        }
        (differences == 0 && self.all_inside(cursors, larger.words().len())).then_some(())
    }

    /// The same for a graph whose edges are not at hand.
    fn meet_in_order(&self, cursors: &mut [u32]) -> Option<()> {
        let neighbours = &self.neighbours[..];
        for (u, &end) in (0..).zip(&self.offsets[1..]) {
            // All smaller neighbours of a node are met before its turn comes.
            let larger = neighbours.get(cursors[u as usize] as usize..end)?;
            if larger.first().is_some_and(|&v| v < u) {
                return None;
            }
            for &v in larger {
                let cursor = &mut cursors[v as usize];
                if neighbours.get(*cursor as usize) != Some(&u) {
                    return None;
                }
                *cursor += 1;
            }
        }
        Some(())
    }

    /// The same for a graph too large for the cache.
    fn meet_in_batches(&self, cursors: &mut [u32], mut batches: Batches) -> Option<()> {
        let mut all_met = true;
        let mut meet = |v: u32, u: u32| {
            let cursor = &mut cursors[v as usize];
            all_met &= self.neighbours.get(*cursor as usize) == Some(&u);
            *cursor = cursor.saturating_add(1);
        };
        let (mut pairs, mut turns) = (0, Turns::every(NODES_PER_QUESTION));
        for u in 0..self.nodes() as u32 {
            if turns.asked() {
                return None;
            }
            let larger = &self.of(u)[self.smaller(u)..];
            pairs += larger.len();
            for &v in larger {
                batches.add(v, u, &mut meet);
            }
        }
        batches.visit(&mut meet);
        (all_met && self.all_inside(cursors, pairs)).then_some(())
    }

    /// Whether no cursor has left its list and the pairs u < v are half of all.
    fn all_inside(&self, cursors: &[u32], pairs: usize) -> bool {
        let inside = |all, (&cursor, &end): (&u32, &usize)| all & (cursor as usize <= end);
        2 * pairs == self.neighbours.len() && cursors.iter().zip(&self.offsets[1..]).fold(true, inside)
    }

    /// Visits every unordered pair u < v of sorted lists once. The pairs (u, v) come up by ascending
    /// u, so a cursor in the list of each v meets the (v, u) in passing.
    pub(super) fn pairs(&self, mut each: impl FnMut(u32, u32, Direction)) {
        // Where the cursor of a node is and where its list ends, side by side: both are needed at
        // once, at a random place.
        let mut cursors: Vec<(usize, usize)> = self.offsets.windows(2).map(|w| (w[0], w[1])).collect();
        let mut meet = |v: u32, u: u32| {
            let (cursor, end) = &mut cursors[v as usize];
            while *cursor < *end && self.neighbours[*cursor] < u {
                each(self.neighbours[*cursor], v, Direction::Backward);
                *cursor += 1;
            }
            let both = *cursor < *end && self.neighbours[*cursor] == u;
            each(u, v, if both { Direction::Both } else { Direction::Forward });
            *cursor += usize::from(both);
        };
        let mut batches = Batches::for_nodes(self.nodes());
        let mut turns = Turns::every(NODES_PER_QUESTION);
        for u in 0..self.nodes() as u32 {
            if turns.asked() {
                return;
            }
            for &v in &self.of(u)[self.smaller(u)..] {
                match &mut batches {
                    None => meet(v, u),
                    Some(batches) => batches.add(v, u, &mut meet),
                }
            }
        }
        if let Some(mut batches) = batches {
            batches.visit(&mut meet);
        }
        for (v, (cursor, end)) in (0..).zip(cursors) {
            for &u in self.neighbours[cursor..end].iter().take_while(|&&u| u < v) {
                each(u, v, Direction::Backward);
            }
        }
    }

    /// The same pairs with both directions present.
    pub(super) fn joined(&self) -> Self {
        let mut counts = vec![0; self.offsets.len()];
        self.pairs(|u, v, _| {
            counts[u as usize + 1] += 1;
            counts[v as usize + 1] += 1;
        });
        let mut joined = Self::with_room(counts);
        self.pairs(|u, v, _| {
            joined.place(u, v);
            joined.place(v, u);
        });
        joined.finish();
        joined.sort();
        joined
    }
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

        #[test]
        fn lists_are_symmetric_when_no_pair_lacks_a_direction(
            nodes in 2u32..12,
            picks in prop::collection::vec((any::<u32>(), any::<u32>()), 0..40),
            lost in any::<prop::sample::Index>(),
            loses in any::<bool>(),
        ) {
            let mut pairs: Vec<(u32, u32)> = picks.iter().map(|(u, v)| (u % nodes, v % nodes)).collect();
            pairs.retain(|(u, v)| u != v);
            pairs.extend(pairs.clone().iter().map(|&(u, v)| (v, u)));
            pairs.sort_unstable();
            pairs.dedup();
            if loses && !pairs.is_empty() {
                pairs.remove(lost.index(pairs.len()));
            }
            // The same pairs in a graph that is worked on in batches.
            for spread in [1, 30_000] {
                let ends = (0..nodes * spread).map(|v| pairs.partition_point(|pair| pair.0 * spread <= v));
                let lists = Adjacency {
                    offsets: std::iter::once(0).chain(ends).collect(),
                    neighbours: pairs.iter().map(|pair| pair.1 * spread).collect(),
                };
                let mut symmetric = true;
                lists.pairs(|_, _, there| symmetric &= there == Direction::Both);
                for larger in [None, ShortEdges::of(&lists)] {
                    let smaller = lists.smaller_when_symmetric(larger.as_ref());
                    prop_assert_eq!(smaller, symmetric.then(|| lists.all_smaller()));
                }
            }
        }
    }
}
