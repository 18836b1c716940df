//! The first evaluation of every function, to about 67 bits, with a bound on its error.

use super::approx::Dyadic;
use super::tables::{LN_2, LN_2_BY_256, LOGARITHMS, POWERS, RECIPROCALS, STEPS_PER_UNIT};

/// 1 in units of 2^-126.
pub(super) const ONE: u128 = 1 << 126;

/// The error of [`Power::value`] in units of 2^-126.
pub(super) const EXP_ERROR: u64 = 1 << 57;

/// The error of [`ln`] in units of 2^-112.
pub(super) const LN_ERROR: u64 = 1 << 37;

/// The error of [`shrink`] with the deficits below, in units of 2^-126.
pub(super) const SMALL_ERROR: u64 = 1 << 60;

/// A power of e: `value * 2^(exponent - 126)`, the value between 0.99 and 2.01 times 2^126.
pub(super) struct Power {
    pub(super) value: u128,
    pub(super) exponent: i32,
}

impl Power {
    /// A power of e that is at most 1, in units of 2^-126.
    #[inline]
    pub(super) fn fraction(&self) -> u128 {
        match self.exponent.unsigned_abs() {
            shift @ 0..64 => self.value >> shift,
            shift => self.value.checked_shr(shift).unwrap_or(0),
        }
    }

    /// The error of the fraction.
    #[inline]
    pub(super) fn error(&self) -> u64 {
        (EXP_ERROR >> self.exponent.unsigned_abs().min(63)) + 1
    }
}

/// A number below 1024 in magnitude in units of 2^-112, rounded towards 0.
#[inline]
pub(super) fn fixed(x: f64) -> i128 {
    let Dyadic { significand, exponent } = Dyadic::of(x);
    let magnitude = ((u128::from(significand) << 70) >> (-42 - exponent).clamp(0, 127)) as i128;
    // Without a branch: signs are hard to predict.
    let sign = i128::from(x.to_bits() as i64 >> 63);
    (magnitude ^ sign) - sign
}

/// A positive number as a value in [1, 2) in units of 2^-126 and an exponent.
#[inline]
pub(super) fn normalised(x: f64) -> (u128, i32) {
    let Dyadic { significand, exponent } = Dyadic::of(x);
    let zeros = significand.leading_zeros();
    (u128::from(significand) << (zeros + 63), exponent + 63 - zeros as i32)
}

/// `a * b / 2^64`, rounded down.
#[inline]
const fn high_product(a: i64, b: i64) -> i64 {
    ((a as i128 * b as i128) >> 64) as i64
}

/// `(numerator / denominator) * 2^-scale` in units of 2^-63: a coefficient of a series.
const fn ratio(numerator: i64, denominator: i64, scale: u32) -> i64 {
    ((((numerator as i128) << 63) / denominator as i128) >> scale) as i64
}

/// The polynomial with these coefficients, lowest first, in units of 2^-63; x in units of 2^-64.
/// Pairs and pairs of pairs are independent of each other, which is faster than one after another.
#[inline]
fn polynomial([a, b, c, d, e, f, g, h]: [i64; 8], x: i64) -> i64 {
    let square = high_product(x, x);
    let pair = |low, high| low + high_product(high, x);
    let low = pair(a, b) + high_product(pair(c, d), square);
    let high = pair(e, f) + high_product(pair(g, h), square);
    low + high_product(high, high_product(square, square))
}

/// `a * b / 2^128`, low by at most 3 units.
pub(super) const fn multiply(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    // By halves; the product of the two low halves is less than a unit and left out.
    let (a1, a0) = (a >> 64, a & LOW);
    let (b1, b0) = (b >> 64, b & LOW);
    a1 * b1 + ((a1 * b0) >> 64) + ((a0 * b1) >> 64)
}

/// 1/d for d in [1, 2] in units of 2^-126, within 2^-100.
pub(super) fn reciprocal(d: u128) -> u128 {
    let (high, low) = ((d >> 64) as u64, d as u64);
    // Good to 2^-50; one step of Newton's iteration squares that.
    const NUMERATOR: f64 = (1u128 << 123) as f64;
    let guess = (NUMERATOR / (high >> 1) as i64 as f64) as i64 as u64;
    let product = u128::from(high) * u128::from(guess) + ((u128::from(low) * u128::from(guess)) >> 64);
    let miss = (1i128 << 124) - product as i128;
    let correction = (i128::from(guess) * (miss >> 12)) >> 48;
    ((i128::from(guess) << 64) + correction) as u128
}

/// e^x for x in units of 2^-112: x = (256 n + i) ln 2/256 + r, so e^x = 2^n 2^(i/256) e^r with
/// |r| < 2^-9.5, and e^r from six terms of its series.
///
/// Errors in units of 2^-72: 1 for cutting r, 1.1 for the series, both doubled by 2^(i/256) < 2;
/// 1.5 for cutting 2^(i/256). Together below 8, which is 2^57 units of the result.
#[inline]
pub(super) fn exp(x: i128) -> Power {
    // x 256/ln 2 to the nearest whole number. The low half of x would move it by less than 2^-39.
    let steps = ((i128::from((x >> 64) as i64) * i128::from(STEPS_PER_UNIT) + (1 << 101)) >> 102) as i64;
    let r = ((x - i128::from(steps) * LN_2_BY_256) >> 40) as i64;
    // In units of 2^-64, r is 2^8 r: the coefficients make up for it.
    const SERIES: [i64; 8] =
        [ratio(1, 2, 0), ratio(1, 6, 8), ratio(1, 24, 16), ratio(1, 120, 24), ratio(1, 720, 32), 0, 0, 0];
    let square = high_product(r, r);
    // e^r - 1 = r + r^2 (1/2 + r/6 + ...): only the small part needs the series.
    let grown = r + (high_product(square, polynomial(SERIES, r)) >> 7);
    let power = POWERS[(steps & 255) as usize];
    let value = power as i128 + ((i128::from((power >> 64) as i64) * i128::from(grown)) >> 8);
    Power { value: value as u128, exponent: (steps >> 8) as i32 }
}

/// ln(value 2^exponent), value in [1, 2) in units of 2^-116, the result in units of 2^-112. With
/// a tabulated c near 1/value: ln(1 + f) - ln c + exponent ln 2, where f = c value - 1 is below
/// 2^-8 in magnitude.
///
/// The error is below 2^-76, nearly all of it from ln(1 + f).
#[inline]
pub(super) fn ln(value: u128, exponent: i32) -> i128 {
    // The 8 bits behind the leading 1 choose the tabulated c.
    let i = ((value >> 108) & 255) as usize;
    let f = (value * u128::from(RECIPROCALS[i])) as i128 - ONE as i128;
    let short = (f >> 56) as i64;
    let product = (i128::from(short) * i128::from(log1p_deficit(short))) >> 29;
    LOGARITHMS[i] + i128::from(exponent) * LN_2 + (f >> 14) - product
}

/// 1 - ln(1 + f)/f in units of 2^-71, for |f| < 2^-8 in units of 2^-70; within 2^-68.
#[inline]
pub(super) fn log1p_deficit(f: i64) -> i64 {
    // In units of 2^-64, f is 2^6 f.
    const SERIES: [i64; 8] = [
        ratio(1, 2, 0),
        ratio(-1, 3, 6),
        ratio(1, 4, 12),
        ratio(-1, 5, 18),
        ratio(1, 6, 24),
        ratio(-1, 7, 30),
        ratio(1, 8, 36),
        ratio(-1, 9, 42),
    ];
    ((i128::from(polynomial(SERIES, f)) * i128::from(f)) >> 62) as i64
}

/// 1 - tanh(x)/x in units of 2^-71, for x below 1/32; within 2^-69.
pub(super) fn tanh_deficit(x: f64) -> i64 {
    // In units of 2^-64, x^2 is 2^8 x^2.
    const SERIES: [i64; 8] = [
        ratio(1, 3, 0),
        ratio(-2, 15, 8),
        ratio(17, 315, 16),
        ratio(-62, 2835, 24),
        ratio(1382, 155_925, 32),
        ratio(-21844, 6_081_075, 40),
        0,
        0,
    ];
    let short = (fixed(x) >> 44) as i64;
    let square = high_product(short, short);
    high_product(polynomial(SERIES, square), square)
}

/// `value * (1 - deficit)` for a value below 2.01 in units of 2^-126 and a deficit below 2^-8 in
/// units of 2^-71.
pub(super) fn shrink(value: u128, deficit: i64) -> u128 {
    // A negative deficit may carry the result past the largest i128, but never past u128.
    let product = (i128::from((value >> 64) as i64) * i128::from(deficit)) >> 7;
    value.wrapping_sub(product as u128)
}

/// 1 + x as a value in [1, 2) in units of 2^-116 and an exponent, rounded down by less than
/// 2^-115 of it; |x| is at least 2^-8 and x above -1.
pub(super) fn one_plus(x: f64) -> (u128, i32) {
    let (value, exponent) = normalised(x.abs());
    if exponent >= 126 {
        return (value >> 10, exponent);
    }
    // Both addends in units of 2^-126 times 2^scale, with a bit to spare for the carry.
    let scale = exponent.max(0);
    let (one, other) = (ONE >> scale, value >> (scale - exponent));
    let sum = if x < 0.0 { one - other } else { one + other };
    let zeros = sum.leading_zeros();
    (sum << zeros >> 11, scale + 1 - zeros as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::SplitMix64;

    const TRIALS: u32 = 20_000;

    #[test]
    fn powers_multiply_within_their_error() {
        let mut random = SplitMix64::new(1);
        let mut argument = || (i128::from(random.next_u64() as i64) << 57) + i128::from(random.next_u64());
        for _ in 0..TRIALS {
            let (a, b) = (argument(), argument());
            let (first, second, both) = (exp(a), exp(b), exp(a + b));
            let product = multiply(first.value, second.value);
            let direct = (both.value >> 2) << (both.exponent - first.exponent - second.exponent);
            assert!(product.abs_diff(direct) <= 2 * u128::from(EXP_ERROR), "{a} {b}");
        }
    }

    #[test]
    fn logarithms_of_products_add_within_their_error() {
        let mut random = SplitMix64::new(2);
        let mut factor = || (1 << 58) + u128::from(random.next_u64() >> 6);
        for _ in 0..TRIALS {
            let (a, b) = (factor(), factor());
            let carry = i32::from(a * b >= 1 << 117);
            let sum = ln(a << 58, 0) + ln(b << 58, 0);
            assert!(sum.abs_diff(ln((a * b) >> carry, carry)) <= 2 * u128::from(LN_ERROR), "{a} {b}");
        }
    }

    #[test]
    fn logarithms_near_one_add_within_their_error() {
        let mut random = SplitMix64::new(3);
        // Small enough for a + b + ab to be exact.
        let mut small = || f64::from((1 << 20) + random.below(1 << 20) as u32) / (1u32 << 30) as f64;
        let log1p = |x: f64| shrink(normalised(x).0, log1p_deficit((fixed(x) >> 42) as i64));
        for _ in 0..TRIALS {
            let (a, b) = (small(), small());
            let sum = log1p(a) + log1p(b);
            assert!(sum.abs_diff(2 * log1p(a + b + a * b)) <= 2 * u128::from(SMALL_ERROR), "{a} {b}");
        }
    }

    #[test]
    fn small_tangents_obey_the_law_of_doubling() {
        let mut random = SplitMix64::new(4);
        for _ in 0..TRIALS {
            // tanh 2x (1 + tanh^2 x) = 2 tanh x
            let x = (1.0 + random.unit()) / 128.0;
            let tanh = |x: f64| shrink(normalised(x).0, tanh_deficit(x));
            let (once, twice) = (tanh(x), tanh(2.0 * x));
            let square = multiply(once, once) >> (2 * 7 - 2);
            let product = twice + (multiply(twice, square) << 2);
            assert!(product.abs_diff(once) <= 2 * u128::from(SMALL_ERROR), "{x}");
        }
    }

    #[test]
    fn a_number_times_its_reciprocal_is_one() {
        let mut random = SplitMix64::new(5);
        for _ in 0..TRIALS {
            let d = ONE + (u128::from(random.next_u64()) << 62) + u128::from(random.next_u64() >> 3);
            assert!((ONE >> 2).abs_diff(multiply(d, reciprocal(d))) < 1 << 26, "{d}");
        }
    }
}
