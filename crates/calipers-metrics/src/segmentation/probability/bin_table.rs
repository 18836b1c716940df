//! Bins on their way into a row: added to pixel by pixel, in words that a processor adds at once.

use multiversion::multiversion;

use crate::segmentation::probability::block::{LANES, Lanes};
use crate::segmentation::row::BinRow;

/// The bits of either half of a probability: a row sums them in units of 2^-62.
const HALF_BITS: u32 = 31;
const HALF: f64 = (1u64 << HALF_BITS) as f64;

/// Where a smaller number must be added so that its whole part stands in the low bits.
const WHOLE: f64 = (1u64 << 52) as f64;

/// After so many blocks, long before a word could overflow, the words go into rows.
const FULL: u32 = 1 << 24;

/// Pixels of one bin.
#[derive(Clone, Copy, Debug, Default)]
struct Words {
    /// Pixels in the low half, those that are right in the high half.
    counts: u64,
    /// The sums of the low and of the high parts of the probabilities.
    low: u64,
    high: u64,
}

/// The high and the low half of every probability in units of 2^-62; what lies below is cut off.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn halves(probabilities: &Lanes) -> ([u64; LANES], [u64; LANES]) {
    let (mut high, mut low) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        // A probability has 53 bits, so that both products and the difference are exact.
        let scaled = probabilities[lane] * HALF;
        let whole = cut(scaled);
        high[lane] = (whole + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits());
        low[lane] = (cut((scaled - whole) * HALF) + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits());
    }
    (high, low)
}

/// The whole part of a number from 0 to 2^51, without a conversion that vectors lack.
#[inline(always)]
fn cut(number: f64) -> f64 {
    let nearest = (number + WHOLE) - WHOLE;
    if nearest > number { nearest - 1.0 } else { nearest }
}

/// The bins of one series.
#[derive(Clone, Debug)]
pub(super) struct BinTable {
    words: Vec<Words>,
    blocks: u32,
    rows: Vec<BinRow>,
}

impl BinTable {
    /// Nothing yet.
    pub(super) fn new(bins: usize) -> Self {
        Self { words: vec![Words::default(); bins], blocks: 0, rows: vec![BinRow::default(); bins] }
    }

    /// Adds the given lanes of a block.
    pub(super) fn add(
        &mut self,
        lanes: &[usize],
        bins: &[usize; LANES],
        probabilities: &Lanes,
        correct: impl Fn(usize) -> bool,
    ) {
        let (high, low) = halves(probabilities);
        for &lane in lanes {
            let words = &mut self.words[bins[lane]];
            words.counts += 1 + (u64::from(correct(lane)) << 32);
            words.high += high[lane];
            words.low += low[lane];
        }
        self.blocks += 1;
        if self.blocks == FULL {
            self.flush();
        }
    }

    /// Adds pixels of one bin.
    pub(super) fn join(&mut self, bin: usize, pixels: &BinRow) {
        let row = &mut self.rows[bin];
        row.count += pixels.count;
        row.correct += pixels.correct;
        row.confidence += pixels.confidence;
    }

    fn flush(&mut self) {
        self.blocks = 0;
        for bin in 0..self.words.len() {
            let Words { counts, low, high } = std::mem::take(&mut self.words[bin]);
            let confidence = (u128::from(high) << HALF_BITS) + u128::from(low);
            self.join(
                bin,
                &BinRow { count: counts & u64::from(u32::MAX), correct: counts >> 32, confidence },
            );
        }
    }

    /// The rows of all bins.
    pub(super) fn finish(mut self) -> Box<[BinRow]> {
        self.flush();
        self.rows.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_whole_numbers_of_any_length() {
        let mut random = calipers_core::SplitMix64::new(5);
        let mut table = BinTable::new(3);
        let mut rows = [BinRow::default(); 3];
        for _ in 0..40 {
            let probabilities: Lanes =
                std::array::from_fn(|lane| if lane < 9 { 1.0 } else { random.unit() * random.unit() });
            let bins = probabilities.map(|probability| (probability * 2.0) as usize);
            let lanes: Vec<usize> = (0..LANES).filter(|lane| lane % 7 != 3).collect();
            table.add(&lanes, &bins, &probabilities, |lane| lane % 3 == 0);
            for lane in lanes {
                let row = &mut rows[bins[lane]];
                row.count += 1;
                row.correct += u64::from(lane % 3 == 0);
                row.confidence += u128::from((probabilities[lane] * (1u64 << 62) as f64) as u64);
            }
        }
        table.join(1, &BinRow { count: 2, correct: 1, confidence: 7 });
        rows[1].count += 2;
        rows[1].correct += 1;
        rows[1].confidence += 7;
        assert_eq!(*table.finish(), rows);
    }
}
