//! A number wide enough for every sum of f64 terms: 68 limbs of 32 bits above 2^-1074.

use num_bigint::{BigInt, BigUint, Sign};

use crate::exact::Rational;

/// Limb `i` counts units of 2^(32 i - 1074); 64 limbs hold every term, the rest the carries.
pub(crate) const LIMBS: usize = 68;

/// A term adds less than 2^53 to a limb, so this many terms never overflow a limb in [0, 2^32).
const MAX_PENDING: u32 = 1000;

const LIMB_MASK: i64 = 0xffff_ffff;

/// A fixed-point number whose carries are settled late.
#[derive(Clone, Debug)]
pub(super) struct FixedPoint {
    limbs: [i64; LIMBS],
    /// How many terms were added since the carries were settled.
    pending: u32,
}

/// The sign and the magnitude of a [`FixedPoint`]: the one form that every equal sum has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignMagnitude {
    pub(super) negative: bool,
    pub(super) limbs: [u32; LIMBS],
}

impl FixedPoint {
    pub(super) const fn zero() -> Self {
        Self { limbs: [0; LIMBS], pending: 0 }
    }

    /// Adds a finite term.
    pub(super) fn add(&mut self, term: f64) {
        if self.pending == MAX_PENDING {
            self.settle();
        }
        self.pending += 1;
        add_to_limbs(&mut self.limbs, term);
    }

    /// Adds finite terms.
    pub(super) fn add_all(&mut self, mut terms: &[f64]) {
        while !terms.is_empty() {
            if self.pending == MAX_PENDING {
                self.settle();
            }
            let (now, later) = terms.split_at(terms.len().min((MAX_PENDING - self.pending) as usize));
            self.pending += now.len() as u32;
            for &term in now {
                add_to_limbs(&mut self.limbs, term);
            }
            terms = later;
        }
    }

    /// Adds another number.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.settle();
        self.settle();
        for (limb, added) in self.limbs.iter_mut().zip(&other.limbs) {
            *limb += added;
        }
        self.pending = 1;
    }

    /// Brings every limb but the last into [0, 2^32); the last carries the sign.
    fn settle(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let total = *limb + carry;
            *limb = total & LIMB_MASK;
            carry = total >> 32;
        }
        self.limbs[LIMBS - 1] += carry;
        self.pending = 0;
    }

    /// The canonical form.
    pub(super) fn sign_magnitude(&self) -> SignMagnitude {
        let mut settled = self.clone();
        settled.settle();
        let negative = settled.limbs[LIMBS - 1] < 0;
        // Carries leave the sign to the top limb alone: the magnitude is settled once more after turning it.
        if negative {
            settled.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            settled.settle();
        }
        SignMagnitude { negative, limbs: settled.limbs.map(|limb| limb as u32) }
    }
}

impl From<&SignMagnitude> for FixedPoint {
    fn from(number: &SignMagnitude) -> Self {
        let sign = if number.negative { -1 } else { 1 };
        Self { limbs: number.limbs.map(|limb| sign * i64::from(limb)), pending: 1 }
    }
}

impl SignMagnitude {
    pub(super) const ZERO: Self = Self { negative: false, limbs: [0; LIMBS] };

    /// The nearest f64, ties to even.
    pub(super) fn round(&self) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let lowest = top.saturating_sub(2);
        let leading =
            self.limbs[lowest..=top].iter().rev().fold(0, |sum, &limb| (sum << 32) | u128::from(limb));
        // Whatever lies below the leading limbs only decides ties, and so does one more bit.
        let rest = self.limbs[..lowest].iter().any(|&limb| limb != 0);
        let rounded = ((leading << 1) | u128::from(rest)) as f64;
        let magnitude = scale(rounded, 32 * lowest as i32 - 1075);
        if self.negative { -magnitude } else { magnitude }
    }
}

impl SignMagnitude {
    /// The nearest f64 to the number divided by `divisor`, ties to even.
    pub(super) fn over(&self, divisor: u64) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        // Long division by words, until the digits hold more bits than f64 keeps.
        let (mut at, mut rest, mut leading) = (top, 0u128, 0u128);
        loop {
            let above = (rest << 32) | u128::from(self.limbs[at]);
            leading = (leading << 32) | (above / u128::from(divisor));
            rest = above % u128::from(divisor);
            if leading >> 64 > 0 {
                break;
            }
            match at.checked_sub(1) {
                Some(next) => at = next,
                // A result near the smallest floats has fewer bits, and is rounded there.
                None => return self.small_over(divisor),
            }
        }
        let below = rest != 0 || self.limbs[..at].iter().any(|&limb| limb != 0);
        let rounded = ((leading << 1) | u128::from(below)) as f64;
        let magnitude = scale(rounded, 32 * at as i32 - 1075);
        if self.negative { -magnitude } else { magnitude }
    }

    fn small_over(&self, divisor: u64) -> f64 {
        let sign = if self.negative { Sign::Minus } else { Sign::Plus };
        let magnitude = BigUint::from_slice(&self.limbs);
        Rational::new(BigInt::from_biguint(sign, magnitude), BigUint::from(divisor) << 1074).nearest()
    }
}

/// `number * 2^exponent`, in two exact steps: the sum is a multiple of 2^-1074, so nothing below
/// the normal range needs a second rounding.
fn scale(number: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    number * power_of_two(half) * power_of_two(exponent - half)
}

/// 2^exponent in the normal range.
pub(crate) const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[inline]
fn add_to_limbs(limbs: &mut [i64; LIMBS], term: f64) {
    let bits = term.to_bits();
    let exponent = (bits >> 52) & 0x7ff;
    // A subnormal number has no hidden bit, and the exponent of the smallest normal one.
    let normal = u64::from(exponent != 0);
    let significand = (bits & 0xf_ffff_ffff_ffff) | (normal << 52);
    let position = exponent - normal;
    // The mask tells the compiler that the index is in range; no finite number reaches beyond it.
    let (index, shift) = ((position >> 5) as usize & 63, position & 31);
    // 53 bits shifted by up to 31 span two limbs: the low half is cut to 32 bits, the high one has up to 52.
    let low = ((significand << shift) & 0xffff_ffff) as i64;
    let high = (significand >> (32 - shift)) as i64;
    // (x ^ -1) - (-1) is -x: signs are hard to predict, so that a branch would cost more.
    let sign = bits as i64 >> 63;
    limbs[index] += (low ^ sign) - sign;
    limbs[index + 1] += (high ^ sign) - sign;
}
