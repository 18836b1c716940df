//! Sums and means of numbers of which the first bits are known.

use super::column::Column;
use crate::exact_sum::fixed_point::power_of_two;
use crate::pooling::{Bounds, Scaled, Term};
use crate::value::rounded_quotient;

/// The exponents of two between which a scaled number is certainly a normal float.
const NORMAL: std::ops::Range<i32> = -900..900;
/// The largest denominator that quotients are brought to.
const MOST_PARTS: u64 = 1 << 32;

/// Numbers as whole multiples of `2^exponent / divisor`, rounded down.
pub(super) struct Aligned {
    floors: Vec<i128>,
    exponent: i32,
    divisor: u64,
    /// Whether nothing was lost.
    exact: bool,
}

impl Aligned {
    /// Over one small denominator where there is one, else over a power of two; `None` where more
    /// would have to be known of a number.
    pub(super) fn new(values: &[Scaled]) -> Option<Self> {
        Self::over_one_denominator(values).or_else(|| Self::to_known_bits(values))
    }

    fn over_one_denominator(values: &[Scaled]) -> Option<Self> {
        let mut divisor = 1u64;
        for value in values {
            let (_, denominator) = value.quotient.filter(|(_, denominator)| *denominator > 0)?;
            let factor = denominator / common_divisor(divisor, denominator);
            divisor = divisor.checked_mul(factor).filter(|parts| *parts <= MOST_PARTS)?;
        }
        let whole =
            |(numerator, denominator): (i64, u64)| i128::from(numerator) * i128::from(divisor / denominator);
        let floors = values.iter().map(|value| value.quotient.map(whole)).collect::<Option<_>>()?;
        Some(Self { floors, exponent: 0, divisor, exact: true })
    }

    fn to_known_bits(values: &[Scaled]) -> Option<Self> {
        let end = |value: &Scaled| {
            let bits = u128::BITS - value.significand.unsigned_abs().leading_zeros();
            (bits > 0).then_some(value.exponent + bits as i32)
        };
        let exponent = values.iter().filter_map(end).max().unwrap_or(0) - Scaled::BITS as i32;
        let mut exact = true;
        let floor = |value: &Scaled| {
            exact &= value.exact;
            if value.exponent >= exponent {
                // What is unknown of a number would grow with it.
                let known = value.exact || value.exponent == exponent;
                let shift = (value.exponent - exponent) as u32;
                let zero = value.significand == 0;
                return known.then(|| if zero { 0 } else { value.significand << shift });
            }
            let shift = (exponent - value.exponent).min(127) as u32;
            let floor = value.significand >> shift;
            exact &= floor << shift == value.significand;
            Some(floor)
        };
        let floors = values.iter().map(floor).collect::<Option<_>>()?;
        Some(Self { floors, exponent, divisor: 1, exact })
    }

    /// The sum, where what it comes to in units is `floors` over so many rows.
    fn bounds(&self, floors: i128, rows: i128) -> Bounds {
        let high = if self.exact { floors } else { floors + rows };
        Bounds { low: floors, high, divisor: self.divisor.into(), exponent: self.exponent }
    }
}

/// The mean of numbers, rounded once; `None` without one, and where what is unknown of them decides
/// how it is rounded.
pub fn rounded_mean(values: &[Scaled]) -> Option<f64> {
    let aligned = Aligned::new(values)?;
    let rows = values.len() as i128;
    let sum = aligned.floors.iter().try_fold(0i128, |sum, floor| sum.checked_add(*floor))?;
    mean(aligned.bounds(sum, rows), rows)
}

/// The mean of so many numbers from the bounds of their sum.
fn mean(sum: Bounds, rows: i128) -> Option<f64> {
    let divisor = Some(sum.divisor * rows).filter(|divisor| *divisor > 0)?;
    let low = rounded_quotient(sum.low, divisor);
    let settled = sum.low == sum.high || low.to_bits() == rounded_quotient(sum.high, divisor).to_bits();
    (settled && NORMAL.contains(&sum.exponent)).then(|| low * power_of_two(sum.exponent))
}

/// A column of such numbers.
pub(super) struct KnownColumn {
    column: Column,
    /// Without its numbers.
    aligned: Aligned,
}

impl KnownColumn {
    /// Cuts the numbers with `column`.
    pub(super) fn new(aligned: Aligned, column: impl FnOnce(&[Term]) -> Option<Column>) -> Option<Self> {
        let terms: Vec<Term> = aligned.floors.iter().map(|&floor| Term::Whole(floor)).collect();
        Some(Self { column: column(&terms)?, aligned: Aligned { floors: Vec::new(), ..aligned } })
    }

    /// The sum over so many rows, from the sums of all pieces.
    pub(super) fn bounds(&self, pieces: &[f64], rows: i128) -> Bounds {
        self.aligned.bounds(self.column.sum(pieces).whole(), rows)
    }

    /// The mean, where it is known.
    pub(super) fn mean(&self, pieces: &[f64], rows: i128) -> Option<f64> {
        mean(self.bounds(pieces, rows), rows)
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(significand: i128, exponent: i32, exact: bool) -> Scaled {
        Scaled { significand, exponent, exact, quotient: None }
    }

    #[test]
    fn numbers_of_any_size_become_multiples_of_one_unit() {
        let values = [scaled(3, 0, true), scaled(-5, -102, true), scaled(0, 500, true)];
        let Aligned { floors, exponent, divisor, exact } = Aligned::new(&values).unwrap();
        assert_eq!((exponent, divisor), (2 - Scaled::BITS as i32, 1));
        assert_eq!(floors, [3i128 << 99, -1, 0]);
        assert!(!exact, "-5 is not a multiple of 8");
        assert!(Aligned::new(&[scaled(1, 0, false), scaled(1, 3, true)]).is_none());
        assert!(Aligned::new(&[scaled(1, 0, true), scaled(1, 3, true)]).unwrap().exact);
    }

    #[test]
    fn quotients_are_brought_to_their_least_common_denominator() {
        let quotient = |numerator, denominator| {
            let floor = (i128::from(numerator) << 102).div_euclid(i128::from(denominator));
            Scaled { quotient: Some((numerator, denominator)), ..scaled(floor, -102, false) }
        };
        let Aligned { floors, exponent, divisor, exact } =
            Aligned::new(&[quotient(1, 6), quotient(-3, 4), quotient(5, 1)]).unwrap();
        assert_eq!((floors, exponent, divisor, exact), (vec![2, -9, 60], 0, 12, true));
        // Numbers that cancel: only their denominator tells that nothing is left.
        let cancelling = [quotient(1, 3), quotient(-1, 3)];
        assert_eq!(rounded_mean(&cancelling).map(f64::to_bits), Some(0));
        let floors = Aligned::new(&cancelling.map(|value| Scaled { quotient: None, ..value })).unwrap();
        assert_eq!((floors.floors.iter().sum::<i128>(), floors.exact), (-1, false));
        assert_eq!(mean(floors.bounds(-1, 2), 2), None);
        assert!(Aligned::over_one_denominator(&[quotient(1, MOST_PARTS), quotient(1, 3)]).is_none());
    }

    #[test]
    fn a_mean_is_given_only_where_what_is_unknown_cannot_change_it() {
        let from = |floors: i128, rows: i128, exponent, exact| {
            let high = if exact { floors } else { floors + rows };
            mean(Bounds { low: floors, high, divisor: 1, exponent }, rows)
        };
        let third = (1i128 << 100) / 3;
        assert_eq!(from(third, 1, -100, false), Some(1.0 / 3.0));
        assert_eq!(from(3 << 99, 3, -100, true), Some(0.5));
        // Half-way between two floats: the least that comes on top decides.
        let tie = (1i128 << 54) + 2;
        assert_eq!(from(tie, 1, -1, true), Some((1i128 << 53) as f64));
        assert_eq!(from(tie, 1, -1, false), None);
        assert_eq!(from(0, 5, -100, false), None);
        assert_eq!(from(1, 1, -1000, true), None);
        assert_eq!(rounded_mean(&[]), None);
    }
}
