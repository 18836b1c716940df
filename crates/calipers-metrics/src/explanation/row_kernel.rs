//! Short loops over the rows of a block of scores, eight classes side by side.

use calipers_core::functions::lanes;
use multiversion::multiversion;

const LANES: usize = 8;

/// What a row of scores looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Survey {
    /// The smallest value.
    pub(super) low: f64,
    /// The largest value.
    pub(super) high: f64,
    /// What all add up to.
    pub(super) sum: f64,
    /// How often the largest value occurs.
    pub(super) ties: usize,
    /// Whether a value is NaN or +inf.
    pub(super) unusable: bool,
}

/// Surveys every row of `columns` values.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn survey(values: &[f64], columns: usize, surveys: &mut Vec<Survey>) {
    surveys.clear();
    for row in values.chunks_exact(columns) {
        let (groups, rest) = row.as_chunks::<LANES>();
        let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let (mut sum, mut usable) = ([0.0; LANES], [true; LANES]);
        for group in groups {
            for lane in 0..LANES {
                let value = group[lane];
                low[lane] = if value < low[lane] { value } else { low[lane] };
                high[lane] = if value > high[lane] { value } else { high[lane] };
                sum[lane] += value;
                usable[lane] &= value < f64::INFINITY;
            }
        }
        let mut all = Survey {
            low: low.into_iter().fold(f64::INFINITY, f64::min),
            high: high.into_iter().fold(f64::NEG_INFINITY, f64::max),
            sum: added(sum),
            ties: 0,
            unusable: usable != [true; LANES],
        };
        for &value in rest {
            all.low = all.low.min(value);
            all.high = all.high.max(value);
            all.sum += value;
            all.unusable |= value.is_nan() || value >= f64::INFINITY;
        }
        all.ties = row.iter().map(|&value| usize::from(value >= all.high)).sum();
        surveys.push(all);
    }
}

/// Logarithms relative to the largest of each row, their exponentials, and what those add up to.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn softmax(values: &mut [f64], columns: usize, weights: &mut [f64], totals: &mut [f64]) {
    if !columns.is_multiple_of(LANES) {
        for row in values.chunks_exact_mut(columns) {
            let top = largest(row);
            row.iter_mut().for_each(|value| *value -= top);
        }
        // All rows at once, since single ones do not fill the lanes.
        for (weight, value) in weights.iter_mut().zip(&*values) {
            *weight = lanes::exp(*value);
        }
        for (total, row) in totals.iter_mut().zip(weights.chunks_exact(columns)) {
            *total = sum_of(row);
        }
        return;
    }
    let rows = values.chunks_exact_mut(columns).zip(weights.chunks_exact_mut(columns));
    for ((values, weights), total) in rows.zip(totals) {
        let top = largest(values);
        let mut sum = [0.0; LANES];
        let (values, _) = values.as_chunks_mut::<LANES>();
        let (weights, _) = weights.as_chunks_mut::<LANES>();
        for (values, weights) in values.iter_mut().zip(weights) {
            for lane in 0..LANES {
                values[lane] -= top;
                weights[lane] = lanes::exp(values[lane]);
                sum[lane] += weights[lane];
            }
        }
        *total = added(sum);
    }
}

/// What every row adds up to; returns whether some value lies between 0 and [`TINY`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn row_sums(values: &[f64], columns: usize, totals: &mut [f64]) -> bool {
    for (total, row) in totals.iter_mut().zip(values.chunks_exact(columns)) {
        *total = sum_of(row);
    }
    values.iter().fold(false, |any, &value| any | ((value > 0.0) & (value < TINY)))
}

#[inline(always)]
fn largest(row: &[f64]) -> f64 {
    let (groups, rest) = row.as_chunks::<LANES>();
    let mut high = [f64::NEG_INFINITY; LANES];
    for group in groups {
        for lane in 0..LANES {
            high[lane] = if group[lane] > high[lane] { group[lane] } else { high[lane] };
        }
    }
    high.iter().chain(rest).fold(f64::NEG_INFINITY, |top, &value| if value > top { value } else { top })
}

#[inline(always)]
fn sum_of(row: &[f64]) -> f64 {
    let (groups, rest) = row.as_chunks::<LANES>();
    let mut sum = [0.0; LANES];
    for group in groups {
        for lane in 0..LANES {
            sum[lane] += group[lane];
        }
    }
    rest.iter().fold(added(sum), |sum, value| sum + value)
}

/// For every row the sums over classes of p ln(p/q) and q ln(q/p), before p and q are normalised,
/// from logarithms and weights of both; infinite where one has no weight and the other has some.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn cross_terms(
    [p, q]: [&[f64]; 2],
    [p_logs, q_logs]: [&[f64]; 2],
    columns: usize,
    [forward, reversed]: [&mut [f64]; 2],
) {
    let rows = p.chunks_exact(columns).zip(q.chunks_exact(columns));
    let logs = p_logs.chunks_exact(columns).zip(q_logs.chunks_exact(columns));
    let out = forward.iter_mut().zip(reversed.iter_mut());
    for (((p, q), (p_logs, q_logs)), (forward, reversed)) in rows.zip(logs).zip(out) {
        let ((ps, p), (qs, q)) = (p.as_chunks::<LANES>(), q.as_chunks::<LANES>());
        let ((ps_logs, p_logs), (qs_logs, q_logs)) =
            (p_logs.as_chunks::<LANES>(), q_logs.as_chunks::<LANES>());
        let (mut there, mut back) = ([0.0; LANES], [0.0; LANES]);
        for group in 0..ps.len() {
            for lane in 0..LANES {
                let (a, b) = (ps_logs[group][lane], qs_logs[group][lane]);
                there[lane] += term(ps[group][lane], a, b);
                back[lane] += term(qs[group][lane], b, a);
            }
        }
        *forward = added(there);
        *reversed = added(back);
        for class in 0..p.len() {
            *forward += term(p[class], p_logs[class], q_logs[class]);
            *reversed += term(q[class], q_logs[class], p_logs[class]);
        }
    }
}

/// weight * (log - other): 0 without weight, infinite where only the other logarithm is -inf, also
/// when the weight itself is too small for an f64.
#[inline(always)]
fn term(weight: f64, log: f64, other: f64) -> f64 {
    let difference = if other > f64::NEG_INFINITY { log - other } else { f64::INFINITY };
    let present = if weight > f64::MIN_POSITIVE { weight } else { f64::MIN_POSITIVE };
    if log > f64::NEG_INFINITY { present * difference } else { 0.0 }
}

/// The same from weights alone, none of which lies between 0 and [`TINY`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn ratio_terms([p, q]: [&[f64]; 2], columns: usize, [forward, reversed]: [&mut [f64]; 2]) {
    let rows = p.chunks_exact(columns).zip(q.chunks_exact(columns));
    for ((p, q), (forward, reversed)) in rows.zip(forward.iter_mut().zip(reversed.iter_mut())) {
        let ((ps, p), (qs, q)) = (p.as_chunks::<LANES>(), q.as_chunks::<LANES>());
        let (mut there, mut back) = ([0.0; LANES], [0.0; LANES]);
        for (p, q) in ps.iter().zip(qs) {
            for lane in 0..LANES {
                let (a, b) = pair(p[lane], q[lane]);
                there[lane] += a;
                back[lane] += b;
            }
        }
        (*forward, *reversed) = (added(there), added(back));
        for (p, q) in p.iter().zip(q) {
            let (a, b) = pair(*p, *q);
            *forward += a;
            *reversed += b;
        }
    }
}

/// Weights below this have quotients that an f64 may not hold.
pub(super) const TINY: f64 = 1e-290;

/// p ln(p/q) and q ln(q/p).
#[inline(always)]
fn pair(p: f64, q: f64) -> (f64, f64) {
    let log = lanes::ln(p / q);
    let log = if q > 0.0 { log } else { f64::INFINITY };
    (if p > 0.0 { p * log } else { 0.0 }, if q > 0.0 { -(q * log) } else { 0.0 })
}

/// Weights divided by their totals, rounded to f32 if asked to.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn shares(weights: &[f64], columns: usize, totals: &[f64], single: bool, out: &mut [f64]) {
    let rows = weights.chunks_exact(columns).zip(out.chunks_exact_mut(columns));
    for ((weights, out), total) in rows.zip(totals) {
        let factor = 1.0 / total;
        for (out, weight) in out.iter_mut().zip(weights) {
            let share = weight * factor;
            *out = if single { f64::from(share as f32) } else { share };
        }
    }
}

/// Natural logarithms; -inf for 0.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn logarithms(values: &[f64], logs: &mut [f64]) {
    for (log, value) in logs.iter_mut().zip(values) {
        *log = lanes::ln(*value);
    }
}

/// 1 - e^-x of numbers that are not negative, without losing the digits of small ones.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn saturate(values: &mut [f64]) {
    for value in values {
        let x = *value;
        let small = if x < 0.25 { x } else { 0.25 };
        // 1 - e^-x = x (1 - x/2 (1 - x/3 (...))); what is left out is below 0.25^13/13!.
        let mut series = 1.0;
        for k in (2..=13u32).rev() {
            series = 1.0 - small * series * RECIPROCALS[k as usize];
        }
        *value = if x < 0.25 { small * series } else { 1.0 - lanes::exp(-x) };
    }
}

const RECIPROCALS: [f64; 14] = {
    let mut all = [1.0; 14];
    let mut k = 1;
    while k < all.len() {
        all[k] = 1.0 / k as f64;
        k += 1;
    }
    all
};

#[inline(always)]
fn added(sums: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use calipers_core::functions;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quotients_and_logarithms_give_the_same_terms(
            pairs in prop::collection::vec((0u32..5, 0u32..5), 1..30),
        ) {
            let p: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.0) / 8.0).collect();
            let q: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.1) / 8.0).collect();
            let (mut p_logs, mut q_logs) = (p.clone(), q.clone());
            logarithms(&p, &mut p_logs);
            logarithms(&q, &mut q_logs);
            let ([mut a], [mut b], [mut c], [mut d]) = ([0.0], [0.0], [0.0], [0.0]);
            let one = std::slice::from_mut::<f64>;
            cross_terms([&p, &q], [&p_logs, &q_logs], p.len(), [one(&mut a), one(&mut b)]);
            ratio_terms([&p, &q], p.len(), [one(&mut c), one(&mut d)]);
            for (a, b) in [(a, c), (b, d)] {
                prop_assert!((a - b).abs() < 1e-13 || (a.is_infinite() && b.is_infinite()), "{a} {b}");
            }
        }

        #[test]
        fn small_saturations_keep_their_digits(exponent in -300.0f64..3.0) {
            let x = 10f64.powf(exponent);
            let mut ours = [x];
            saturate(&mut ours);
            let series = x - x * x / 2.0 + x * x * x / 6.0;
            let exact = if x < 1e-6 { series } else { 1.0 - functions::exp(-x) };
            prop_assert!((ours[0] - exact).abs() <= 1e-15 + if x < 1e-6 { 4e-16 * x } else { 0.0 }, "{x}");
        }

        #[test]
        fn a_survey_sees_what_a_plain_loop_sees(row in prop::collection::vec(-4i32..5, 1..40)) {
            let values: Vec<f64> = row.iter().map(|&v| f64::from(v) / 2.0).collect();
            let mut surveys = Vec::new();
            survey(&values, values.len(), &mut surveys);
            let high = row.iter().max().unwrap();
            prop_assert_eq!(surveys[0], Survey {
                low: f64::from(*row.iter().min().unwrap()) / 2.0,
                high: f64::from(*high) / 2.0,
                sum: f64::from(row.iter().sum::<i32>()) / 2.0,
                ties: row.iter().filter(|v| *v == high).count(),
                unusable: false,
            });
        }
    }

    #[test]
    fn nan_and_infinity_are_unusable_anywhere_and_minus_infinity_is_not() {
        for place in 0..11 {
            for (odd, unusable) in [(f64::NAN, true), (f64::INFINITY, true), (f64::NEG_INFINITY, false)] {
                let mut values = [0.5; 11];
                values[place] = odd;
                let mut surveys = Vec::new();
                survey(&values, 11, &mut surveys);
                assert_eq!(surveys[0].unusable, unusable, "{odd} at {place}");
            }
        }
    }

    #[test]
    fn rows_that_fill_the_lanes_give_the_bits_of_any_other_row() {
        let row: Vec<f64> = (0..16).map(|k| f64::from(k * k % 7) / 3.0).collect();
        let padded: Vec<f64> = row.iter().copied().chain([f64::NEG_INFINITY]).collect();
        let run = |row: &[f64]| {
            let (mut values, mut weights, mut total) = (row.to_vec(), vec![0.0; row.len()], [0.0]);
            softmax(&mut values, row.len(), &mut weights, &mut total);
            let bits = |values: &[f64]| values[..16].iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            (bits(&values), bits(&weights), total[0].to_bits())
        };
        assert_eq!(run(&row), run(&padded));
    }

    #[test]
    fn saturation_ends_at_zero_and_one() {
        let mut values = [0.0, f64::INFINITY, 1e308, 0.25];
        saturate(&mut values);
        assert_eq!(
            values[..3].iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            [0, 1f64.to_bits(), 1f64.to_bits()]
        );
        assert!((values[3] - (1.0 - functions::exp(-0.25))).abs() < 2e-16);
    }
}
