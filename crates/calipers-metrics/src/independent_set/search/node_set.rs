//! A set of node numbers that gives its smallest member in a few steps, whatever its size.

/// A bitmap with summaries: a bit of a higher level says that a word below is not empty.
#[derive(Clone, Debug)]
pub(super) struct NodeSet {
    levels: Vec<Vec<u64>>,
}

impl NodeSet {
    /// The empty set of numbers below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        let mut levels = Vec::with_capacity(1);
        let mut words = bound.div_ceil(64).max(1);
        levels.push(vec![0; words]);
        while words > 1 {
            words = words.div_ceil(64);
            levels.push(vec![0; words]);
        }
        Self { levels }
    }

    pub(super) fn insert(&mut self, number: u32) {
        let mut at = number as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            // The levels above know of this word already.
            if !was_empty {
                return;
            }
            at /= 64;
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        let mut at = number as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The smallest member.
    pub(super) fn first(&self) -> Option<u32> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let word = level[at];
            if word == 0 {
                return None;
            }
            at = at * 64 + word.trailing_zeros() as usize;
        }
        Some(at as u32)
    }

    /// Takes out the smallest member.
    pub(super) fn pop_first(&mut self) -> Option<u32> {
        let first = self.first()?;
        self.remove(first);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_smallest_member_is_that_of_an_ordered_set(
            moves in prop::collection::vec((any::<bool>(), 0u32..300_000), 0..200)
        ) {
            let (mut fast, mut slow) = (NodeSet::new(300_000), BTreeSet::new());
            for (add, number) in moves {
                if add {
                    fast.insert(number);
                    slow.insert(number);
                } else {
                    fast.remove(number);
                    slow.remove(&number);
                }
                prop_assert_eq!(fast.first(), slow.first().copied());
            }
            while let Some(number) = slow.pop_first() {
                prop_assert_eq!(fast.pop_first(), Some(number));
            }
            prop_assert_eq!(fast.pop_first(), None);
        }
    }
}
