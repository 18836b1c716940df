//! A column of terms, one per unit, cut into pieces whose weighted sums are exact.

use crate::exact::ExactSum;
use crate::exact::fixed_point::{LIMBS, power_of_two};
use crate::reading::{Sum, Term};
use crate::resample::Panels;

/// The exponent of the unit in which numbers that are not whole are cut.
const UNIT: i32 = -1074;
/// A column of more pieces is better read from the rows.
const MOST_PIECES: usize = 12;
/// The bits of a whole sum that certainly fits.
const WHOLE_BITS: u32 = 126;

/// How the sums of the pieces make the sum of the column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Whether the terms are whole numbers.
    whole: bool,
    /// Where the pieces are, lowest first.
    places: Vec<usize>,
    /// How many bits a piece has.
    bits: u32,
    /// The position of the lowest bit of the first piece.
    lowest: u32,
    /// Whether every sum fits 127 bits above the lowest.
    narrow: bool,
}

/// A term's sign and magnitude, in units of 1 or of 2^[`UNIT`].
struct Digits {
    negative: bool,
    magnitude: Magnitude,
}

enum Magnitude {
    Short { significand: u128, position: u32 },
    Long(Box<[u32; LIMBS]>),
}

impl Column {
    /// Cuts the terms and workers each piece to `push`, which says where it is kept. `None` when terms
    /// are of different sorts, not finite, or lie too far apart.
    pub(super) fn new(terms: &[Term<'_>], mut push: impl FnMut(Vec<f64>) -> usize) -> Option<Self> {
        let whole = matches!(terms.first(), Some(Term::Whole(_)));
        let digits: Vec<Digits> = terms.iter().map(|term| Digits::new(term, whole)).collect::<Option<_>>()?;
        let lowest = digits.iter().filter_map(Digits::lowest).min().unwrap_or(0);
        let end = digits.iter().map(Digits::end).max().unwrap_or(0);
        let bits = Panels::bits(terms.len());
        let width = end.saturating_sub(lowest);
        let pieces = width.div_ceil(bits) as usize;
        let reach = if whole { end } else { width };
        let narrow = reach + (f64::MANTISSA_DIGITS - bits) <= WHOLE_BITS;
        if pieces > MOST_PIECES || whole && !narrow {
            return None;
        }
        let piece = |k: usize| digits.iter().map(|term| term.piece(lowest + k as u32 * bits, bits)).collect();
        let places = (0..pieces).map(|k| push(piece(k))).collect();
        Some(Self { whole, places, bits, lowest, narrow })
    }

    /// The sum of the column from the sums of all pieces.
    pub(super) fn sum(&self, sums: &[f64]) -> Sum {
        let pieces = || self.places.iter().map(|&place| sums[place]);
        if self.narrow {
            let total = pieces().rev().fold(0i128, |total, piece| (total << self.bits) + piece as i128);
            if self.whole {
                return Sum::Whole(total << self.lowest);
            }
            let exponent = self.lowest as i32 + UNIT;
            if exponent > -900 {
                return Sum::Narrow { total, exponent };
            }
        }
        let mut total = ExactSum::new();
        for (k, piece) in (0..).zip(pieces()) {
            let exponent = (self.lowest + k * self.bits) as i32 + UNIT;
            // Two steps, neither of which leaves the normal range; the product is exact.
            let half = exponent / 2;
            total.add(piece * power_of_two(half) * power_of_two(exponent - half));
        }
        Sum::Exact(Box::new(total))
    }
}

impl Digits {
    fn new(term: &Term<'_>, whole: bool) -> Option<Self> {
        match term {
            Term::Whole(number) if whole => Some(Self {
                negative: *number < 0,
                magnitude: Magnitude::Short { significand: number.unsigned_abs(), position: 0 },
            }),
            Term::Number(number) if !whole && number.is_finite() => {
                let bits = number.to_bits();
                let exponent = (bits >> 52 & 0x7ff) as u32;
                let normal = u32::from(exponent != 0);
                let significand = u128::from(bits & ((1 << 52) - 1) | u64::from(normal) << 52);
                let position = exponent - normal;
                Some(Self {
                    negative: bits >> 63 == 1,
                    magnitude: Magnitude::Short { significand, position },
                })
            }
            Term::Exact(sum) if !whole => {
                let (negative, limbs) = sum.to_sum().digits()?;
                Some(Self { negative, magnitude: Magnitude::Long(Box::new(limbs)) })
            }
            _ => None,
        }
    }

    /// The position of the lowest bit that is 1.
    fn lowest(&self) -> Option<u32> {
        match &self.magnitude {
            Magnitude::Short { significand: 0, .. } => None,
            Magnitude::Short { significand, position } => Some(position + significand.trailing_zeros()),
            Magnitude::Long(limbs) => {
                let first = limbs.iter().position(|&limb| limb != 0)?;
                Some(32 * first as u32 + limbs[first].trailing_zeros())
            }
        }
    }

    /// The position after the highest bit that is 1.
    fn end(&self) -> u32 {
        match &self.magnitude {
            Magnitude::Short { significand: 0, .. } => 0,
            Magnitude::Short { significand, position } => position + u128::BITS - significand.leading_zeros(),
            Magnitude::Long(limbs) => limbs
                .iter()
                .rposition(|&limb| limb != 0)
                .map_or(0, |last| 32 * (last as u32 + 1) - limbs[last].leading_zeros()),
        }
    }

    /// `bits` bits from position `from`, with the sign.
    fn piece(&self, from: u32, bits: u32) -> f64 {
        let mask = (1u64 << bits) - 1;
        let piece = match &self.magnitude {
            Magnitude::Short { significand, position } if from >= *position => {
                significand.checked_shr(from - position).unwrap_or(0) as u64 & mask
            }
            Magnitude::Short { significand, position } => {
                let shift = position - from;
                if shift >= bits { 0 } else { ((*significand as u64) << shift) & mask }
            }
            Magnitude::Long(limbs) => {
                let limb = |k: u32| limbs.get((from / 32 + k) as usize).copied().map_or(0, u128::from);
                ((limb(0) | limb(1) << 32 | limb(2) << 64) >> (from % 32)) as u64 & mask
            }
        };
        if self.negative { -(piece as f64) } else { piece as f64 }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::exact::CompactSum;
    use crate::resample::SplitMix64;
    use crate::resample::Weights;
    use proptest::prelude::*;

    fn sums(terms: &[Term<'_>], weights: &Weights) -> Option<Vec<Sum>> {
        let mut panels = Panels::new(terms.len());
        let column = Column::new(terms, |piece| panels.push(&piece))?;
        Some(panels.sums(weights).iter().map(|sums| column.sum(sums)).collect())
    }

    fn exact(numbers: &[CompactSum], counts: &[u32]) -> f64 {
        let mut total = ExactSum::new();
        for (number, &count) in numbers.iter().zip(counts) {
            (0..count).for_each(|_| number.add_to(&mut total));
        }
        total.value()
    }

    proptest! {
        #[test]
        fn weighted_sums_of_numbers_are_rounded_once(
            numbers in prop::collection::vec((any::<i32>(), -90i32..20, any::<bool>()), 1..60), seed in any::<u64>(),
        ) {
            let mut random = SplitMix64::new(seed);
            let numbers: Vec<f64> = numbers
                .into_iter()
                .map(|(x, exponent, zero)| {
                    let number = (f64::from(x) + random.unit()) * 2f64.powi(exponent);
                    if zero { 0.0 } else { number }
                })
                .collect();
            let weights = Weights::resamples(seed, numbers.len(), 0..5);
            let single: Vec<CompactSum> = numbers.iter().map(|&x| [x].into_iter().collect()).collect();
            let several: Vec<CompactSum> =
                numbers.iter().map(|&x| [x, x * 0.7, 1e-30].into_iter().collect()).collect();
            let short: Vec<Term> = numbers.iter().map(|&x| Term::Number(x)).collect();
            let long: Vec<Term> = several.iter().map(|sum| Term::Exact(Cow::Owned(sum.clone()))).collect();
            for (terms, sources) in [(short, single), (long, several)] {
                let sums = sums(&terms, &weights).unwrap();
                for (sum, counts) in sums.iter().zip(weights.each()) {
                    prop_assert_eq!(sum.number().to_bits(), exact(&sources, counts).to_bits());
                }
            }
        }

        #[test]
        fn weighted_sums_of_whole_numbers_are_exact(
            numbers in prop::collection::vec(-(1i128 << 70)..1 << 70, 1..60), seed in any::<u64>(),
        ) {
            let terms: Vec<Term> = numbers.iter().map(|&x| Term::Whole(x)).collect();
            let weights = Weights::resamples(seed, numbers.len(), 0..5);
            for (sum, counts) in sums(&terms, &weights).unwrap().iter().zip(weights.each()) {
                let exact: i128 = numbers.iter().zip(counts).map(|(x, &n)| x * i128::from(n)).sum();
                prop_assert_eq!(sum.whole(), exact);
            }
        }
    }

    #[test]
    fn the_smallest_and_the_largest_numbers_have_sums() {
        for numbers in [[5e-324, -1.5e-323, 2e-310], [1e300, -7e299, 3e285]] {
            let terms = numbers.map(Term::Number);
            let weights = Weights::resamples(1, 3, 0..8);
            let sources = numbers.map(|x| [x].into_iter().collect());
            for (sum, counts) in sums(&terms, &weights).unwrap().iter().zip(weights.each()) {
                assert_eq!(sum.number().to_bits(), exact(&sources, counts).to_bits());
            }
        }
    }

    #[test]
    fn what_cannot_be_cut_is_left_to_the_rows() {
        let weights = Weights::resamples(0, 2, 0..1);
        for terms in [
            [Term::Number(1e300), Term::Number(1e-300)],
            [Term::Number(f64::INFINITY), Term::Number(0.0)],
            [Term::Whole(1), Term::Number(0.0)],
            [Term::Whole(i128::MAX), Term::Whole(1)],
        ] {
            assert_eq!(sums(&terms, &weights), None);
        }
        assert_eq!(sums(&[Term::Whole(0), Term::Whole(0)], &weights), Some(vec![Sum::Whole(0)]));
    }
}
