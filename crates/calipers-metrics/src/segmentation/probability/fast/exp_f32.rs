//! Power and logarithm in f32 from additions, multiplications and one division: vector code gives
//! the same bits as scalar code.

/// 1.5 * 2^23: adding it rounds to a whole number, which then stands in the low bits.
pub(super) const ROUNDING: f32 = 12_582_912.0;

/// The least exponent that [`exp2`] takes.
pub(super) const LEAST: f32 = -125.0;

/// 2^t for t from [`LEAST`] to 0, relative error below 3 * 2^-24; 2^0 is 1 exactly.
///
/// The coefficients of 2^f for |f| <= 1/2 are those of the polynomial of degree 6 with the
/// smallest largest error, rounded to f32: they are off by 1.6e-8.
#[inline(always)]
pub(super) fn exp2(t: f32) -> f32 {
    let shifted = t + ROUNDING;
    let f = t - (shifted - ROUNDING);
    // Pairs first: a shorter chain of operations that wait for one another.
    let [c0, c1, c2, c3, c4, c5, c6] = COEFFICIENTS;
    let (square, fourth) = (f * f, f * f * (f * f));
    let low = (c0 + c1 * f) + (c2 + c3 * f) * square;
    let sum = low + ((c4 + c5 * f) + c6 * square) * fourth;
    f32::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 23))
}

const COEFFICIENTS: [f32; 7] = [
    1.0,
    f32::from_bits(0x3f31_7218),
    f32::from_bits(0x3e75_fded),
    f32::from_bits(0x3d63_576a),
    f32::from_bits(0x3c1d_96de),
    f32::from_bits(0x3aaf_a2b5),
    f32::from_bits(0x3920_e99a),
];

/// ln(1 + r) for r from 2^-125 to 2^20, relative error below 4 * 2^-24; ln(1 + 0) is 0 exactly.
///
/// With 1 + r = 2^n m and f = (m - 1)/(m + 1), ln m = 2 artanh f, of which five terms are taken.
#[inline(always)]
pub(super) fn ln_1p(r: f32) -> f32 {
    let whole = 1.0 + r;
    let offset = whole.to_bits().wrapping_sub(ROOT_HALF_BITS);
    let m = f32::from_bits((offset & 0x007f_ffff).wrapping_add(ROOT_HALF_BITS));
    let n = f32::from_bits(ROUNDING.to_bits().wrapping_add(offset >> 23)) - ROUNDING;
    // Where 1 + r has lost digits of r, r itself is m - 1.
    let above = if n > 0.0 { m - 1.0 } else { r };
    let f = above / (above + 2.0);
    let square = f * f;
    let sum = (((square / 9.0 + 1.0 / 7.0) * square + 0.2) * square + 1.0 / 3.0) * square;
    n * std::f32::consts::LN_2 + 2.0 * (f + f * sum)
}

const ROOT_HALF_BITS: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: f64 = 1.0 / (1 << 24) as f64;

    #[test]
    fn powers_are_right_to_three_units() {
        for bits in (0..=LEAST.to_bits() - 0x8000_0000).step_by(5_003) {
            let t = f32::from_bits(bits | 0x8000_0000);
            let exact = f64::from(t).exp2();
            assert!((f64::from(exp2(t)) / exact - 1.0).abs() < 3.0 * UNIT, "{t}");
        }
        assert_eq!(exp2(0.0).to_bits(), 1f32.to_bits());
    }

    #[test]
    fn logarithms_are_right_to_four_units() {
        for bits in (exp2(LEAST).to_bits()..1_048_576f32.to_bits()).step_by(5_003) {
            let r = f32::from_bits(bits);
            let exact = f64::from(r).ln_1p();
            assert!((f64::from(ln_1p(r)) / exact - 1.0).abs() < 4.0 * UNIT, "{r}");
        }
        assert_eq!(ln_1p(0.0).to_bits(), 0);
    }
}
