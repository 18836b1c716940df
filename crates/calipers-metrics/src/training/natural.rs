//! Natural numbers without a bound: just enough for products of fractions of whole numbers.

use std::cmp::Ordering;

/// A natural number in words of 64 bits, the lowest first; the last word is not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Natural(Vec<u64>);

impl From<u64> for Natural {
    fn from(word: u64) -> Self {
        Self(if word == 0 { Vec::new() } else { vec![word] })
    }
}

impl Natural {
    /// The product with a word.
    pub(crate) fn times(&self, factor: u64) -> Self {
        let mut carry = 0;
        let mut words: Vec<u64> = Vec::with_capacity(self.0.len() + 1);
        for &word in &self.0 {
            let product = u128::from(word) * u128::from(factor) + carry;
            words.push(product as u64);
            carry = product >> 64;
        }
        words.push(carry as u64);
        Self(words).trimmed()
    }

    /// The product with two words.
    pub(crate) fn times_wide(&self, factor: u128) -> Self {
        let mut high = self.times((factor >> 64) as u64);
        if !high.0.is_empty() {
            high.0.insert(0, 0);
        }
        self.times(factor as u64).plus(&high)
    }

    /// The sum.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut carry = 0;
        let mut words: Vec<u64> = Vec::with_capacity(long.0.len() + 1);
        for (i, &word) in long.0.iter().enumerate() {
            let sum = u128::from(word) + u128::from(short.0.get(i).copied().unwrap_or(0)) + carry;
            words.push(sum as u64);
            carry = sum >> 64;
        }
        words.push(carry as u64);
        Self(words).trimmed()
    }

    /// The quotient rounded once to the nearest f64, ties to even. The divisor is not 0, and the
    /// quotient is 0 or far from the ends of the range of f64.
    pub(crate) fn quotient(&self, divisor: &Self) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        /// One more bit than f64 needs to round once, when the first may be 0.
        const DIGITS: u32 = 56;
        let (up, down) =
            (divisor.bits().saturating_sub(self.bits()), self.bits().saturating_sub(divisor.bits()));
        let (mut rest, divisor) = (self.shifted(up), divisor.shifted(down));
        let mut digits = 0u64;
        for _ in 0..DIGITS {
            digits <<= 1;
            if rest >= divisor {
                rest.subtract(&divisor);
                digits |= 1;
            }
            rest = rest.shifted(1);
        }
        let sticky = u64::from(!rest.0.is_empty());
        let exponent = down as i32 - up as i32 - (DIGITS as i32 - 1);
        (digits << 1 | sticky) as f64 * 2f64.powi(exponent - 1)
    }

    fn bits(&self) -> u64 {
        self.0.last().map_or(0, |last| 64 * self.0.len() as u64 - u64::from(last.leading_zeros()))
    }

    fn shifted(&self, bits: u64) -> Self {
        let mut words = vec![0; (bits / 64) as usize];
        let mut carry = 0;
        for &word in &self.0 {
            let wide = u128::from(word) << (bits % 64) | carry;
            words.push(wide as u64);
            carry = wide >> 64;
        }
        words.push(carry as u64);
        Self(words).trimmed()
    }

    /// Takes a number off that is not larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (i, word) in self.0.iter_mut().enumerate() {
            let (less, first) = word.overflowing_sub(other.0.get(i).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(borrow.into());
            (*word, borrow) = (less, first || second);
        }
        while self.0.pop_if(|word| *word == 0).is_some() {}
    }

    fn trimmed(mut self) -> Self {
        while self.0.pop_if(|word| *word == 0).is_some() {}
        self
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let length = self.0.len().cmp(&other.0.len());
        length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::exact::rounded_quotient;
    use proptest::prelude::*;

    fn natural(value: u128) -> Natural {
        Natural::from(1).times_wide(value)
    }

    #[test]
    fn the_quotient_of_huge_factorials_is_exact() {
        let factorial = |n: u64| (1..=n).fold(Natural::from(1), |product, k| product.times(k));
        let quotient = factorial(1000).times(3).quotient(&factorial(1001));
        assert_eq!(quotient.to_bits(), (3.0f64 / 1001.0).to_bits());
        assert!(factorial(1000) < factorial(1001));
        assert_eq!(Natural::from(0).quotient(&factorial(9)).to_bits(), 0f64.to_bits());
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_128_bits(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
            let (wide_a, wide_b) = (u128::from(a), u128::from(b));
            prop_assert_eq!(Natural::from(a).times(b), natural(wide_a * wide_b));
            prop_assert_eq!(Natural::from(a).plus(&Natural::from(b)), natural(wide_a + wide_b));
            prop_assert_eq!(Natural::from(a).cmp(&Natural::from(b)), a.cmp(&b));
            let (low, high) = ((wide_a * wide_b).min(c.into()), (wide_a * wide_b).max(c.into()));
            let mut rest = natural(high);
            rest.subtract(&natural(low));
            prop_assert_eq!(rest, natural(high - low));
        }

        #[test]
        fn quotients_are_rounded_once(a in any::<u64>(), b in 1..=u64::MAX, shift in 0u32..60, same in 0u64..300) {
            let (a, b) = (a >> shift, (b >> (59 - shift)).max(1));
            let (n, d) = (natural(a.into()).shifted(same), natural(b.into()).shifted(same));
            let expected = rounded_quotient(a.into(), b.into());
            prop_assert_eq!(n.quotient(&d).to_bits(), expected.to_bits());
        }
    }
}
