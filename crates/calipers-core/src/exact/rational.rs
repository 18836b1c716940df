//! Quotients of whole numbers of any size, rounded once when they are read.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint, Sign};

/// The bits of a float and the exponent of its smallest step.
#[derive(Clone, Copy)]
struct Precision {
    bits: i64,
    smallest: i64,
}

const DOUBLE: Precision = Precision { bits: 53, smallest: -1074 };
const SINGLE: Precision = Precision { bits: 24, smallest: -149 };

/// A quotient, not reduced.
#[derive(Clone, Debug)]
pub struct Rational {
    numerator: BigInt,
    denominator: BigUint,
}

impl Rational {
    /// The quotient; the denominator is not 0.
    pub fn new(numerator: BigInt, denominator: BigUint) -> Self {
        debug_assert!(denominator.bits() > 0);
        Self { numerator, denominator }
    }

    /// The quotient of two counts; the denominator is not 0.
    pub fn ratio(numerator: impl Into<i128>, denominator: u64) -> Self {
        Self::new(BigInt::from(numerator.into()), BigUint::from(denominator))
    }

    /// A whole number.
    pub fn whole(number: impl Into<i128>) -> Self {
        Self::ratio(number, 1)
    }

    /// A finite float, exactly.
    pub fn of(float: f64) -> Self {
        let (significand, exponent) = parts(float);
        let significand = BigUint::from(significand);
        let (magnitude, denominator) = if exponent < 0 {
            (significand, BigUint::from(1u32) << -exponent)
        } else {
            (significand << exponent, BigUint::from(1u32))
        };
        let sign = if float < 0.0 { Sign::Minus } else { Sign::Plus };
        Self::new(BigInt::from_biguint(sign, magnitude), denominator)
    }

    /// The numerator, with the sign.
    pub fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    /// The denominator, above 0.
    pub fn denominator(&self) -> &BigUint {
        &self.denominator
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.numerator.sign() == Sign::NoSign
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Self {
        if self.denominator == other.denominator {
            return Self::new(&self.numerator + &other.numerator, self.denominator.clone());
        }
        let (ours, theirs) = (signed(&self.denominator), signed(&other.denominator));
        Self::new(&self.numerator * theirs + &other.numerator * ours, &self.denominator * &other.denominator)
    }

    /// The difference.
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&Self::new(-&other.numerator, other.denominator.clone()))
    }

    /// The product.
    pub fn times(&self, other: &Self) -> Self {
        Self::new(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }

    /// The quotient of two quotients; the other one is not 0.
    pub fn over(&self, other: &Self) -> Self {
        let numerator = &self.numerator * signed(&other.denominator);
        let sign = if other.numerator.sign() == Sign::Minus { -1 } else { 1 };
        Self::new(numerator * sign, &self.denominator * other.numerator.magnitude())
    }

    /// The nearest f64, ties to even; infinite beyond the largest.
    pub fn nearest(&self) -> f64 {
        self.round(DOUBLE)
    }

    /// The nearest f32, ties to even; infinite beyond the largest.
    pub fn nearest_single(&self) -> f32 {
        self.round(SINGLE) as f32
    }

    /// The square root of a quotient >= 0, within one unit in the last place.
    pub fn root(&self) -> f64 {
        // A power of 4 brings the quotient near 1: rounding it costs a quarter of a unit of the
        // root, rounding the root half a unit more.
        let size = self.numerator.bits() as i64 - self.denominator.bits() as i64;
        let quarters = size.div_euclid(2);
        let (numerator, denominator) = shifted(self.numerator.magnitude(), &self.denominator, -2 * quarters);
        let near_one = Self::new(numerator.into(), denominator).nearest();
        scale(near_one.sqrt(), quarters)
    }

    fn round(&self, precision: Precision) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        // Two bits more than are kept, and a sticky one for all below.
        let size = self.numerator.bits() as i64 - self.denominator.bits() as i64;
        let shift = precision.bits + 2 - size;
        let (numerator, denominator) = shifted(self.numerator.magnitude(), &self.denominator, shift);
        let (quotient, rest) = (&numerator / &denominator, &numerator % &denominator);
        let quotient = u64::try_from(quotient).expect("the shift leaves three bits more than a float has");
        let length = i64::from(64 - quotient.leading_zeros());
        let top = length - 1 - shift;
        let kept = (top - precision.smallest + 1).min(precision.bits);
        let magnitude = if kept < 0 {
            0.0
        } else {
            let dropped = length - kept;
            let (whole, below) = (quotient >> dropped, quotient & ((1 << dropped) - 1));
            let half = 1u64 << (dropped - 1);
            let up = match below.cmp(&half) {
                Ordering::Less => 0,
                Ordering::Greater => 1,
                Ordering::Equal => u64::from(rest.bits() > 0) | (whole & 1),
            };
            scale((whole + up) as f64, dropped - shift)
        };
        let magnitude = if precision.bits == SINGLE.bits && magnitude > f64::from(f32::MAX) {
            f64::INFINITY
        } else {
            magnitude
        };
        if self.numerator.sign() == Sign::Minus { -magnitude } else { magnitude }
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rational {}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * signed(&other.denominator)).cmp(&(&other.numerator * signed(&self.denominator)))
    }
}

/// The sum of quotients: those of one denominator first, then two by two, so that long numbers are
/// few.
pub fn sum(values: impl Iterator<Item = Rational>) -> Rational {
    let mut numerators: BTreeMap<BigUint, BigInt> = BTreeMap::new();
    for Rational { numerator, denominator } in values {
        *numerators.entry(denominator).or_default() += numerator;
    }
    let mut sums: Vec<Rational> = numerators
        .into_iter()
        .map(|(denominator, numerator)| Rational::new(numerator, denominator))
        .collect();
    while sums.len() > 1 {
        let two =
            |pair: &[Rational]| pair.get(1).map_or_else(|| pair[0].clone(), |other| pair[0].plus(other));
        sums = sums.chunks(2).map(two).collect();
    }
    sums.pop().unwrap_or_else(|| Rational::whole(0))
}

/// The mean of quotients; there is at least one.
pub fn mean(values: &[Rational]) -> Rational {
    sum(values.iter().cloned()).over(&Rational::whole(values.len() as i128))
}

/// The sum of the squared distances of quotients from their mean, divided by `degrees`.
pub fn spread(values: &[Rational], degrees: u64) -> Rational {
    let count = Rational::whole(values.len() as i128);
    let (total, squares) = (sum(values.iter().cloned()), sum(values.iter().map(|x| x.times(x))));
    squares.times(&count).minus(&total.times(&total)).over(&count.times(&Rational::whole(degrees)))
}

fn signed(magnitude: &BigUint) -> BigInt {
    BigInt::from(magnitude.clone())
}

/// Both sides of a quotient after it was multiplied by a power of 2.
fn shifted(numerator: &BigUint, denominator: &BigUint, shift: i64) -> (BigUint, BigUint) {
    if shift >= 0 {
        (numerator << shift, denominator.clone())
    } else {
        (numerator.clone(), denominator << -shift)
    }
}

/// Significand and exponent of a finite float; its sign is dropped.
pub fn parts(float: f64) -> (u64, i64) {
    let bits = float.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64;
    let normal = u64::from(exponent != 0);
    (bits & ((1 << 52) - 1) | normal << 52, exponent - normal as i64 - 1074)
}

/// `number * 2^exponent` for a result that needs no rounding, or is too large.
fn scale(number: f64, exponent: i64) -> f64 {
    let power = |exponent: i64| f64::from_bits(((exponent.clamp(-1022, 1023) + 1023) as u64) << 52);
    let half = exponent / 2;
    number * power(half) * power(exponent - half)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finite() -> impl Strategy<Value = f64> {
        any::<f64>().prop_filter("finite", |x| x.is_finite())
    }

    proptest! {
        #[test]
        fn a_float_comes_back_as_itself(x in finite()) {
            prop_assert_eq!(Rational::of(x).nearest().to_bits(), (x + 0.0).to_bits());
            let single = x as f32;
            if single.is_finite() {
                prop_assert_eq!(Rational::of(single.into()).nearest_single().to_bits(), (single + 0.0).to_bits());
            }
            prop_assert_eq!(Rational::of(x).nearest_single().abs().to_bits(), single.abs().to_bits());
        }

        #[test]
        fn one_operation_rounds_as_the_processor_does(x in finite(), y in finite()) {
            let (a, b) = (Rational::of(x), Rational::of(y));
            prop_assert_eq!(a.plus(&b).nearest().to_bits(), (x + y + 0.0).to_bits());
            prop_assert_eq!(a.minus(&b).nearest().to_bits(), (x - y + 0.0).to_bits());
            prop_assert_eq!(a.times(&b).nearest().abs().to_bits(), (x * y).abs().to_bits());
            if y.abs() > 0.0 {
                prop_assert_eq!(a.over(&b).nearest().abs().to_bits(), (x / y).abs().to_bits());
            }
            prop_assert_eq!(a.cmp(&b), x.partial_cmp(&y).unwrap());
        }

        #[test]
        fn a_root_squares_back(x in 0.0..1e300f64) {
            let (root, direct) = (Rational::of(x).root(), x.sqrt());
            prop_assert!(root.to_bits().abs_diff(direct.to_bits()) <= 1, "{root} {direct}");
            let wide = Rational::of(x).times(&Rational::of(x));
            prop_assert!(wide.root().to_bits().abs_diff(x.to_bits()) <= 1);
        }

        #[test]
        fn mean_and_spread_are_those_of_the_definition(values in prop::collection::vec((-99i32..99, 1u64..9), 1..7)) {
            let values: Vec<Rational> = values.into_iter().map(|(n, d)| Rational::ratio(n, d)).collect();
            let slow = |terms: &[Rational]| terms.iter().fold(Rational::whole(0), |sum, term| sum.plus(term));
            let centre = slow(&values).over(&Rational::whole(values.len() as u64));
            prop_assert_eq!(&mean(&values), &centre);
            let squares: Vec<Rational> =
                values.iter().map(|value| value.minus(&centre)).map(|d| d.times(&d)).collect();
            prop_assert_eq!(spread(&values, 3), slow(&squares).over(&Rational::whole(3)));
        }
    }

    #[test]
    fn ties_go_to_even_and_the_smallest_steps_are_rounded_once() {
        let third = Rational::ratio(1, 3);
        assert_eq!(third.nearest().to_bits(), (1.0 / 3.0f64).to_bits());
        let tiny = Rational::of(f64::from_bits(1));
        let half = Rational::ratio(1, 2);
        assert_eq!(tiny.times(&half).nearest().to_bits(), 0, "half of the smallest step is a tie");
        let more = Rational::ratio(501, 1000);
        assert_eq!(tiny.times(&more).nearest().to_bits(), 1);
        let three_halves = Rational::ratio(3, 2);
        assert_eq!(tiny.times(&three_halves).nearest().to_bits(), 2);
        assert_eq!(tiny.times(&tiny).nearest().to_bits(), 0);
        assert!(Rational::of(f64::MAX).times(&three_halves).nearest().is_infinite());
        assert!(Rational::of(f32::MAX.into()).times(&three_halves).nearest_single().is_infinite());
    }
}
