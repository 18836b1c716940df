//! Constants and tables, worked out by the compiler in whole numbers.

/// ln 2 in units of 2^-112.
pub(super) const LN_2: i128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f3;

/// ln 2 / 256 in units of 2^-112.
pub(super) const LN_2_BY_256: i128 = 0xb1_7217_f7d1_cf79_abc9_e3b3_9804;

/// 256 / ln 2 in units of 2^-54.
pub(super) const STEPS_PER_UNIT: i64 = 0x5c55_1d94_ae0b_f85e;

/// 2^(i/256) in units of 2^-126, within 2^-115.
pub(super) static POWERS: [u128; 256] = powers();

/// Approximations c/1024 of the reciprocals of 1 + (i + 1/2)/256, exactly 1 and 1/2 at the ends.
pub(super) static RECIPROCALS: [u16; 256] = reciprocals();

/// -ln(c/1024) for those c, in units of 2^-112, within 2^-100.
pub(super) static LOGARITHMS: [i128; 256] = logarithms();

const fn powers() -> [u128; 256] {
    const STEP: u128 = 0x402c_6be9_6af2_fb58_4a6a_c4fb_0477_2551;
    let mut table = [1 << 126; 256];
    let mut i = 1;
    while i < 256 {
        table[i] = multiply(table[i - 1], STEP);
        i += 1;
    }
    table
}

/// The product of two numbers in units of 2^-126, rounded down by less than 2^-123.
const fn multiply(a: u128, b: u128) -> u128 {
    super::kernels::multiply(a, b) << 2
}

const fn reciprocals() -> [u16; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let divisor = 513 + 2 * i as u32;
        table[i] = ((2 * 512 * 1024 + divisor) / (2 * divisor)) as u16;
        i += 1;
    }
    table[0] = 1024;
    table[255] = 512;
    table
}

/// ln((c + 1)/c) = 2 atanh(1/(2c + 1)), summed from c = 1023 down.
const fn logarithms() -> [i128; 256] {
    let mut by_numerator = [0; 513];
    let mut c = 1023;
    while c >= 512 {
        let odd = 2 * c as i128 + 1;
        let mut power = (2 << 112) / odd;
        let mut term = 1;
        by_numerator[c - 512] = by_numerator[c - 511];
        while power > 0 {
            by_numerator[c - 512] += power / term;
            power /= odd * odd;
            term += 2;
        }
        c -= 1;
    }
    let reciprocals = reciprocals();
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = by_numerator[reciprocals[i] as usize - 512];
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The powers and logarithms of small whole fractions, to the digits of f64.
    #[test]
    fn the_tables_hold_what_they_say() {
        for i in 0..256 {
            let power = POWERS[i] as f64 / (1u128 << 126) as f64;
            assert!((power - (i as f64 / 256.0).exp2()).abs() < 1e-15, "{i}");
            let reciprocal = f64::from(RECIPROCALS[i]) / 1024.0;
            let logarithm = LOGARITHMS[i] as f64 / (1u128 << 112) as f64;
            assert!((logarithm + reciprocal.ln()).abs() < 1e-15, "{i}");
            for edge in [i, i + 1] {
                assert!(((1.0 + edge as f64 / 256.0) * reciprocal - 1.0).abs() <= 1.0 / 256.0, "{i}");
            }
        }
    }

    #[test]
    fn the_last_power_times_the_step_is_two_to_nearly_all_bits() {
        let miss = (2 << 126) - multiply(POWERS[255], POWERS[1]);
        assert!(miss < 1 << 12, "{miss}");
        assert_eq!(LOGARITHMS[255].abs_diff(LN_2) >> 12, 0);
        assert_eq!((256 * LN_2_BY_256).abs_diff(LN_2) >> 8, 0);
    }
}
