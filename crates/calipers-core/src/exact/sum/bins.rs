//! The fast path for long slices: a few floating-point bins per lane catch every bit of a term.

use multiversion::multiversion;

use super::fixed_point::{FixedPoint, power_of_two};

/// How many terms are binned before the bins are emptied.
pub(super) const BLOCK: usize = 4096;

/// Shorter slices are not worth the emptying of the bins.
pub(super) const WORTHWHILE: usize = 64;

/// Independent sums, so that one addition need not wait for the one before and several are one
/// instruction.
pub(super) const LANES: usize = 16;

/// So many lanes of a bin can be summed without rounding: each is below 2^51 units.
const TOGETHER: usize = 4;

/// log2 of the terms one lane takes in one block.
const LANE_BITS: i32 = (BLOCK / LANES).ilog2() as i32;

/// How far apart the bins lie: a bin's terms are below 2^E, its anchor is 1.5 * 2^(E + LANE_BITS + 1),
/// its unit 2^(E + LANE_BITS - 51), and what it leaves over at most half a unit.
const BIN_STEP: i32 = 52 - LANE_BITS;

/// The ceilings at which every anchor and every unit is a normal number.
const CEILINGS: std::ops::RangeInclusive<i32> = -800..=1000;

/// How many bins there are: with two, full-length terms may lie 2^31 apart, with three 2^75, with
/// five 2^163.
#[derive(Clone, Copy, Debug)]
pub(super) enum Depth {
    Two,
    Three,
    Five,
}

impl Depth {
    /// From the fastest to the most patient.
    pub(super) const ALL: [Self; 3] = [Self::Two, Self::Three, Self::Five];
}

/// Adds terms to anchored sums; returns the size of the largest and the bits left over.
type Sort<const BINS: usize> = fn(&[[f64; LANES]], &mut [[f64; LANES]; BINS]) -> (f64, u64);

/// Bins whose terms must be below 2^ceiling in magnitude.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bins {
    ceiling: i32,
    depth: Depth,
}

impl Bins {
    /// Bins that suit the largest term of a block, with room for somewhat larger ones; none if
    /// the terms are too large for any.
    pub(super) fn for_block(block: &[[f64; LANES]], depth: Depth) -> Option<Self> {
        let mut largest = [0.0; LANES];
        for terms in block {
            largest = std::array::from_fn(|lane| larger(largest[lane], terms[lane].abs()));
        }
        let largest = largest.into_iter().fold(0.0, larger);
        // The exponent field of x says x < 2^(field - 1022); three more, for blocks with larger terms to come.
        let ceiling = (largest.to_bits() >> 52) as i32 - 1022 + 3;
        (ceiling <= *CEILINGS.end()).then_some(Self { ceiling: ceiling.max(*CEILINGS.start()), depth })
    }

    /// Adds the terms of a block exactly, or leaves `sum` as it was and returns false: a term was
    /// too large, not finite, or had bits below the last bin.
    pub(super) fn add_block(self, block: &[[f64; LANES]], sum: &mut FixedPoint) -> bool {
        match self.depth {
            Depth::Two => self.add_to_bins(block, sum, sort_into_two),
            Depth::Three => self.add_to_bins(block, sum, sort_into_three),
            Depth::Five => self.add_to_bins(block, sum, sort_into_five),
        }
    }

    fn add_to_bins<const BINS: usize>(
        self,
        block: &[[f64; LANES]],
        sum: &mut FixedPoint,
        sort: Sort<BINS>,
    ) -> bool {
        let anchors: [f64; BINS] = std::array::from_fn(|bin| {
            1.5 * power_of_two(self.ceiling - bin as i32 * BIN_STEP + LANE_BITS + 1)
        });
        let mut sums = anchors.map(|anchor| [anchor; LANES]);
        let (largest, left_over) = sort(block, &mut sums);
        if left_over != 0 || largest >= power_of_two(self.ceiling) {
            return false;
        }
        for (bin, anchor) in sums.iter().zip(anchors) {
            // Without their anchors the lanes are small multiples of one unit: adding a few of them is exact.
            for totals in bin.chunks(TOGETHER) {
                sum.add(totals.iter().map(|total| total - anchor).sum());
            }
        }
        true
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn sort_into_two(block: &[[f64; LANES]], sums: &mut [[f64; LANES]; 2]) -> (f64, u64) {
    sort_into(block, sums)
}

#[multiversion(targets("x86_64+avx2"))]
fn sort_into_three(block: &[[f64; LANES]], sums: &mut [[f64; LANES]; 3]) -> (f64, u64) {
    sort_into(block, sums)
}

#[multiversion(targets("x86_64+avx2"))]
fn sort_into_five(block: &[[f64; LANES]], sums: &mut [[f64; LANES]; 5]) -> (f64, u64) {
    sort_into(block, sums)
}

/// Adds all terms to the anchored sums; says how large the largest was, and the bits left over.
///
/// *Correctness.* While an anchored sum s stays within a factor 2 of its anchor, |s| is larger
/// than the term x, so with t = s + x rounded, x - (t - s) is the rounding error, exactly.
/// Each bin passes that error on to the next; all errors of the last bin must be 0.
#[inline(always)]
fn sort_into<const BINS: usize>(block: &[[f64; LANES]], all: &mut [[f64; LANES]; BINS]) -> (f64, u64) {
    let mut sums = *all;
    let mut largest = [0.0; LANES];
    let mut left_over = [0; LANES];
    for terms in block {
        for lane in 0..LANES {
            let mut rest = terms[lane];
            largest[lane] = larger(largest[lane], rest.abs());
            for bin in &mut sums {
                // Fast two-sum: `rest` keeps what the addition rounded away.
                let total = bin[lane] + rest;
                rest -= total - bin[lane];
                bin[lane] = total;
            }
            left_over[lane] |= rest.to_bits();
        }
    }
    *all = sums;
    // The sign of a zero is no remainder.
    let left_over = left_over.into_iter().fold(0, |all, bits| all | bits) << 1;
    (largest.into_iter().fold(0.0, larger), left_over)
}

/// The larger number, for which processors have an instruction; what it makes of NaN is not used.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}
