//! Keys in ascending order, in no more memory than twice their own.

use calipers_core::stop;

/// Fewer keys than this are sorted by comparisons.
const FEW: usize = 2048;

/// How many long keys are sorted at once, without asking whether the order is still wanted.
const AT_ONCE: usize = 1 << 20;

/// How many keys are moved between two questions.
const BLOCK: usize = 1 << 16;

/// The bits of a digit.
const DIGIT: u32 = 8;
const VALUES: usize = 1 << DIGIT;

/// Keys that can be sorted. Where the order is no longer wanted they are left in any order.
pub(crate) trait Sortable: Sized {
    /// Sorts ascending.
    fn sort(keys: &mut [Self]);
}

impl Sortable for u32 {
    fn sort(keys: &mut [Self]) {
        match u32::try_from(keys.len()) {
            Ok(count) if count as usize >= FEW => from_the_lowest(keys),
            _ => keys.sort_unstable(),
        }
    }
}

impl Sortable for u64 {
    fn sort(keys: &mut [Self]) {
        if keys.len() <= AT_ONCE { keys.sort_unstable() } else { from_the_highest(keys) }
    }
}

/// Sorts by four digits, lowest first; a digit that all keys share costs nothing.
fn from_the_lowest(keys: &mut [u32]) {
    let digit = |key: u32, place: usize| (key >> (place as u32 * DIGIT)) as usize & (VALUES - 1);
    let mut counts = [[0u32; VALUES]; (u32::BITS / DIGIT) as usize];
    for block in keys.chunks(BLOCK) {
        if stop::asked() {
            return;
        }
        for &key in block {
            for (place, counts) in counts.iter_mut().enumerate() {
                counts[digit(key, place)] += 1;
            }
        }
    }
    let mut scratch = vec![0; keys.len()];
    let mut in_scratch = false;
    for (place, counts) in counts.iter_mut().enumerate() {
        if counts.iter().any(|&count| count as usize == keys.len()) {
            continue;
        }
        let mut sum = 0;
        for count in counts.iter_mut() {
            sum += std::mem::replace(count, sum);
        }
        let (from, to) = if in_scratch { (&scratch[..], &mut *keys) } else { (&*keys, &mut scratch[..]) };
        for block in from.chunks(BLOCK) {
            if stop::asked() {
                return;
            }
            for &key in block {
                let place = &mut counts[digit(key, place)];
                to[*place as usize] = key;
                *place += 1;
            }
        }
        in_scratch = !in_scratch;
    }
    if in_scratch {
        keys.copy_from_slice(&scratch);
    }
}

/// Moves keys to where their highest differing digit belongs, then sorts those that share it.
fn from_the_highest(keys: &mut [u64]) {
    let (mut low, mut high) = (u64::MAX, 0);
    for block in keys.chunks(BLOCK) {
        if stop::asked() {
            return;
        }
        (low, high) = block.iter().fold((low, high), |(low, high), &key| (low.min(key), high.max(key)));
    }
    if low == high {
        return;
    }
    let shift = (u64::BITS - (low ^ high).leading_zeros()).saturating_sub(DIGIT);
    let digit = |key: u64| (key >> shift) as usize & (VALUES - 1);
    let mut next = [0usize; VALUES];
    keys.iter().for_each(|&key| next[digit(key)] += 1);
    let mut ends = [0; VALUES];
    let mut sum = 0;
    for (next, end) in next.iter_mut().zip(&mut ends) {
        sum += std::mem::replace(next, sum);
        *end = sum;
    }
    let mut start = 0;
    for (value, end) in ends.into_iter().enumerate() {
        let mut moved = 0;
        while next[value] < end {
            if moved >= BLOCK && stop::asked() {
                return;
            }
            moved = if moved >= BLOCK { 0 } else { moved };
            // Each key that does not belong here takes the place of one that does not belong there.
            let mut key = keys[next[value]];
            while digit(key) != value {
                let place = &mut next[digit(key)];
                std::mem::swap(&mut key, &mut keys[*place]);
                *place += 1;
                moved += 1;
            }
            keys[next[value]] = key;
            next[value] += 1;
            moved += 1;
        }
        u64::sort(&mut keys[start..end]);
        start = end;
        if stop::asked() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn short_keys_are_sorted(mut keys in prop::collection::vec(any::<u32>(), 0..5000), shift in 0u32..24) {
            keys.iter_mut().for_each(|key| *key >>= shift);
            let mut expected = keys.clone();
            expected.sort_unstable();
            from_the_lowest(&mut keys);
            prop_assert_eq!(keys, expected);
        }

        #[test]
        fn long_keys_are_sorted(
            mut keys in prop::collection::vec(any::<u64>(), 0..3000),
            shift in 0u32..60,
            above in any::<u64>(),
        ) {
            keys.iter_mut().for_each(|key| *key = (*key >> shift) | above);
            let mut expected = keys.clone();
            expected.sort_unstable();
            from_the_highest(&mut keys);
            prop_assert_eq!(keys, expected);
        }
    }

    #[test]
    fn more_keys_than_are_sorted_at_once_are_sorted_too() {
        let mut random = calipers_core::SplitMix64::new(3);
        let mut keys: Vec<u64> = (0..2 * AT_ONCE + 5).map(|_| random.below(1 << 40)).collect();
        keys[7] = u64::MAX;
        let mut expected = keys.clone();
        expected.sort_unstable();
        u64::sort(&mut keys);
        assert!(keys == expected);
    }

    #[test]
    fn an_order_that_is_not_wanted_loses_no_key_it_had_not_moved_and_comes_to_an_end() {
        let keys: Vec<u64> = (0..3 * AT_ONCE as u64).rev().collect();
        let mut left = keys.clone();
        assert!(stop::watched(|| true, || u64::sort(&mut left)).is_none());
        assert!(left == keys, "the first question comes before anything is moved");
        let mut short: Vec<u32> = (0..100_000).rev().collect();
        assert!(stop::watched(|| true, || u32::sort(&mut short)).is_none());
    }
}
