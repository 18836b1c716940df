//! Which numbers follow from sums over repetitions, and how each of them is given.

use calipers_core::{Metric, Pooling, Scaled};
use num_bigint::{BigInt, BigUint, Sign};

use super::bias::QUANTILES;
use super::budget_pooling;
use super::protocol::Robustness;
use super::rational::Rational;
use super::reading::{Edges, Scalar};
use super::row::Row;

/// How the metric over many pairs follows from single ones.
pub(super) fn pooling(metric: &Metric<Robustness>) -> Pooling<Robustness> {
    macro_rules! mean {
        ($scalar:expr) => {
            Pooling::RoundedMean(|protocol, row| Some(vec![scaled(protocol, row, $scalar)?]))
        };
    }
    match metric.id {
        "bias_total" => mean!(Scalar::BiasTotal),
        "bias_mean" => mean!(Scalar::BiasMean),
        "bias_relative" => mean!(Scalar::BiasRelative),
        "bias_touched_share" => mean!(Scalar::BiasTouchedShare),
        "bias_node_quantiles" => Pooling::RoundedMean(|protocol, row| {
            (0..QUANTILES.len()).map(|place| scaled(protocol, row, Scalar::BiasQuantile(place))).collect()
        }),
        "mean_diff" => mean!(Scalar::MeanDiff(Edges::All)),
        "added_mean_diff" => mean!(Scalar::MeanDiff(Edges::Added)),
        "kept_mean_diff" => mean!(Scalar::MeanDiff(Edges::Kept)),
        "removed_mean_diff" => mean!(Scalar::MeanDiff(Edges::Removed)),
        "diff_ratio" => mean!(Scalar::DiffRatio),
        "pruned_added" => mean!(Scalar::Pruned(Edges::Added)),
        "pruned_kept" => mean!(Scalar::Pruned(Edges::Kept)),
        "clean_accuracy" => mean!(Scalar::CleanAccuracy),
        "robust_accuracy" | "attacked_accuracy" => mean!(Scalar::RobustAccuracy),
        "accuracy_drop" => mean!(Scalar::AccuracyDrop),
        "attack_success_rate" => mean!(Scalar::AttackSuccessRate),
        "flips_added" => mean!(Scalar::FlipsAdded),
        "flips_removed" => mean!(Scalar::FlipsRemoved),
        "budget_used" => mean!(Scalar::BudgetUsed),
        "hist_outside" => Pooling::Total,
        id => budget_pooling::pooling(id).unwrap_or(Pooling::Rows),
    }
}

pub(super) fn scaled(protocol: &Robustness, row: &Row, scalar: Scalar) -> Option<Scaled> {
    scalar.of(protocol, row).ok().map(|number| floor(&number))
}

/// A quotient to [`Scaled::BITS`] bits, rounded down.
pub(super) fn floor(number: &Rational) -> Scaled {
    let (numerator, denominator) = (number.numerator(), number.denominator());
    if numerator.sign() == Sign::NoSign {
        return Scaled { significand: 0, exponent: 0, exact: true, quotient: Some((0, 1)) };
    }
    let quotient = i64::try_from(numerator).ok().zip(u64::try_from(denominator).ok());
    let bits = i64::from(Scaled::BITS);
    let mut shift = bits - (numerator.bits() as i64 - denominator.bits() as i64);
    let scale = |magnitude: &BigUint, by: i64| if by > 0 { magnitude << by } else { magnitude.clone() };
    let (above, below) = (scale(numerator.magnitude(), shift), scale(denominator, -shift));
    let (mut whole, rest) = (&above / &below, &above % &below);
    let mut exact = rest.bits() == 0;
    if whole.bits() > u64::from(Scaled::BITS) {
        exact &= !whole.bit(0);
        whole >>= 1u32;
        shift -= 1;
    }
    let floor = match numerator.sign() {
        Sign::Minus if exact => -BigInt::from(whole),
        Sign::Minus => -BigInt::from(whole) - 1,
        _ => BigInt::from(whole),
    };
    let significand = i128::try_from(floor).expect("the quotient has as many bits as it was shifted to");
    Scaled { significand, exponent: -shift as i32, exact, quotient }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_quotient_lies_less_than_a_unit_above_its_floor(
            numerator in any::<i64>(), denominator in 1u64.., exponent in -300i32..300,
        ) {
            let number = Rational::ratio(numerator, denominator).times(&Rational::of(2f64.powi(exponent)));
            let Scaled { significand, exponent, exact, quotient } = floor(&number);
            prop_assert!(quotient.is_none_or(|(numerator, denominator)| Rational::ratio(numerator, denominator) == number));
            let unit = Rational::of(2f64.powi(exponent));
            let low = unit.times(&Rational::new(BigInt::from(significand), BigUint::from(1u32)));
            prop_assert!(low <= number && number < low.plus(&unit));
            prop_assert_eq!(exact, low == number);
            prop_assert!(exact || significand.unsigned_abs() >= 1 << (Scaled::BITS - 1));
            prop_assert!(significand.unsigned_abs() <= 1 << Scaled::BITS);
        }
    }
}
