//! How a mask is distributed: mass, entropy, concentration.

use calipers_core::functions::{exp, lanes};
use calipers_core::{ExactSum, stop};
use multiversion::multiversion;

use super::layout::{ASKED, BLOCK, Bits, Values};
use super::ranking::Ranking;
use crate::explanation::protocol::MaskScores;

/// Exact sums over the importances |m| of a mask, all on one scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) zeros: u64,
    pub(crate) mass: ExactSum,
    pub(crate) mass_log: ExactSum,
    pub(crate) true_mass: ExactSum,
    pub(crate) gini: ExactSum,
}

/// How stored mask values become importances: the sigmoid for logits, each on a scale that keeps
/// squares and logarithms of very large and very small importances in range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Importance {
    scores: MaskScores,
    /// A power of two, for values that are used as they are.
    factor: f64,
    /// How far logits are moved up before their exponential is taken.
    shift: f64,
}

/// Below it the sigmoid of a logit is its exponential, to the last bit.
const EXPONENTIAL: f64 = -100.0;

impl Importance {
    /// For masks that share a scale, which their largest importance decides.
    pub(crate) fn of(scores: MaskScores, masks: &[&Values<'_>]) -> Self {
        let plain = Self { scores, factor: 1.0, shift: 0.0 };
        if scores == MaskScores::Logits {
            let top = masks.iter().map(|values| highest(values)).fold(f64::NEG_INFINITY, f64::max);
            let shift = if top.is_finite() && top < EXPONENTIAL { -top } else { 0.0 };
            return Self { shift, ..plain };
        }
        let largest = masks.iter().map(|values| largest(values)).fold(0.0, f64::max);
        let usual = (1e-60..1e60).contains(&largest);
        Self { factor: if usual { 1.0 } else { opposite_power(largest) }, ..plain }
    }

    /// The importances of some values, signs kept.
    pub(crate) fn apply(self, values: &mut [f64]) {
        if self.shift > 0.0 {
            values.iter_mut().for_each(|value| *value = lanes::exp(*value + self.shift));
        } else if self.scores == MaskScores::Logits {
            sigmoid(values);
        } else if self.factor.total_cmp(&1.0).is_ne() {
            values.iter_mut().for_each(|value| *value *= self.factor);
        }
    }

    /// What importances on this scale are multiplied by to be on a coarser one.
    pub(crate) fn ratio_to(self, coarser: Self) -> f64 {
        coarser.factor / self.factor * exp(coarser.shift - self.shift)
    }
}

/// The largest size of any value.
fn largest(values: &Values<'_>) -> f64 {
    match values {
        Values::Single(values) => f64::from(values.iter().fold(0f32, |most, value| most.max(value.abs()))),
        Values::Double(values) => values.iter().fold(0f64, |most, value| most.max(value.abs())),
    }
}

/// The highest value; minus infinity without any.
fn highest(values: &Values<'_>) -> f64 {
    match values {
        Values::Single(values) => {
            f64::from(values.iter().fold(f32::NEG_INFINITY, |most, value| most.max(*value)))
        }
        Values::Double(values) => values.iter().fold(f64::NEG_INFINITY, |most, value| most.max(*value)),
    }
}

/// 2^-e for a number of size 2^e or a little more; 1 for 0.
fn opposite_power(number: f64) -> f64 {
    let exponent = (number.to_bits() >> 52) as i64 & 0x7ff;
    if number > 0.0 { f64::from_bits(((2046 - exponent.clamp(1, 2045)) as u64) << 52) } else { 1.0 }
}

/// The shape of a mask, and the part of its mass that lies in the truth.
pub(crate) fn shape(
    values: &Values<'_>,
    importance: Importance,
    ranking: &Ranking,
    truth: Option<&Bits<'_>>,
) -> Shape {
    let mut shape = Shape::default();
    let mut buffer = Vec::with_capacity(BLOCK);
    let mut logs = Vec::with_capacity(BLOCK);
    let mut negative = false;
    for start in (0..values.len()).step_by(BLOCK) {
        if start.is_multiple_of(ASKED * BLOCK) && stop::asked() {
            break;
        }
        values.widen(start..values.len().min(start + BLOCK), &mut buffer);
        if importance.scores != MaskScores::Logits {
            shape.zeros += buffer.iter().map(|value| u64::from(value.abs() <= 0.0)).sum::<u64>();
            negative |= buffer.iter().fold(false, |any, value| any | (*value < 0.0));
        }
        importance.apply(&mut buffer);
        buffer.iter_mut().for_each(|value| *value = value.abs());
        shape.mass.add_slice(&buffer);
        logs.resize(buffer.len(), 0.0);
        products_with_logarithms(&buffer, &mut logs);
        shape.mass_log.add_slice(&logs);
    }
    if let Some(truth) = truth {
        truth.blocks(None, |range, truth, _| {
            values.widen(range, &mut buffer);
            importance.apply(&mut buffer);
            let in_truth = buffer.iter_mut().zip(truth);
            in_truth.for_each(|(value, &is_true)| *value = if is_true { value.abs() } else { 0.0 });
            shape.true_mass.add_slice(&buffer);
        });
    }
    if negative {
        concentration(&Ranking::by_size(values), values.len(), importance, &mut shape.gini);
    } else {
        concentration(ranking, values.len(), importance, &mut shape.gini);
    }
    shape
}

/// Sum of (2i - n - 1) |m| in ascending order, level by level.
fn concentration(ranking: &Ranking, elements: usize, importance: Importance, sum: &mut ExactSum) {
    let mut below = 0i128;
    let (mut values, mut factors) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
    let mut settle = |values: &mut Vec<f64>, factors: &mut Vec<f64>| {
        importance.apply(values);
        values.iter_mut().zip(&*factors).for_each(|(value, factor)| *value = value.abs() * factor);
        sum.add_slice(values);
        values.clear();
        factors.clear();
    };
    ranking.levels(|level| {
        let count = i128::from(level.positives + level.negatives);
        // The sum of 2i - n - 1 over i = below + 1 to below + count.
        factors.push((count * (2 * below + count - elements as i128)) as f64);
        values.push(level.value);
        below += count;
        if values.len() == BLOCK {
            settle(&mut values, &mut factors);
        }
    });
    settle(&mut values, &mut factors);
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn products_with_logarithms(values: &[f64], products: &mut [f64]) {
    for (product, &value) in products.iter_mut().zip(values) {
        *product = if value > 0.0 { value * lanes::ln(value) } else { 0.0 };
    }
}

/// 1/(1 + e^-v), relative error below 2^-48.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn sigmoid(values: &mut [f64]) {
    for value in values {
        let power = lanes::exp(-value.abs());
        let share = 1.0 / (1.0 + power);
        *value = if *value < 0.0 { power * share } else { share };
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use calipers_core::functions;
    use proptest::prelude::*;

    use super::*;
    use calipers_core::NumberSlice;

    fn measured(values: &[f64], scores: MaskScores, truth: &[bool]) -> Shape {
        let values = Values::Double(Cow::Borrowed(values));
        let truth = Bits::at_least(NumberSlice::Bool(truth), 0.5);
        let ranking = Ranking::new(&values, Some(&truth));
        shape(&values, Importance::of(scores, &[&values]), &ranking, Some(&truth))
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_definitions(
            elements in prop::collection::vec((-40i32..40, any::<bool>()), 1..200),
            scores in prop::sample::select(vec![MaskScores::Raw, MaskScores::Logits]),
        ) {
            let values: Vec<f64> = elements.iter().map(|e| f64::from(e.0) / 8.0).collect();
            let truth: Vec<bool> = elements.iter().map(|e| e.1).collect();
            let shape = measured(&values, scores, &truth);
            let value = |v: f64| if scores == MaskScores::Logits { functions::sigmoid(v) } else { v.abs() };
            let mut sizes: Vec<f64> = values.iter().map(|&v| value(v)).collect();
            let true_mass: f64 = sizes.iter().zip(&truth).filter(|(_, t)| **t).map(|(a, _)| a).sum();
            prop_assert!(close(shape.true_mass.value(), true_mass));
            sizes.sort_by(f64::total_cmp);
            let n = sizes.len() as f64;
            let gini: f64 = (1..).zip(&sizes).map(|(i, a)| (2.0 * f64::from(i) - n - 1.0) * a).sum();
            prop_assert!(close(shape.gini.value(), gini), "{} {gini}", shape.gini.value());
            prop_assert!(close(shape.mass.value(), sizes.iter().sum()));
            let logs = sizes.iter().filter(|a| **a > 0.0).map(|a| a * functions::ln(*a)).sum();
            prop_assert!(close(shape.mass_log.value(), logs));
            let zeros = if scores == MaskScores::Logits { 0 } else { values.iter().filter(|v| v.abs() <= 0.0).count() };
            prop_assert_eq!(shape.zeros, zeros as u64);
        }

        #[test]
        fn the_sigmoid_is_right_to_forty_eight_bits(v in -700.0f64..700.0) {
            let mut ours = [v];
            sigmoid(&mut ours);
            let exact = functions::sigmoid(v);
            prop_assert!((ours[0] - exact).abs() <= exact * 4e-15, "{v}");
        }
    }

    #[test]
    fn huge_and_tiny_masks_have_the_same_shape() {
        let (huge, tiny) = ([1e308, 1.5e308, 0.0], [1e-320, 1.5e-320, 0.0]);
        let truth = [true, false, false];
        let share = |values: &[f64]| {
            let shape = measured(values, MaskScores::Raw, &truth);
            let mass = shape.mass.value();
            assert!(mass.is_finite() && shape.mass_log.value().is_finite());
            (shape.gini.value() / mass, functions::ln(mass) - shape.mass_log.value() / mass)
        };
        let ((a, b), (c, d)) = (share(&huge), share(&tiny));
        assert!((a - c).abs() < 1e-3 && (b - d).abs() < 1e-3);
    }

    #[test]
    fn logits_far_below_zero_have_the_shape_of_their_exponentials() {
        let truth = [true, false, false, false];
        let share = |top: f64| {
            let shape = measured(&[top, top - 1.0, top - 2.0, top - 900.0], MaskScores::Logits, &truth);
            let mass = shape.mass.value();
            [shape.gini.value(), shape.mass_log.value() - mass * functions::ln(mass), shape.true_mass.value()]
                .map(|sum| sum / mass)
        };
        let expected = share(-90.0);
        assert!(expected[2] > 0.6);
        for top in [-99.0, -101.0, -800.0, -1e9] {
            for (found, expected) in share(top).into_iter().zip(expected) {
                assert!(close(found, expected), "{top}: {found} is not {expected}");
            }
        }
    }
}
