//! The second evaluation: which side of a rounding boundary the true value lies on.
//!
//! Every question is turned into one about powers of e, which are worked out to about 240 bits.
//! A boundary that is too close for that would be 2^100 times closer than chance brings any.

use super::approx::Dyadic;

/// A number in [0, 2^64) in units of 2^-256, least significant limb first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wide([u64; 5]);

const ONE: Wide = Wide([0, 0, 0, 0, 1]);

const LN_2: Wide =
    Wide([0x8a0d_175b_8baa_fa2c, 0x40f3_4326_7298_b62d, 0xc9e3_b398_03f2_f6af, 0xb172_17f7_d1cf_79ab, 0]);

impl Wide {
    /// A number below 2^64, cut off below 2^-256.
    fn of(number: Dyadic) -> Self {
        let mut limbs = [0; 5];
        let shift = number.exponent + 256;
        let (place, spread) = if shift >= 0 {
            ((shift / 64) as usize, u128::from(number.significand) << (shift % 64))
        } else {
            (0, u128::from(number.significand).checked_shr(shift.unsigned_abs()).unwrap_or(0))
        };
        limbs[place] = spread as u64;
        if place < 4 {
            limbs[place + 1] = (spread >> 64) as u64;
        }
        Self(limbs)
    }

    fn plus(self, other: Self) -> Self {
        let mut carry = 0;
        Self(std::array::from_fn(|i| {
            let sum = u128::from(self.0[i]) + u128::from(other.0[i]) + carry;
            carry = sum >> 64;
            sum as u64
        }))
    }

    /// The difference from a number that is not larger.
    fn minus(self, other: Self) -> Self {
        let mut borrow = false;
        Self(std::array::from_fn(|i| {
            let (difference, first) = self.0[i].overflowing_sub(other.0[i]);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            borrow = first | second;
            difference
        }))
    }

    fn times(self, other: Self) -> Self {
        let mut limbs = [0; 10];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().enumerate() {
                let sum = u128::from(a) * u128::from(b) + u128::from(limbs[i + j]) + carry;
                limbs[i + j] = sum as u64;
                carry = sum >> 64;
            }
            limbs[i + 5] = carry as u64;
        }
        Self(std::array::from_fn(|i| limbs[i + 4]))
    }

    fn over(self, divisor: u64) -> Self {
        let mut rest = 0;
        let mut limbs = self.0;
        for limb in limbs.iter_mut().rev() {
            let dividend = (rest << 64) | u128::from(*limb);
            *limb = (dividend / u128::from(divisor)) as u64;
            rest = dividend % u128::from(divisor);
        }
        Self(limbs)
    }

    fn exceeds(self, other: Self) -> bool {
        self.0.iter().rev().gt(other.0.iter().rev())
    }
}

/// `value * 2^exponent`, the value in [1, 2].
struct Power {
    value: Wide,
    exponent: i32,
}

/// e^x for |x| < 2^11, or e^-x.
fn exp(x: Dyadic, negative: bool) -> Power {
    let mut rest = Wide::of(x);
    let guess = (rest.0[4] as f64 + rest.0[3] as f64 / (1u128 << 64) as f64) * std::f64::consts::LOG2_E;
    let mut exponent = (guess as u64).saturating_sub(1);
    rest = rest.minus(LN_2.times(Wide([0, 0, 0, 0, exponent])));
    while !LN_2.exceeds(rest) {
        rest = rest.minus(LN_2);
        exponent += 1;
    }
    if negative {
        Power { value: exp_below_one(LN_2.minus(rest)), exponent: -(exponent as i32) - 1 }
    } else {
        Power { value: exp_below_one(rest), exponent: exponent as i32 }
    }
}

/// e^x for x in [0, ln 2]: the series at x/2^12, squared twelve times.
fn exp_below_one(x: Wide) -> Wide {
    const HALVINGS: u32 = 12;
    let small = x.over(1 << HALVINGS);
    let mut power = (1..=20).rev().fold(ONE, |series, n| ONE.plus(small.times(series).over(n)));
    for _ in 0..HALVINGS {
        power = power.times(power);
    }
    power
}

/// Whether e^x > boundary.
#[cold]
pub(super) fn exp_exceeds(x: f64, boundary: Dyadic) -> bool {
    let power = exp(Dyadic::of(x), x < 0.0);
    power.value.exceeds(Wide::of(boundary.scaled(-power.exponent)))
}

/// Whether |ln x| > boundary, which is x > e^boundary or x < e^-boundary.
#[cold]
pub(super) fn ln_exceeds(x: f64, boundary: Dyadic) -> bool {
    let power = exp(boundary, x < 1.0);
    let x_scaled = Wide::of(Dyadic::of(x).scaled(-power.exponent));
    if x < 1.0 { power.value.exceeds(x_scaled) } else { x_scaled.exceeds(power.value) }
}

/// Whether |ln(1 + x)| > boundary.
#[cold]
pub(super) fn log1p_exceeds(x: f64, boundary: Dyadic) -> bool {
    let power = exp(boundary, x < 0.0);
    let one = Wide::of(Dyadic { significand: 1, exponent: -power.exponent });
    let x_scaled = Wide::of(Dyadic::of(x).scaled(-power.exponent));
    if x < 0.0 { power.value.exceeds(one.minus(x_scaled)) } else { one.plus(x_scaled).exceeds(power.value) }
}

/// Whether tanh x > boundary, which is 1 - boundary > (1 + boundary) e^-2x; x is positive.
#[cold]
pub(super) fn tanh_exceeds(x: f64, boundary: Dyadic) -> bool {
    let power = exp(Dyadic::of(x).scaled(1), true);
    let scaled = |sum: fn(Wide, Wide) -> Wide, power: i32| {
        sum(Wide::of(Dyadic { significand: 1, exponent: power }), Wide::of(boundary.scaled(power)))
    };
    scaled(Wide::minus, -power.exponent).exceeds(power.value.times(scaled(Wide::plus, 0)))
}

/// Whether 1/(1 + e^-z) > boundary, which is (1 - boundary) e^z > boundary.
#[cold]
pub(super) fn sigmoid_exceeds(z: f64, boundary: Dyadic) -> bool {
    let power = exp(Dyadic::of(z), z < 0.0);
    let rest = ONE.minus(Wide::of(boundary));
    power.value.times(rest).exceeds(Wide::of(boundary.scaled(-power.exponent)))
}

#[cfg(test)]
mod tests {
    use super::super::{exp as exp_f64, ln, log1p, sigmoid, tanh};
    use super::*;
    use crate::resample::SplitMix64;

    /// A true value rounds to `result` if it lies between the boundaries on both sides of it.
    #[track_caller]
    fn check(result: f64, exceeds: impl Fn(Dyadic) -> bool) {
        let Dyadic { significand, exponent } = Dyadic::of(result);
        let boundary = |significand| Dyadic { significand, exponent: exponent - 1 };
        if significand != 1 << 52 {
            assert!(exceeds(boundary(2 * significand - 1)), "{result:e}");
        }
        assert!(!exceeds(boundary(2 * significand + 1)), "{result:e}");
    }

    #[test]
    fn both_evaluations_agree_on_every_result() {
        let mut random = SplitMix64::new(1);
        for scale in [1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0, 19.0, 30.0, 700.0] {
            for _ in 0..100 {
                let x = random.unit() * scale;
                for x in [x, -x] {
                    check(exp_f64(x), |boundary| exp_exceeds(x, boundary));
                    check(ln(x.abs()), |boundary| ln_exceeds(x.abs(), boundary));
                    if x > -1.0 {
                        check(log1p(x), |boundary| log1p_exceeds(x, boundary));
                        check(ln(1.0 + x), |boundary| ln_exceeds(1.0 + x, boundary));
                    }
                    if x.abs() < 19.0 {
                        check(tanh(x.abs()), |boundary| tanh_exceeds(x.abs(), boundary));
                    }
                    if x < 36.0 {
                        check(sigmoid(x), |boundary| sigmoid_exceeds(x, boundary));
                    }
                }
            }
        }
    }

    #[test]
    fn a_power_times_its_inverse_is_one() {
        for significand in [1, 3, 1 << 20, (1 << 53) - 1] {
            let x = Dyadic { significand, exponent: -50 };
            let (up, down) = (exp(x, false), exp(x, true));
            let product = up.value.times(down.value).over(1 << (-up.exponent - down.exponent));
            let miss = if product.exceeds(ONE) { product.minus(ONE) } else { ONE.minus(product) };
            assert!(Wide::of(Dyadic { significand: 1, exponent: -238 }).exceeds(miss), "{miss:?}");
        }
    }
}
