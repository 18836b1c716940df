//! Exact sums of squares at rest: whole multiples of the square of the smallest float.

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use calipers_core::exact::rational::{Rational, parts};

/// The square of the smallest float is 2 to this power; every sum of squares is a multiple of it.
const UNIT: i64 = -2148;

/// A number >= 0 that no float need hold: every sum of squares of floats, exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::robustness) struct Wide(BigUint);

impl Wide {
    /// Adds a float >= 0, or subtracts one that is not; the sum stays >= 0.
    pub(in crate::robustness) fn add(&mut self, float: f64) {
        let (significand, exponent) = parts(float);
        let magnitude = BigUint::from(significand) << (exponent - UNIT);
        if float < 0.0 {
            self.0 -= magnitude;
        } else {
            self.0 += magnitude;
        }
    }

    /// Adds the floats of an exact sum >= 0, the largest last.
    pub(in crate::robustness) fn add_partials(&mut self, terms: &[f64]) {
        terms.iter().rev().for_each(|&term| self.add(term));
    }

    /// Adds the square of a difference of floats.
    pub(in crate::robustness) fn add_squared_difference(&mut self, a: f64, b: f64) {
        let whole = |x: f64| {
            let (significand, exponent) = parts(x);
            let magnitude = num_bigint::BigInt::from(significand) << (exponent + 1074);
            if x < 0.0 { -magnitude } else { magnitude }
        };
        let difference = whole(a) - whole(b);
        self.0 += difference.magnitude() * difference.magnitude();
    }

    /// Adds another number.
    pub(in crate::robustness) fn merge(&mut self, other: &Self) {
        self.0 += &other.0;
    }

    pub(in crate::robustness) fn value(&self) -> Rational {
        Rational::new(self.0.clone().into(), BigUint::from(1u32) << -UNIT)
    }
}

/// A [`Wide`] as rows keep it. Equal numbers have equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub(in crate::robustness) struct Dyadic(Wire);

/// Little-endian bytes without zeros at either end, in units of 2^(8 `lowest` - 2148); zero has no
/// bytes and a `lowest` of 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Wire {
    lowest: u16,
    magnitude: Box<[u8]>,
}

impl Dyadic {
    pub(in crate::robustness) fn is_zero(&self) -> bool {
        self.0.magnitude.is_empty()
    }

    /// The number, with as few digits as it needs.
    pub(in crate::robustness) fn value(&self) -> Rational {
        let magnitude = BigUint::from_bytes_le(&self.0.magnitude);
        let exponent = 8 * i64::from(self.0.lowest) + UNIT;
        if exponent < 0 {
            Rational::new(magnitude.into(), BigUint::from(1u32) << -exponent)
        } else {
            Rational::new((magnitude << exponent).into(), BigUint::from(1u32))
        }
    }
}

impl From<&Wide> for Dyadic {
    fn from(number: &Wide) -> Self {
        let bytes = number.0.to_bytes_le();
        let Some(lowest) = bytes.iter().position(|&byte| byte != 0) else { return Self::default() };
        let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Self(Wire { lowest: lowest as u16, magnitude: bytes[lowest..end].into() })
    }
}

impl From<Dyadic> for Wire {
    fn from(number: Dyadic) -> Self {
        number.0
    }
}

impl TryFrom<Wire> for Dyadic {
    type Error = &'static str;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        match (wire.magnitude.first(), wire.magnitude.last()) {
            (None, _) if wire.lowest != 0 => Err("a number without digits has a place for them"),
            (Some(0), _) | (_, Some(0)) => Err("a number is padded with zero bytes"),
            _ if usize::from(wire.lowest) + wire.magnitude.len() > 512 => Err("a number has too many digits"),
            _ => Ok(Self(wire)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_lost_at_rest(pairs in prop::collection::vec((-1e145..1e145f64, any::<f32>()), 0..6)) {
            let pairs: Vec<_> = pairs.into_iter().filter(|pair| pair.1.is_finite()).collect();
            let mut wide = Wide::default();
            let mut oracle = Rational::whole(0);
            for (a, b) in pairs {
                let (a, b) = (a * f64::MIN_POSITIVE, f64::from(b));
                wide.add_squared_difference(a, b);
                let difference = Rational::of(a).minus(&Rational::of(b));
                oracle = oracle.plus(&difference.times(&difference));
            }
            let kept = Dyadic::from(&wide);
            prop_assert_eq!(&kept.value(), &oracle);
            prop_assert_eq!(&wide.value(), &oracle);
            prop_assert_eq!(kept.is_zero(), oracle.is_zero());
            let text = serde_json::to_string(&kept).unwrap();
            prop_assert_eq!(serde_json::from_str::<Dyadic>(&text).unwrap(), kept);
        }
    }

    #[test]
    fn the_smallest_square_and_padded_bytes() {
        let mut wide = Wide::default();
        wide.add_squared_difference(f64::from_bits(1), 0.0);
        assert_eq!(serde_json::to_string(&Dyadic::from(&wide)).unwrap(), r#"{"lowest":0,"magnitude":[1]}"#);
        wide.add_partials(&[-f64::from_bits(1), 1.0]);
        assert_eq!(wide.value().nearest().to_bits(), 1f64.to_bits());
        for bad in [r#"{"lowest":1,"magnitude":[]}"#, r#"{"lowest":1,"magnitude":[0,1]}"#] {
            assert!(serde_json::from_str::<Dyadic>(bad).is_err());
        }
    }
}
