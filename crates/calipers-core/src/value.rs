//! What a metric's reading returns: a number, a count, many of them, or a reason why there is none.

use std::borrow::Cow;

/// The value of one metric, or of one cell of the per-unit table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A finite number.
    Number(f64),
    /// A whole number; may be negative.
    Count(i128),
    /// Values by class, group, type, head or condition, in report order.
    PerLabel(Vec<(String, Value)>),
    /// Values in order: a curve, a sweep, the bins of a diagram.
    Series(Vec<Value>),
    /// A name, in cells of the per-unit table; never the value of a metric.
    Text(String),
    /// There is no value, and this is why.
    Undefined(Cow<'static, str>),
}

impl Value {
    /// No value, for a reason known in advance.
    pub const fn undefined(reason: &'static str) -> Self {
        Self::Undefined(Cow::Borrowed(reason))
    }

    /// A quotient of two whole numbers, correctly rounded; `reason` when the divisor is 0.
    pub fn ratio(numerator: i128, divisor: i128, reason: &'static str) -> Self {
        if divisor == 0 {
            Self::undefined(reason)
        } else {
            Self::Number(rounded_quotient(numerator, divisor))
        }
    }

    /// The number or count as f64, if there is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Count(n) => Some(*n as f64),
            _ => None,
        }
    }

    /// The reason why there is no value.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Undefined(reason) => Some(reason),
            _ => None,
        }
    }
}

/// `numerator / divisor` rounded once to the nearest f64, ties to even. The divisor is not 0.
pub fn rounded_quotient(numerator: i128, divisor: i128) -> f64 {
    const EXACT: u128 = 1 << 53;
    let negative = (numerator < 0) != (divisor < 0);
    let (n, d) = (numerator.unsigned_abs(), divisor.unsigned_abs());
    if n <= EXACT && d <= EXACT {
        let quotient = n as f64 / d as f64;
        return if negative && n != 0 { -quotient } else { quotient };
    }
    // Long division to 55 significant bits and a sticky bit: more than f64 keeps, so that the
    // conversion below rounds once.
    let (mut whole, mut rest) = (n / d, n % d);
    let mut shift = 0i32;
    while whole < 1 << 55 && (whole != 0 || rest != 0) {
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
    let sticky = u128::from(rest != 0);
    let magnitude = (whole | sticky) as f64 * 2f64.powi(-shift);
    if negative { -magnitude } else { magnitude }
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
        fn small_and_scaled_quotients_agree(n in -(1i128 << 52)..1 << 52, d in 1i128..1 << 52) {
            prop_assert_eq!(bits(n, d), bits(n << 40, d << 40));
        }
    }
}
