//! Preset `pyg`: what one call of the published code returns, in its own precision.

mod single_kernel;
pub(super) mod slices;

use std::borrow::Cow;

use calipers_core::exact::exact_sum;
use calipers_core::functions::{self, lanes};
use calipers_core::{ExactSum, stop};
use half::{bf16, f16};

use crate::explanation::faithfulness::row_kernel::{ratio_terms, shares, softmax};
use crate::explanation::fidelity::instances::Instances;
use crate::explanation::fidelity::predictions::{Given, Holds, Predictions, Y_HAT};
use crate::explanation::mask::layout::{ASKED, Values};
use crate::explanation::mask::shape::sigmoid;
use crate::explanation::mask::threshold::all;
use crate::explanation::protocol::{Explanation, Scores, Task};
use crate::explanation::row::{Confusion, CurveRow, Flips, Precision, PublishedKl};
use calipers_core::NumberSlice;

/// How many scores are looked at together.
const BLOCK: usize = 640;

impl Precision {
    /// The type in which the published code computes with this array; whole numbers become f32.
    pub fn of(data: NumberSlice<'_>) -> Self {
        match data {
            NumberSlice::F16(_) => Self::Half,
            NumberSlice::BF16(_) => Self::Brain,
            NumberSlice::F32(_) | NumberSlice::Int(_) | NumberSlice::Bool(_) => Self::Single,
            NumberSlice::F64(_) => Self::Double,
        }
    }

    /// The type of a result of two arrays.
    pub fn promoted(a: NumberSlice<'_>, b: NumberSlice<'_>) -> Self {
        match (Self::of(a), Self::of(b)) {
            (Self::Double, _) | (_, Self::Double) => Self::Double,
            (a, b) if a == b => a,
            _ => Self::Single,
        }
    }

    /// The nearest number of the type.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::Half => f64::from(f16::from_f64(value)),
            Self::Brain => f64::from(bf16::from_f64(value)),
            Self::Single => f64::from(value as f32),
            Self::Double => value,
        }
    }
}

/// fid of type model: 1 - mean of equal labels, in f32.
pub fn model_fidelity(flips: &Flips, instances: u64) -> Option<f64> {
    let equal = (instances - flips.changed) as f32;
    (instances > 0).then(|| f64::from(1.0 - equal / instances as f32))
}

/// fid of type phenomenon: the mean of differing answers, in f32.
pub fn phenomenon_fidelity(flips: &Flips, instances: u64) -> Option<f64> {
    let truth = flips.truth.unwrap_or_default();
    (instances > 0).then(|| f64::from((truth.lost + truth.gained) as f32 / instances as f32))
}

/// A quotient of counts in f32, 0 for 0/0.
pub fn ratio(numerator: u64, divisor: u64) -> f64 {
    if divisor == 0 { 0.0 } else { f64::from(numerator as f32 / divisor as f32) }
}

/// The area under the ROC curve in f32, 0 where only one class occurs.
pub fn auroc(confusion: &Confusion, twice: u128) -> f64 {
    let pairs = 2 * u128::from(confusion.positives()) * u128::from(confusion.negatives());
    if pairs == 0 { 0.0 } else { f64::from((twice as f64 / pairs as f64) as f32) }
}

/// Whether the published code takes a mask for logits: a value lies outside [0, 1].
pub fn takes_for_logits(mask: NumberSlice<'_>) -> bool {
    !all(mask, |value| (0.0..=1.0).contains(&value))
}

/// The sigmoid of a mask, rounded to its type.
pub(crate) fn sigmoids(mask: NumberSlice<'_>, values: &Values<'_>) -> Values<'static> {
    let precision = Precision::of(mask);
    match values {
        Values::Double(values) => {
            let mut out = Vec::with_capacity(values.len());
            for values in values.chunks(BLOCK) {
                if stop::asked() {
                    break;
                }
                out.extend(values.iter().map(|&value| functions::sigmoid(value)));
            }
            out.resize(values.len(), 0.0);
            Values::Double(Cow::Owned(out))
        }
        Values::Single(values) => {
            let mut out = Vec::with_capacity(values.len());
            let mut block = Vec::new();
            for values in values.chunks(BLOCK) {
                block.clear();
                block.extend(values.iter().map(|&value| f64::from(value)));
                sigmoid(&mut block);
                out.extend(block.iter().map(|&value| precision.round(value) as f32));
            }
            Values::Single(Cow::Owned(out))
        }
    }
}

/// 1/((1/p) w+ + (1/(1-n)) w-), every step rounded to the type; `None` for NaN.
pub fn characterization(
    precision: Precision,
    pos: f64,
    neg: f64,
    pos_weight: f64,
    neg_weight: f64,
) -> Option<f64> {
    let round = |value: f64| precision.round(value);
    let first = round(round(1.0 / pos) * round(pos_weight));
    let second = round(round(1.0 / round(1.0 - neg)) * round(neg_weight));
    let score = round(1.0 / round(first + second));
    (!score.is_nan()).then_some(score)
}

/// The area under a curve whose heights are rounded to the type.
pub(crate) fn area(curve: &CurveRow, x: &[f64]) -> f64 {
    let round = |value: f64| curve.precision.round(value);
    let height = |point: usize| round(curve.pos[point] / round(1.0 - curve.neg[point]));
    let slice = |point: usize| (x[point + 1] - x[point]) * (height(point + 1) + height(point)) / 2.0;
    exact_sum((0..x.len().saturating_sub(1)).map(slice))
}

/// 1 - exp(-KL) of the batch; `None` for NaN.
pub fn unfaithfulness(kl: &PublishedKl, instances: u64) -> Option<f64> {
    if instances == 0 || kl.nan {
        return None;
    }
    if kl.infinite {
        return Some(1.0);
    }
    Some(1.0 - kl.precision.round(functions::exp(-kl.sum.value() / instances as f64)))
}

/// What the published code sums over instances and classes; `None` without scores on both sides.
pub(crate) fn kl(protocol: &Explanation, given: &Given<'_>, instances: &Instances) -> Option<PublishedKl> {
    let scored = |key| given.get(key).filter(|array| array.holds == Holds::Scores);
    let (hat, sub) = (scored(Y_HAT)?, scored("y_sub")?);
    let scores = protocol.scores?;
    let flat = protocol.task == Task::Binary && !hat.has_columns;
    Some(kl_of(scores, hat, sub, instances, flat))
}

/// The published KL of `[N, C]` scores; of `[N]` ones with no columns, which the code softmaxes
/// over the instances.
pub fn kl_sum(
    scores: Scores,
    y_hat: NumberSlice<'_>,
    y_sub: NumberSlice<'_>,
    columns: Option<usize>,
) -> PublishedKl {
    let short = match (scores, y_hat, y_sub) {
        (Scores::Logits, NumberSlice::F32(p), NumberSlice::F32(q)) => kl_of_logits(p, q, columns),
        (Scores::Probs, NumberSlice::F32(p), NumberSlice::F32(q)) => kl_of_probabilities(p, q, columns),
        _ => None,
    };
    short.unwrap_or_else(|| kl_sum_by_steps(scores, y_hat, y_sub, columns))
}

/// The same of f32 logits; `None` where their probabilities may vanish.
pub fn kl_of_logits(y_hat: &[f32], y_sub: &[f32], columns: Option<usize>) -> Option<PublishedKl> {
    let columns = columns.unwrap_or(y_hat.len()).max(1);
    single_kernel::divergence(y_hat, y_sub, columns).map(single)
}

/// The same of f32 probabilities; `None` where one is 0 or no usual number.
fn kl_of_probabilities(y_hat: &[f32], y_sub: &[f32], columns: Option<usize>) -> Option<PublishedKl> {
    let columns = columns.unwrap_or(y_hat.len()).max(1);
    single_kernel::divergence_of_probabilities(y_hat, y_sub, columns).map(single)
}

/// A sum of finite divergences of f32 scores.
fn single(sum: ExactSum) -> PublishedKl {
    PublishedKl { sum: sum.into(), infinite: false, nan: false, precision: Precision::Single }
}

/// The same by softmax, quotient and logarithm, for scores of any type and size.
pub(crate) fn kl_sum_by_steps(
    scores: Scores,
    y_hat: NumberSlice<'_>,
    y_sub: NumberSlice<'_>,
    columns: Option<usize>,
) -> PublishedKl {
    let width = columns.unwrap_or(1).max(1);
    let hat = Predictions {
        key: Y_HAT,
        holds: Holds::Scores,
        data: y_hat,
        leads: 1,
        instances: y_hat.len() / width,
        columns: width,
        has_columns: columns.is_some(),
    };
    let sub = Predictions { data: y_sub, ..hat };
    kl_of(scores, &hat, &sub, &Instances::All(hat.instances), columns.is_none())
}

fn kl_of(
    scores: Scores,
    hat: &Predictions<'_>,
    sub: &Predictions<'_>,
    instances: &Instances,
    flat: bool,
) -> PublishedKl {
    let columns = if flat { instances.len().max(1) } else { hat.columns };
    let step = if flat { instances.len().max(1) } else { (BLOCK / columns).max(1) };
    let (mut p, mut q) = (Side::new(scores, hat.data, columns), Side::new(scores, sub.data, columns));
    let mut kl = PublishedKl {
        sum: Default::default(),
        infinite: false,
        nan: false,
        precision: Precision::promoted(hat.data, sub.data),
    };
    let mut sum = ExactSum::new();
    let (mut unused, mut rows) = (Vec::new(), Vec::new());
    for (block, start) in (0..instances.len()).step_by(step).enumerate() {
        if block.is_multiple_of(ASKED) && stop::asked() {
            break;
        }
        let range = start..instances.len().min(start + step);
        instances.widen(hat, range.clone(), &mut p.values);
        instances.widen(sub, range, &mut q.values);
        p.soften();
        q.soften();
        let possible = |(&a, &b): (&f64, &f64)| (a >= 0.0) & (b >= 0.0) & ((a > 0.0) | (b > 0.0));
        kl.nan |= !p.values.iter().zip(&q.values).fold(true, |all, pair| all & possible(pair));
        unused.resize(p.values.len() / columns, 0.0);
        rows.resize(p.values.len() / columns, 0.0);
        ratio_terms([&p.values, &q.values], columns, [&mut unused, &mut rows]);
        kl.infinite |= rows.iter().any(|row: &f64| row.is_infinite());
        if !kl.nan && !kl.infinite {
            sum.add_slice(&rows);
        }
    }
    if !kl.nan && !kl.infinite {
        kl.sum = sum.into();
    }
    kl
}

/// One side's probabilities as the code has them, a block at a time.
struct Side {
    scores: Scores,
    precision: Precision,
    columns: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
    totals: Vec<f64>,
}

impl Side {
    fn new(scores: Scores, data: NumberSlice<'_>, columns: usize) -> Self {
        let (values, weights, totals) = Default::default();
        Self { scores, precision: Precision::of(data), columns, values, weights, totals }
    }

    /// Scores become probabilities, rounded to the array's type.
    fn soften(&mut self) {
        let single = self.precision == Precision::Single;
        match self.scores {
            // Already numbers of the type.
            Scores::Probs => return,
            Scores::LogProbs => self.values.iter_mut().for_each(|value| *value = lanes::exp(*value)),
            Scores::Logits => {
                self.weights.resize(self.values.len(), 0.0);
                self.totals.resize(self.values.len() / self.columns, 0.0);
                softmax(&mut self.values, self.columns, &mut self.weights, &mut self.totals);
                shares(&self.weights, self.columns, &self.totals, single, &mut self.values);
            }
        }
        let precision = self.precision;
        if !(single && self.scores == Scores::Logits) {
            self.values.iter_mut().for_each(|value| *value = precision.round(*value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_thirds_is_the_nearest_f32() {
        assert_eq!(ratio(2, 3).to_bits(), 0.666_666_686_534_881_6f64.to_bits());
        assert_eq!(ratio(0, 0).to_bits(), 0);
    }

    #[test]
    fn the_published_characterization_is_reciprocal_times_weight() {
        let score =
            |pos, neg| characterization(Precision::Single, pos, neg, f64::from(0.2f32), f64::from(0.8f32));
        let (pos, neg) = (f64::from(0.6f32), f64::from(0.2f32));
        assert_eq!(score(pos, neg).map(f64::to_bits), Some(0.75f64.to_bits()));
        assert_eq!(characterization(Precision::Double, 0.0, 0.5, 0.0, 1.0), None);
    }

    #[test]
    fn binary_scores_without_columns_are_softmaxed_over_the_instances() {
        let (p, q) = ([0.5f32, -1.0], [1.5f32, 2.0]);
        let column = kl_sum(Scores::Logits, NumberSlice::F32(&p), NumberSlice::F32(&q), Some(1));
        assert_eq!(unfaithfulness(&column, 2).map(f64::to_bits), Some(0));
        let flat = kl_sum(Scores::Logits, NumberSlice::F32(&p), NumberSlice::F32(&q), None);
        assert!(unfaithfulness(&flat, 2).unwrap() > 0.1);
    }

    #[test]
    fn a_class_without_probability_on_both_sides_is_nan() {
        let row = [0.0f32, 200.0, 0.0];
        let kl = kl_sum(Scores::Logits, NumberSlice::F32(&row), NumberSlice::F32(&row), Some(3));
        assert_eq!(unfaithfulness(&kl, 1), None);
    }
}
