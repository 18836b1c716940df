//! Sums and means of quotients of which the first bits are known.
//!
//! The exact sum of many quotients has as many digits as all their denominators together. Its first
//! 101 bits nearly always settle how a mean is rounded; where they do not, nothing is said.

use num_bigint::{BigInt, BigUint, Sign};

use super::fixed_point::power_of_two;
use super::{Rational, rounded_quotient};

/// The bits of a significand: room for sums over 2^25 rows below those of an i128.
const BITS: u32 = 101;
/// The exponents of two between which a floor is certainly a normal float.
const NORMAL: std::ops::Range<i32> = -900..900;
/// The largest denominator that quotients are brought to.
const MOST_PARTS: u64 = 1 << 32;

/// A sum between `low` and `high` times `2^exponent / divisor`; the ends of an exact one are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The sum is not below.
    pub(crate) low: i128,
    /// The sum is not above.
    pub(crate) high: i128,
    /// What both ends are divided by.
    pub(crate) divisor: i128,
    /// Of two.
    pub(crate) exponent: i32,
}

/// A number close to `significand * 2^exponent`: not below, and less than one unit of the significand
/// above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Floor {
    /// At most 2^[`BITS`] in size.
    significand: i128,
    /// Of two.
    exponent: i32,
    /// Whether it is this very number.
    exact: bool,
}

/// Quotients as whole multiples of `2^exponent / divisor`, rounded down.
pub(crate) struct Aligned {
    pub(crate) floors: Vec<i128>,
    exponent: i32,
    divisor: u64,
    /// Whether nothing was lost.
    exact: bool,
}

impl Aligned {
    /// Over one small denominator where there is one, else over a power of two; `None` where more
    /// would have to be known of a number.
    pub(crate) fn new(values: &[Rational]) -> Option<Self> {
        Self::over_one_denominator(values).or_else(|| {
            let floors: Vec<Floor> = values.iter().map(Floor::of).collect();
            Self::to_known_bits(&floors)
        })
    }

    fn over_one_denominator(values: &[Rational]) -> Option<Self> {
        let small = |value: &Rational| {
            Some((i64::try_from(value.numerator()).ok()?, u64::try_from(value.denominator()).ok()?))
        };
        let values: Vec<(i64, u64)> = values.iter().map(small).collect::<Option<_>>()?;
        let mut divisor = 1u64;
        for &(numerator, denominator) in &values {
            // 0 is a multiple of anything.
            if numerator != 0 {
                let factor = denominator / common_divisor(divisor, denominator);
                divisor = divisor.checked_mul(factor).filter(|parts| *parts <= MOST_PARTS)?;
            }
        }
        let whole = |&(numerator, denominator): &(i64, u64)| match numerator {
            0 => 0,
            _ => i128::from(numerator) * i128::from(divisor / denominator),
        };
        Some(Self { floors: values.iter().map(whole).collect(), exponent: 0, divisor, exact: true })
    }

    fn to_known_bits(values: &[Floor]) -> Option<Self> {
        let end = |value: &Floor| {
            let bits = u128::BITS - value.significand.unsigned_abs().leading_zeros();
            (bits > 0).then_some(value.exponent + bits as i32)
        };
        let exponent = values.iter().filter_map(end).max().unwrap_or(0) - BITS as i32;
        let mut exact = true;
        let floor = |value: &Floor| {
            exact &= value.exact;
            if value.exponent >= exponent {
                // What is unknown of a number would grow with it.
                let known = value.exact || value.exponent == exponent;
                let shift = (value.exponent - exponent) as u32;
                let zero = value.significand == 0;
                return known.then(|| if zero { 0 } else { value.significand << shift });
            }
            let shift = (exponent - value.exponent).min(127) as u32;
            // An arithmetic shift rounds towards minus infinity: a floor for negative numbers too.
            let floor = value.significand >> shift;
            exact &= floor << shift == value.significand;
            Some(floor)
        };
        let floors = values.iter().map(floor).collect::<Option<_>>()?;
        Some(Self { floors, exponent, divisor: 1, exact })
    }

    /// The sum of all; `None` where it is too large to write down.
    pub(crate) fn total(&self) -> Option<Bounds> {
        let sum = self.floors.iter().try_fold(0i128, |sum, floor| sum.checked_add(*floor))?;
        Some(self.bounds(sum, self.floors.len() as i128))
    }

    /// The sum over so many rows, of which the floors add up to `floors`.
    pub(crate) fn bounds(&self, floors: i128, rows: i128) -> Bounds {
        let high = if self.exact { floors } else { floors + rows };
        Bounds { low: floors, high, divisor: self.divisor.into(), exponent: self.exponent }
    }
}

impl Floor {
    /// A quotient to [`BITS`] bits, rounded down.
    fn of(number: &Rational) -> Self {
        let (numerator, denominator) = (number.numerator(), number.denominator());
        if number.is_zero() {
            return Self { significand: 0, exponent: 0, exact: true };
        }
        let bits = i64::from(BITS);
        // Shifted by so much, the quotient has `BITS` bits or one more; then the last one is dropped.
        let mut shift = bits - (numerator.bits() as i64 - denominator.bits() as i64);
        let scale = |magnitude: &BigUint, by: i64| if by > 0 { magnitude << by } else { magnitude.clone() };
        let (above, below) = (scale(numerator.magnitude(), shift), scale(denominator, -shift));
        let (mut whole, rest) = (&above / &below, &above % &below);
        let mut exact = rest.bits() == 0;
        if whole.bits() > u64::from(BITS) {
            exact &= !whole.bit(0);
            whole >>= 1u32;
            shift -= 1;
        }
        let floor = match numerator.sign() {
            // Division cut the magnitude, which is a ceiling below 0: one less is the floor.
            Sign::Minus if exact => -BigInt::from(whole),
            Sign::Minus => -BigInt::from(whole) - 1,
            _ => BigInt::from(whole),
        };
        let significand = i128::try_from(floor).expect("the quotient has as many bits as it was shifted to");
        Self { significand, exponent: -shift as i32, exact }
    }
}

/// The mean of so many numbers from the bounds of their sum, rounded once; `None` where what is
/// unknown of the sum decides how.
pub(crate) fn mean(sum: Bounds, rows: i128) -> Option<f64> {
    let divisor = Some(sum.divisor * rows).filter(|divisor| *divisor > 0)?;
    let low = rounded_quotient(sum.low, divisor);
    let settled = sum.low == sum.high || low.to_bits() == rounded_quotient(sum.high, divisor).to_bits();
    (settled && NORMAL.contains(&sum.exponent)).then(|| low * power_of_two(sum.exponent))
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn floor(significand: i128, exponent: i32, exact: bool) -> Floor {
        Floor { significand, exponent, exact }
    }

    fn settled(aligned: &Aligned) -> Option<f64> {
        mean(aligned.total()?, aligned.floors.len() as i128)
    }

    #[test]
    fn numbers_of_any_size_become_multiples_of_one_unit() {
        let values = [floor(3, 0, true), floor(-5, -102, true), floor(0, 500, true)];
        let Aligned { floors, exponent, divisor, exact } = Aligned::to_known_bits(&values).unwrap();
        assert_eq!((exponent, divisor), (2 - BITS as i32, 1));
        assert_eq!(floors, [3i128 << 99, -1, 0]);
        assert!(!exact, "-5 is not a multiple of 8");
        assert!(Aligned::to_known_bits(&[floor(1, 0, false), floor(1, 3, true)]).is_none());
        assert!(Aligned::to_known_bits(&[floor(1, 0, true), floor(1, 3, true)]).unwrap().exact);
    }

    #[test]
    fn quotients_are_brought_to_their_least_common_denominator() {
        let values =
            [Rational::ratio(1, 6), Rational::ratio(-3, 4), Rational::whole(5), Rational::ratio(0, 7)];
        let Aligned { floors, exponent, divisor, exact } = Aligned::new(&values).unwrap();
        assert_eq!((floors, exponent, divisor, exact), (vec![2, -9, 60, 0], 0, 12, true));
        // Numbers that cancel: only their denominator tells that nothing is left.
        let cancelling = [Rational::ratio(1, 3), Rational::ratio(-1, 3)];
        assert_eq!(settled(&Aligned::new(&cancelling).unwrap()).map(f64::to_bits), Some(0));
        let floors = Aligned::to_known_bits(&cancelling.each_ref().map(Floor::of)).unwrap();
        assert_eq!((floors.floors.iter().sum::<i128>(), floors.exact), (-1, false));
        assert_eq!(settled(&floors), None);
        let long = [Rational::ratio(1, MOST_PARTS), Rational::ratio(1, 3)];
        assert!(Aligned::over_one_denominator(&long).is_none());
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
    }

    proptest! {
        #[test]
        fn a_quotient_lies_less_than_a_unit_above_its_floor(
            numerator in any::<i64>(), denominator in 1u64.., exponent in -300i32..300,
        ) {
            let number = Rational::ratio(numerator, denominator).times(&Rational::of(2f64.powi(exponent)));
            let Floor { significand, exponent, exact } = Floor::of(&number);
            let unit = Rational::of(2f64.powi(exponent));
            let low = unit.times(&Rational::new(BigInt::from(significand), BigUint::from(1u32)));
            prop_assert!(low <= number && number < low.plus(&unit));
            prop_assert_eq!(exact, low == number);
            prop_assert!(exact || significand.unsigned_abs() >= 1 << (BITS - 1));
            prop_assert!(significand.unsigned_abs() <= 1 << BITS);
        }

        #[test]
        fn a_settled_mean_is_the_exact_one(values in prop::collection::vec((any::<i64>(), 1u64..), 1..9)) {
            let values: Vec<Rational> = values.into_iter().map(|(n, d)| Rational::ratio(n, d)).collect();
            let exact = super::super::rational::mean(&values).nearest();
            if let Some(mean) = Aligned::new(&values).and_then(|aligned| settled(&aligned)) {
                prop_assert_eq!(mean.to_bits(), exact.to_bits());
            }
        }
    }
}
