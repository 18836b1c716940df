//! Counts how often each of 32 bits is set in many words, by adding whole words at once.

/// Words that are added side by side.
pub(super) const LANES: usize = 16;

/// Blocks of words that are added at once.
pub(super) const BLOCKS: usize = 8;

/// Words that are added at once.
pub(super) const BATCH: usize = LANES * BLOCKS;

/// Binary digits that a lane's counts can have between two sweeps into the totals.
const DIGITS: usize = 12;

type Block = [u32; LANES];

/// For each bit, in how many of the added words it is set.
///
/// `digits[k]` holds binary digit k of the counts of all bits of all lanes: bit b of lane l is a digit of
/// the count of bit b in lane l. Adding a word to such counts is adding with carries, 32 sums a word.
#[derive(Clone, Debug)]
pub(super) struct BitTally {
    digits: [Block; DIGITS],
    batches: usize,
    totals: [u64; 32],
}

impl BitTally {
    pub(super) const fn new() -> Self {
        Self { digits: [[0; LANES]; DIGITS], batches: 0, totals: [0; 32] }
    }

    /// Adds a batch of words.
    #[inline(always)]
    pub(super) fn add(&mut self, words: &[u32; BATCH]) {
        let (blocks, _) = words.as_chunks::<LANES>();
        let [ones, twos, fours, higher @ ..] = &mut self.digits;
        for lane in 0..LANES {
            let word = |block: usize| blocks[block][lane];
            let (one, a) = full_add(ones[lane], word(0), word(1));
            let (one, b) = full_add(one, word(2), word(3));
            let (one, c) = full_add(one, word(4), word(5));
            let (one, d) = full_add(one, word(6), word(7));
            let (two, e) = full_add(twos[lane], a, b);
            let (two, f) = full_add(two, c, d);
            let (four, mut carry) = full_add(fours[lane], e, f);
            (ones[lane], twos[lane], fours[lane]) = (one, two, four);
            for digit in &mut *higher {
                (digit[lane], carry) = (digit[lane] ^ carry, digit[lane] & carry);
            }
        }
        self.batches += 1;
        // The largest count that the digits can hold is 2^DIGITS - 1.
        if self.batches == (1 << DIGITS) / BLOCKS - 1 {
            self.sweep();
        }
    }

    fn sweep(&mut self) {
        for (power, digit) in self.digits.iter_mut().enumerate() {
            for (bit, total) in self.totals.iter_mut().enumerate() {
                *total += digit.iter().map(|word| u64::from(word >> bit & 1) << power).sum::<u64>();
            }
            *digit = [0; LANES];
        }
        self.batches = 0;
    }

    /// The count of every bit.
    pub(super) fn totals(mut self) -> [u64; 32] {
        self.sweep();
        self.totals
    }
}

/// The digit and the carry of a sum of three bits, for 32 sums at once.
#[inline(always)]
fn full_add(a: u32, b: u32, c: u32) -> (u32, u32) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted_slowly(words: &[u32]) -> [u64; 32] {
        std::array::from_fn(|bit| words.iter().filter(|&word| word >> bit & 1 == 1).count() as u64)
    }

    fn counted_fast(words: &[u32]) -> [u64; 32] {
        let mut tally = BitTally::new();
        words.as_chunks::<BATCH>().0.iter().for_each(|batch| tally.add(batch));
        tally.totals()
    }

    proptest! {
        #[test]
        fn every_bit_is_counted(words in prop::collection::vec(any::<u32>(), BATCH * 5)) {
            prop_assert_eq!(counted_fast(&words), counted_slowly(&words));
        }
    }

    #[test]
    fn counts_outgrow_the_digits() {
        let words = vec![u32::MAX; BATCH * 2000];
        assert_eq!(counted_fast(&words), [words.len() as u64; 32]);
    }
}
