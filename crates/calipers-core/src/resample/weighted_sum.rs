//! Many weighted sums of whole numbers at once, exact, as fast as the machine multiplies.
//!
//! ```text
//! Weights   how often each unit counts in each of some resamples
//! Panels    columns of one whole number a unit, below 2^53 together
//! sums      for every resample and column: sum of weight * number
//! ```
//!
//! All products and partial sums are whole numbers below 2^53, so floating-point arithmetic is
//! exact here and its order does not matter. Columns of small numbers share the 53 bits: the sum of
//! `a + 2^k b` holds both sums.

use std::collections::BTreeMap;
use std::ops::Range;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::resample::SplitMix64;

/// Columns that are summed together.
const WIDTH: usize = 8;
/// Resamples that are summed together.
const DEPTH: usize = 4;
/// Units whose numbers stay in the first cache while all resamples pass.
const TILE: usize = 256;

/// How often each unit counts in each of some resamples.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    units: usize,
    /// Resample by resample.
    counts: Vec<u32>,
    /// The same by groups of [`DEPTH`] resamples, unit by unit.
    lanes: Vec<[f64; DEPTH]>,
}

impl Weights {
    /// Resamples of as many units as there are, drawn with replacement. Resample r takes the outputs
    /// r n to r n + n - 1 of the generator, so that any range of resamples can be drawn on its own.
    pub fn resamples(seed: u64, units: usize, range: Range<u32>) -> Self {
        Self::new(units, range, |resample, counts| {
            let mut random = SplitMix64::after(seed, u64::from(resample).wrapping_mul(units as u64));
            for _ in 0..units {
                counts[random.below(units as u64) as usize] += 1;
            }
        })
    }

    /// Each unit counts once or not at all, as a fair coin falls: bit u % 64 of output u / 64 of the
    /// 64-bit words that the throw has for itself.
    pub fn coins(seed: u64, units: usize, range: Range<u32>) -> Self {
        Self::new(units, range, |throw, counts| {
            let mut random =
                SplitMix64::after(seed, u64::from(throw).wrapping_mul(units.div_ceil(64) as u64));
            for word in counts.chunks_mut(64) {
                let bits = random.next_u64();
                word.iter_mut().enumerate().for_each(|(bit, count)| *count = (bits >> bit & 1) as u32);
            }
        })
    }

    pub(super) fn new(units: usize, range: Range<u32>, mut draw: impl FnMut(u32, &mut [u32])) -> Self {
        let resamples = range.len();
        let mut counts = vec![0; resamples * units];
        for (resample, counts) in range.zip(counts.chunks_mut(units.max(1))) {
            draw(resample, counts);
        }
        Self::from_counts(units, counts)
    }

    fn from_counts(units: usize, counts: Vec<u32>) -> Self {
        let resamples = counts.len() / units.max(1);
        let nothing = vec![0; units];
        let mut lanes = Vec::with_capacity(resamples.div_ceil(DEPTH) * units);
        for group in (0..resamples).step_by(DEPTH) {
            let [a, b, c, d] = std::array::from_fn(|k| {
                let start = (group + k) * units;
                counts.get(start..start + units).unwrap_or(&nothing)
            });
            let all = a.iter().zip(b).zip(c).zip(d);
            lanes.extend(all.map(|(((a, b), c), d)| [*a, *b, *c, *d].map(f64::from)));
        }
        Self { units, counts, lanes }
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.units
    }

    /// How often each unit counts, resample by resample.
    pub fn each(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.counts.chunks_exact(self.units.max(1))
    }
}

/// Columns of one whole number a unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panels {
    units: usize,
    columns: Vec<Share>,
    /// How many bits of each number in the panels are taken.
    taken: Vec<u32>,
    /// By groups of [`WIDTH`] numbers, unit by unit.
    panels: Vec<Vec<[f64; WIDTH]>>,
    /// Where each column is, by the hash of its numbers.
    places: BTreeMap<[u8; 32], usize>,
}

/// The bits of a number in the panels that belong to a column.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    number: usize,
    shift: u32,
    /// How many bits; `None` for a column that has the number for itself, and its sign.
    bits: Option<u32>,
}

impl Share {
    /// The sum of the column from the sums of all numbers.
    fn of(&self, sums: impl Fn(usize) -> f64) -> f64 {
        let sum = sums(self.number);
        match self.bits {
            None => sum,
            Some(bits) => (sum as u64 >> self.shift & ((1 << bits) - 1)) as f64,
        }
    }
}

impl Panels {
    /// No column yet.
    pub fn new(units: usize) -> Self {
        Self { units, ..Self::default() }
    }

    /// The most bits a number may have so that sums over `units` draws stay exact.
    pub fn bits(units: usize) -> u32 {
        f64::MANTISSA_DIGITS + units.leading_zeros() - usize::BITS
    }

    /// Adds a column and returns its place. Every number is whole, of at most [`Panels::bits`] bits.
    pub fn push(&mut self, column: &[f64]) -> usize {
        let share = self.share(column);
        let (panel, place) = (share.number / WIDTH, share.number % WIDTH);
        if panel == self.panels.len() {
            self.panels.push(vec![[0.0; WIDTH]; self.units]);
        }
        let scale = (1u64 << share.shift) as f64;
        for (numbers, &number) in self.panels[panel].iter_mut().zip(column) {
            numbers[place] += scale * number;
        }
        self.places.insert(digest(column), self.columns.len());
        self.columns.push(share);
        self.columns.len() - 1
    }

    /// Room for a column: in the first number with enough bits left, else in a new one.
    fn share(&mut self, column: &[f64]) -> Share {
        let most = column.iter().fold(0.0f64, |most, number| most.max(*number));
        let negative = column.iter().any(|number| *number < 0.0);
        let room = f64::MANTISSA_DIGITS - Self::bits(self.units);
        let bits = u64::BITS - (most as u64).leading_zeros() + room;
        let fits = |taken: &u32| !negative && taken + bits <= f64::MANTISSA_DIGITS;
        let number = self.taken.iter().position(fits).unwrap_or_else(|| {
            self.taken.push(0);
            self.taken.len() - 1
        });
        let shift = self.taken[number];
        self.taken[number] = if negative { f64::MANTISSA_DIGITS } else { shift + bits };
        Share { number, shift, bits: (!negative).then_some(bits) }
    }

    /// Where a column of these numbers is, if it is there.
    pub fn place_of(&self, column: &[f64]) -> Option<usize> {
        self.places.get(&digest(column)).copied()
    }

    /// The weighted sums of every column, resample by resample.
    pub fn sums(&self, weights: &Weights) -> Vec<Vec<f64>> {
        self.sums_of(weights, std::slice::from_ref(&(0..self.units)))
    }

    /// The weighted sums of every column over each part of the units: resample by resample, part
    /// after part.
    pub fn sums_of(&self, weights: &Weights, parts: &[Range<usize>]) -> Vec<Vec<f64>> {
        self.sums_by(weights, None, parts)
    }

    /// The same where the columns, and the parts, have the units in another order.
    pub fn sums_in_order(&self, weights: &Weights, order: &[u32], parts: &[Range<usize>]) -> Vec<Vec<f64>> {
        self.sums_by(weights, Some(order), parts)
    }

    fn sums_by(&self, weights: &Weights, order: Option<&[u32]>, parts: &[Range<usize>]) -> Vec<Vec<f64>> {
        let resamples = weights.each().len();
        let groups = resamples.div_ceil(DEPTH);
        let mut all = vec![Vec::with_capacity(parts.len() * self.columns.len()); resamples];
        let mut sums = vec![[[0.0; WIDTH]; DEPTH]; groups * self.panels.len()];
        // Weights are brought into order tile by tile: a copy of all of them would leave the cache.
        let mut ordered = vec![Vec::with_capacity(TILE); if order.is_some() { groups } else { 0 }];
        for part in parts {
            sums.fill([[0.0; WIDTH]; DEPTH]);
            for start in part.clone().step_by(TILE) {
                let tile = start..(start + TILE).min(part.end);
                for (group, lanes) in ordered.iter_mut().enumerate() {
                    let own = &weights.lanes[group * self.units..][..self.units];
                    let units = order.map_or(&[][..], |order| &order[tile.clone()]);
                    lanes.clear();
                    lanes.extend(units.iter().map(|&unit| own[unit as usize]));
                }
                for (panel, numbers) in self.panels.iter().enumerate() {
                    for group in 0..groups {
                        let given = || &weights.lanes[group * self.units..][tile.clone()];
                        let lanes = ordered.get(group).map_or_else(given, Vec::as_slice);
                        let sums = &mut sums[group * self.panels.len() + panel];
                        accumulate(&numbers[tile.clone()], lanes, sums);
                    }
                }
            }
            for (resample, all) in all.iter_mut().enumerate() {
                let cells = &sums[resample / DEPTH * self.panels.len()..][..self.panels.len()];
                let sum = |number: usize| cells[number / WIDTH][resample % DEPTH][number % WIDTH];
                all.extend(self.columns.iter().map(|share| share.of(sum)));
            }
        }
        all
    }
}

fn digest(column: &[f64]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    column.iter().for_each(|number| _ = hasher.update(&number.to_bits().to_le_bytes()));
    *hasher.finalize().as_bytes()
}

/// Every product and sum is exact, so that fusing them, where the machine does, changes no bit.
#[multiversion(targets("x86_64+avx2+fma"))]
fn accumulate(numbers: &[[f64; WIDTH]], weights: &[[f64; DEPTH]], sums: &mut [[f64; WIDTH]; DEPTH]) {
    let mut totals = *sums;
    for (numbers, weights) in numbers.iter().zip(weights) {
        for (totals, weight) in totals.iter_mut().zip(weights) {
            for (total, number) in totals.iter_mut().zip(numbers) {
                *total = if target_cfg_f!(target_feature = "fma") {
                    weight.mul_add(*number, *total)
                } else {
                    weight * number + *total
                };
            }
        }
    }
    *sums = totals;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_one_unit_after_the_other(
            seed in any::<u64>(), units in 1usize..600, columns in 0usize..20, first in 0u32..50, resamples in 0u32..11,
        ) {
            let mut random = SplitMix64::new(seed);
            let most = 1i64 << (Panels::bits(units) - 1);
            let mut panels = Panels::new(units);
            let numbers: Vec<Vec<i64>> = (0..columns)
                .map(|_| (0..units).map(|_| random.next_u64() as i64 % most).collect())
                .collect();
            for (place, column) in numbers.iter().enumerate() {
                let column: Vec<f64> = column.iter().map(|&number| number as f64).collect();
                prop_assert_eq!(panels.push(&column), place);
            }
            for weights in [
                Weights::resamples(seed, units, first..first + resamples),
                Weights::coins(seed, units, first..first + resamples),
            ] {
                let sums = panels.sums(&weights);
                prop_assert_eq!(sums.len(), resamples as usize);
                for (sums, counts) in sums.iter().zip(weights.each()) {
                    for (sum, column) in sums.iter().zip(&numbers) {
                        let exact: i64 = counts.iter().zip(column).map(|(&n, x)| i64::from(n) * x).sum();
                        prop_assert_eq!(*sum as i64, exact);
                    }
                }
            }
        }
    }

    #[test]
    fn parts_of_units_in_any_order_have_the_sums_of_their_own() {
        let mut random = SplitMix64::new(3);
        let column: Vec<f64> = (0..700).map(|_| random.below(1 << 30) as f64).collect();
        let mut order: Vec<u32> = (0..700).collect();
        order.sort_by_key(|&unit| (unit % 3, unit));
        let parts = [0..234, 234..467, 467..700];
        let weights = Weights::resamples(8, 700, 0..9);
        let mut panels = Panels::new(700);
        panels.push(&order.iter().map(|&unit| column[unit as usize]).collect::<Vec<f64>>());
        let sums = panels.sums_in_order(&weights, &order, &parts);
        for (sums, counts) in sums.iter().zip(weights.each()) {
            for (part, sum) in sums.iter().enumerate() {
                let units = (0..700usize).filter(|unit| unit % 3 == part);
                let slow: f64 = units.map(|unit| f64::from(counts[unit]) * column[unit]).sum();
                assert_eq!(sum.to_bits(), slow.to_bits());
            }
        }
    }

    proptest! {
        #[test]
        fn columns_that_share_bits_keep_their_own_sums(
            seed in any::<u64>(), units in 1usize..300, lengths in prop::collection::vec((0u32..40, any::<bool>()), 1..40),
        ) {
            let mut random = SplitMix64::new(seed);
            let mut panels = Panels::new(units);
            let column = |(bits, signed): (u32, bool), random: &mut SplitMix64| -> Vec<i64> {
                let number = |draw: u64| (draw & ((1u64 << bits.min(Panels::bits(units))) - 1)) as i64;
                let sign = |draw: u64| if signed && draw >> 63 == 1 { -1 } else { 1 };
                (0..units).map(|_| random.next_u64()).map(|draw| number(draw) * sign(draw)).collect()
            };
            let numbers: Vec<Vec<i64>> = lengths.into_iter().map(|sort| column(sort, &mut random)).collect();
            for (place, column) in numbers.iter().enumerate() {
                let column: Vec<f64> = column.iter().map(|&number| number as f64).collect();
                prop_assert_eq!(panels.push(&column), place);
            }
            // The most that a draw can come to: one unit as often as there are units.
            let mut once = vec![0; units];
            once[units / 2] = units as u32;
            let weights = [Weights::from_counts(units, once), Weights::resamples(seed, units, 0..5)];
            for weights in &weights {
                for (sums, counts) in panels.sums(weights).iter().zip(weights.each()) {
                    for (sum, column) in sums.iter().zip(&numbers) {
                        let exact: i64 = counts.iter().zip(column).map(|(&n, x)| i64::from(n) * x).sum();
                        prop_assert_eq!(*sum as i64, exact);
                    }
                }
            }
        }
    }

    #[test]
    fn small_numbers_share_the_bits_of_one() {
        let mut panels = Panels::new(10_000);
        let yes_or_no: Vec<f64> = (0..10_000).map(|unit| f64::from(unit % 2)).collect();
        let other: Vec<f64> = yes_or_no.iter().map(|number| 1.0 - number).collect();
        let third: Vec<f64> = (0..10_000).map(|unit| f64::from(u8::from(unit % 3 == 0))).collect();
        for column in [&yes_or_no, &other, &third] {
            panels.push(column);
        }
        assert_eq!(panels.taken, [45]);
        panels.push(&vec![-1.0; 10_000]);
        assert_eq!(panels.taken, [45, 53]);
    }

    #[test]
    fn a_range_of_resamples_is_the_same_range_of_all_of_them() {
        let all = Weights::resamples(5, 37, 0..40);
        let part = Weights::resamples(5, 37, 13..29);
        assert!(part.each().eq(all.each().skip(13).take(16)));
        assert!(all.each().all(|counts| counts.iter().sum::<u32>() == 37));
    }

    #[test]
    fn draws_are_those_of_one_generator_after_the_other() {
        let mut random = SplitMix64::new(9);
        for counts in Weights::resamples(9, 7, 0..5).each() {
            let mut drawn = [0; 7];
            (0..7).for_each(|_| drawn[random.below(7) as usize] += 1);
            assert_eq!(counts, drawn);
        }
    }

    #[test]
    fn the_bits_of_a_number_leave_room_for_every_draw() {
        assert_eq!((Panels::bits(1), Panels::bits(10_000), Panels::bits(1 << 14)), (52, 39, 38));
    }
}
