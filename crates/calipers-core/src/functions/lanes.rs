//! Exponential and logarithm for long loops: right to fifty bits instead of fifty-three, made of
//! additions, multiplications and one division, so that loops over them become vector code and
//! every machine gives the same bits.

/// 1.5 * 2^52: adding it rounds to a whole number, which then stands in the low bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// The first 32 bits of ln 2, so that products with whole exponents are exact, and the rest.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// e^x for x up to 700, relative error below 2^-50; 0 below -708 and for -inf.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (r, power) = exp_parts(x);
    let [sum] = exp_sums([r]);
    sum * power
}

/// What e^x is made of, which is the product of [`exp_sums`] of the first and of the second.
///
/// With x = n ln 2 + r and |r| <= 0.3466 these are r and 2^n, or 0 where e^x is.
#[inline(always)]
pub fn exp_parts(x: f64) -> (f64, f64) {
    // Below -708 the power of two would leave the normal floats; a selection keeps the loop free of branches.
    let bounded = if x > -708.0 { x } else { -708.0 };
    let shifted = bounded * std::f64::consts::LOG2_E + ROUNDING;
    let n = shifted - ROUNDING;
    // Cody and Waite: n times the first 32 bits of ln 2 is exact, so that nothing cancels.
    let r = (bounded - n * LN_2_HIGH) - n * LN_2_LOW;
    // n stands in the low bits of the shifted number: moved up, it is the exponent of 2^n.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    (r, if x > -708.0 { power } else { 0.0 })
}

/// e^r for |r| <= 0.3466, where the Taylor polynomial of degree 13 leaves 4e-18.
///
/// Every step of it waits for the one before: others are at work meanwhile, if there are several r.
#[inline(always)]
pub fn exp_sums<const N: usize>(r: [f64; N]) -> [f64; N] {
    let mut sums = [FACTORIAL_RECIPROCALS[13]; N];
    // Written out, for a loop around loops would keep the sums in memory.
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[12]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[11]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[10]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[9]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[8]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[7]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[6]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[5]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[4]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[3]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[2]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[1]);
    step(&mut sums, &r, FACTORIAL_RECIPROCALS[0]);
    sums
}

/// One step of Horner's rule.
#[inline(always)]
fn step<const N: usize>(sums: &mut [f64; N], r: &[f64; N], coefficient: f64) {
    for i in 0..N {
        sums[i] = sums[i] * r[i] + coefficient;
    }
}

/// ln x of a number that is not negative, relative error below 2^-50; -inf for 0.
///
/// With x = 2^n m, m between sqrt(1/2) and sqrt(2), and f = (m - 1)/(m + 1), ln m = 2 artanh f;
/// eleven terms leave 7e-19 of it.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let small = x < f64::MIN_POSITIVE;
    let normal = if small { x * TWO_TO_54 } else { x };
    // Bits of floats grow like their logarithms: counted from sqrt(1/2), the exponent field is n.
    let offset = normal.to_bits().wrapping_sub(ROOT_HALF_BITS).wrapping_add(1 << 62);
    let biased = offset >> 52;
    let m = f64::from_bits(normal.to_bits().wrapping_sub(biased << 52).wrapping_add(1 << 62));
    let n = f64::from_bits(ROUNDING.to_bits().wrapping_add(biased)) - (ROUNDING + 1024.0);
    let n = if small { n - 54.0 } else { n };
    let f = (m - 1.0) / (m + 1.0);
    let square = f * f;
    let mut sum = 1.0 / 21.0;
    for k in (0..10).rev() {
        sum = sum * square + ODD_RECIPROCALS[k];
    }
    // From the small parts to the large one.
    let result = n * LN_2_HIGH + (n * LN_2_LOW + 2.0 * f * sum);
    if x > 0.0 { result } else { f64::NEG_INFINITY }
}

/// ln(1 + x) for x in [0, 1], relative error below 2^-49: the digits that 1 + x loses are put back.
#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    let whole = 1.0 + x;
    ln(whole) + (x - (whole - 1.0)) / whole
}

const TWO_TO_54: f64 = 18_014_398_509_481_984.0;
const ROOT_HALF_BITS: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();

const FACTORIAL_RECIPROCALS: [f64; 14] = {
    let mut all = [1.0; 14];
    let mut factorial = 1.0;
    let mut k = 1;
    while k < all.len() {
        factorial *= k as f64;
        all[k] = 1.0 / factorial;
        k += 1;
    }
    all
};

const ODD_RECIPROCALS: [f64; 10] = {
    let mut all = [1.0; 10];
    let mut k = 0;
    while k < all.len() {
        all[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::functions;

    fn close(ours: f64, exact: f64) -> bool {
        (ours - exact).abs() <= exact.abs() * f64::EPSILON * 4.0
    }

    proptest! {
        #[test]
        fn the_exponential_is_right_to_fifty_bits(x in -707.9f64..700.0) {
            prop_assert!(close(exp(x), functions::exp(x)), "{x}");
        }

        #[test]
        fn the_logarithm_is_right_to_fifty_bits(x in any::<f64>().prop_map(f64::abs)) {
            prop_assume!(x.is_finite() && x > 0.0);
            prop_assert!(close(ln(x), functions::ln(x)), "{x}");
        }

        #[test]
        fn the_logarithm_is_right_near_one(x in 0.5f64..2.0) {
            prop_assert!(close(ln(x), functions::ln(x)), "{x}");
        }

        #[test]
        fn small_additions_to_one_keep_their_digits(z in 0.0f64..745.0) {
            let x = functions::exp(-z);
            prop_assert!(close(log1p(x), functions::log1p(x)), "{x}");
        }
    }

    #[test]
    fn the_ends_are_exact() {
        assert_eq!(exp(0.0).to_bits(), 1f64.to_bits());
        assert_eq!(exp(f64::NEG_INFINITY).to_bits(), 0);
        assert_eq!(exp(-1e300).to_bits(), 0);
        assert_eq!(ln(1.0).to_bits(), 0);
        assert_eq!(ln(0.0).to_bits(), f64::NEG_INFINITY.to_bits());
        assert_eq!((log1p(0.0).to_bits(), log1p(1e-300).to_bits()), (0, 1e-300f64.to_bits()));
        assert!(close(ln(5e-324), functions::ln(5e-324)));
    }
}
