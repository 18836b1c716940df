//! An exact sum in few bytes: most units add up to one or two f64 terms.

use calipers_core::ExactSum;
use serde::{Deserialize, Serialize};

/// An exact sum as the terms that are left when its nearest f64 is taken away again and again,
/// largest first; no terms for 0. Equal sums have equal terms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptSum(Vec<f64>);

impl KeptSum {
    /// The sum, rounded once.
    pub fn value(&self) -> f64 {
        self.0.first().copied().unwrap_or(0.0)
    }

    /// Adds the sum to another one, exactly.
    pub(super) fn add_to(&self, total: &mut ExactSum) {
        self.0.iter().for_each(|&term| total.add(term));
    }
}

impl From<ExactSum> for KeptSum {
    fn from(mut sum: ExactSum) -> Self {
        let mut terms = Vec::new();
        while !sum.is_zero() {
            let nearest = sum.value();
            terms.push(nearest);
            if !nearest.is_finite() {
                break;
            }
            sum.add(-nearest);
        }
        Self(terms)
    }
}

impl FromIterator<f64> for KeptSum {
    fn from_iter<T: IntoIterator<Item = f64>>(terms: T) -> Self {
        terms.into_iter().collect::<ExactSum>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_lost(terms in prop::collection::vec(-1e30f64..1e30, 0..50)) {
            let sum: ExactSum = terms.iter().copied().collect();
            let kept = KeptSum::from(sum.clone());
            let mut back = ExactSum::new();
            kept.add_to(&mut back);
            prop_assert_eq!(&back, &sum);
            prop_assert_eq!(kept.value().to_bits(), sum.value().to_bits());
            let reversed: KeptSum = terms.into_iter().rev().collect();
            prop_assert_eq!(kept, reversed);
        }
    }

    #[test]
    fn one_term_is_kept_as_it_is_and_zero_as_none() {
        assert_eq!([0.1].into_iter().collect::<KeptSum>().0, [0.1]);
        assert!([1.0, -1.0].into_iter().collect::<KeptSum>().0.is_empty());
        assert_eq!([f64::MAX, f64::MAX].into_iter().collect::<KeptSum>().0, [f64::INFINITY]);
    }
}
