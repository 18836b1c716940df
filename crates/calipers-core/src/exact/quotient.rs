//! Division of whole numbers, rounded once.

/// The bits of a divisor that leave a quotient of 56 bits or more when the dividend fills 128.
const SHORT: u32 = 72;

/// `numerator / divisor` rounded once to the nearest f64, ties to even. The divisor is not 0.
pub fn rounded_quotient(numerator: i128, divisor: i128) -> f64 {
    const EXACT: u128 = 1 << 53;
    let negative = (numerator < 0) != (divisor < 0);
    let (n, d) = (numerator.unsigned_abs(), divisor.unsigned_abs());
    if n <= EXACT && d <= EXACT {
        // Both are floats as they stand, so that the processor's division rounds once.
        let quotient = n as f64 / d as f64;
        return if negative && n != 0 { -quotient } else { quotient };
    }
    if n == 0 {
        return 0.0;
    }
    let magnitude =
        if u128::BITS - d.leading_zeros() < SHORT { divided_at_once(n, d) } else { bit_by_bit(n, d) };
    if negative { -magnitude } else { magnitude }
}

/// The dividend is shifted to the top, so that one division gives more bits than f64 keeps; the bit
/// of the remainder settles ties, and the conversion rounds once.
fn divided_at_once(n: u128, d: u128) -> f64 {
    let shift = n.leading_zeros();
    let (whole, rest) = ((n << shift) / d, (n << shift) % d);
    (whole | u128::from(rest != 0)) as f64 * 2f64.powi(-(shift as i32))
}

/// Long division to 55 significant bits and one for the remainder.
fn bit_by_bit(n: u128, d: u128) -> f64 {
    let (mut whole, mut rest) = (n / d, n % d);
    let mut shift = 0i32;
    while whole < 1 << 55 && (whole != 0 || rest != 0) {
        // The next bit says whether twice the rest reaches the divisor; twice the rest may need 129 bits.
        let doubled = rest.checked_mul(2);
        let (bit, next) = match doubled {
            Some(twice) if twice < d => (0, twice),
            Some(twice) => (1, twice - d),
            None => (1, rest.wrapping_mul(2).wrapping_sub(d)),
        };
        whole = whole << 1 | bit;
        rest = next;
        shift += 1;
    }
    (whole | u128::from(rest != 0)) as f64 * 2f64.powi(-shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(numerator: i128, divisor: i128) -> u64 {
        rounded_quotient(numerator, divisor).to_bits()
    }

    #[test]
    fn quotients_beyond_53_bits_are_rounded_once() {
        assert_eq!(bits((1 << 60) + 1, 1 << 60), 1f64.to_bits());
        assert_eq!(bits((1 << 60) + (1 << 8), 1 << 60), (1.0 + f64::EPSILON).to_bits());
        assert_eq!(bits(i128::MIN + 1, i128::MAX), (-1f64).to_bits());
        assert_eq!(bits(0, -5), 0f64.to_bits());
    }

    proptest! {
        #[test]
        fn one_division_gives_what_long_division_gives(n in 1u128.., d in 1u128..1 << 70, down in 0u32..127) {
            let n = (n >> down).max(1);
            prop_assert_eq!(divided_at_once(n, d).to_bits(), bit_by_bit(n, d).to_bits());
        }

        #[test]
        fn small_and_scaled_quotients_agree(n in -(1i128 << 52)..1 << 52, d in 1i128..1 << 52) {
            prop_assert_eq!(bits(n, d), bits(n << 40, d << 40));
        }
    }
}
