//! The divergence of f32 scores in f32, as the published code computes it, without its temporaries.
//!
//! Of logits: with z the largest logit of a row taken off and Z = Σ e^z, Σ q ln(q/p) is
//! Σ e^zq (zq - zp) / Zq - ln Zq + ln Zp: two exponentials a class and two logarithms a row.
//! Of probabilities: one logarithm of a quotient per class, with a single division.

use calipers_core::functions::lanes;
use calipers_core::{ExactSum, stop};
use multiversion::multiversion;

use crate::explanation::mask::layout::ASKED;

const LANES: usize = 8;
/// How many rows are finished together.
const ROWS: usize = 64;
/// Logits of a row that lie further apart have probabilities an f32 may not hold.
const REACH: f32 = 80.0;

/// Probabilities outside are left to the long way: zeros, of which the published code makes
/// infinity and NaN, and what an f32 holds with fewer digits.
const PROBABILITIES: std::ops::RangeInclusive<f32> = 1e-30..=1e30;

/// What KL(q ‖ p) of the softmaxes of the rows adds up to; `None` where a logit is not finite, or
/// probabilities may vanish and the published code then divides by 0.
pub(crate) fn divergence(p: &[f32], q: &[f32], columns: usize) -> Option<ExactSum> {
    summed(p, q, columns, row_divergences)
}

/// What KL(q ‖ p) of rows of probabilities adds up to; `None` where one of them is no usual number.
pub(crate) fn divergence_of_probabilities(p: &[f32], q: &[f32], columns: usize) -> Option<ExactSum> {
    let mut terms = vec![0.0; p.len().min(ROWS * columns)];
    summed(p, q, columns, |p, q, columns, out| {
        row_divergences_of_probabilities(p, q, columns, &mut terms[..p.len()], out)
    })
}

/// What the rows of a kernel add up to; `None` where it refuses some.
fn summed(
    p: &[f32],
    q: &[f32],
    columns: usize,
    mut kernel: impl FnMut(&[f32], &[f32], usize, &mut [f64]) -> bool,
) -> Option<ExactSum> {
    let mut sum = ExactSum::new();
    let mut rows = [0.0; ROWS];
    let block = ROWS * columns;
    for (position, (p, q)) in p.chunks(block).zip(q.chunks(block)).enumerate() {
        if position.is_multiple_of(ASKED) && stop::asked() {
            break;
        }
        let rows = &mut rows[..p.len() / columns];
        if !kernel(p, q, columns, rows) {
            return None;
        }
        sum.add_slice(rows);
    }
    Some(sum)
}

/// KL(q ‖ p) of at most [`ROWS`] rows; `false` where one cannot be computed this way.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn row_divergences(p: &[f32], q: &[f32], columns: usize, out: &mut [f64]) -> bool {
    let (mut p_totals, mut q_totals) = ([1.0; ROWS], [1.0; ROWS]);
    for (row, (p, q)) in p.chunks_exact(columns).zip(q.chunks_exact(columns)).enumerate() {
        let ([p_low, p_top], [q_low, q_top]) = (ends(p), ends(q));
        // Not the other way round: a NaN must fail.
        if !(p_top - p_low < REACH && q_top - q_low < REACH) {
            return false;
        }
        let ((ps, p), (qs, q)) = (p.as_chunks::<LANES>(), q.as_chunks::<LANES>());
        let (mut p_sum, mut q_sum, mut cross) = ([0.0f32; LANES], [0.0f32; LANES], [0.0f32; LANES]);
        for (p, q) in ps.iter().zip(qs) {
            for lane in 0..LANES {
                let (p, q) = (p[lane] - p_top, q[lane] - q_top);
                let weight = exp(q);
                p_sum[lane] += exp(p);
                q_sum[lane] += weight;
                cross[lane] += weight * (q - p);
            }
        }
        let [mut p_total, mut q_total, mut crossed] =
            [p_sum, q_sum, cross].map(|lanes| f64::from(folded(lanes, |a, b| a + b)));
        for (p, q) in p.iter().zip(q) {
            let (p, q) = (p - p_top, q - q_top);
            let weight = exp(q);
            p_total += f64::from(exp(p));
            q_total += f64::from(weight);
            crossed += f64::from(weight * (q - p));
        }
        (p_totals[row], q_totals[row]) = (p_total, q_total);
        out[row] = crossed / q_total;
    }
    for (row, value) in out.iter_mut().enumerate() {
        *value += lanes::ln(p_totals[row]) - lanes::ln(q_totals[row]);
    }
    true
}

/// KL(q ‖ p) of rows of probabilities; `false` where one cannot be computed this way. `terms` is room
/// for those of all rows, since single rows do not fill the lanes.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn row_divergences_of_probabilities(
    p: &[f32],
    q: &[f32],
    columns: usize,
    terms: &mut [f32],
    out: &mut [f64],
) -> bool {
    if !(usual(p) && usual(q)) {
        return false;
    }
    for ((term, &p), &q) in terms.iter_mut().zip(p).zip(q) {
        *term = q * ln_of_quotient(q, p);
    }
    for (row, out) in terms.chunks_exact(columns).zip(out) {
        let (groups, rest) = row.as_chunks::<LANES>();
        let mut sum = [0.0f32; LANES];
        for group in groups {
            for lane in 0..LANES {
                sum[lane] += group[lane];
            }
        }
        let rest: f64 = rest.iter().map(|&term| f64::from(term)).sum();
        *out = f64::from(folded(sum, |a, b| a + b)) + rest;
    }
    true
}

/// Whether all values are [usual](PROBABILITIES) ones. The bits of positive numbers, read as whole
/// numbers, are in their order, and those of all others lie above.
#[inline(always)]
fn usual(values: &[f32]) -> bool {
    let (low, high) = (PROBABILITIES.start().to_bits(), PROBABILITIES.end().to_bits());
    let outside = |value: &f32| u32::from(value.to_bits().wrapping_sub(low) > high - low);
    values.iter().fold(0, |any, value| any | outside(value)) == 0
}

/// The smallest and the largest value; NaN when one is.
#[inline(always)]
fn ends(row: &[f32]) -> [f32; 2] {
    let (groups, rest) = row.as_chunks::<LANES>();
    let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let mut poison = [0.0; LANES];
    for group in groups {
        for lane in 0..LANES {
            let value = group[lane];
            (low[lane], high[lane]) = (lower(low[lane], value), higher(high[lane], value));
            poison[lane] += value * 0.0;
        }
    }
    let (low, high, poison) = (folded(low, lower), folded(high, higher), folded(poison, |a, b| a + b));
    let (low, high, poison) = rest.iter().fold((low, high, poison), |(low, high, poison), &value| {
        (lower(low, value), higher(high, value), poison + value * 0.0)
    });
    [low + poison, high + poison]
}

#[inline(always)]
fn lower(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

#[inline(always)]
fn higher(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// All lanes put together, halves first.
#[inline(always)]
fn folded(lanes: [f32; LANES], of: impl Fn(f32, f32) -> f32) -> f32 {
    let four: [f32; 4] = std::array::from_fn(|lane| of(lanes[lane], lanes[lane + 4]));
    of(of(four[0], four[2]), of(four[1], four[3]))
}

/// e^x for x in (-87, 0], relative error below 2^-22.
///
/// With x = n ln 2 + r and |r| <= 0.3466, the Taylor polynomial of degree 7 leaves 6e-9.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// 1.5 * 2^23: adding it rounds to a whole number, which then stands in the low bits.
    const ROUNDING: f32 = 12_582_912.0;
    /// The first bits of ln 2, so that products with whole exponents are exact, and the rest.
    const LN_2_HIGH: f32 = f32::from_bits(0x3f31_8000);
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let n = shifted - ROUNDING;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut sum = 1.0 / 5040.0;
    for reciprocal in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * r + reciprocal;
    }
    sum * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// ln(a/b) of [usual](PROBABILITIES) numbers, relative error below 2^-21.
///
/// The bits of a float, read as a whole number, grow by 2^23 when the float doubles: their
/// difference tells the n for which c = 2^n b lies nearest to a, within a factor of 1.5. With
/// f = (a - c)/(a + c), of which |f| <= 0.2, ln(a/c) = 2 artanh f; five terms leave 1e-8 of it.
#[inline(always)]
fn ln_of_quotient(a: f32, b: f32) -> f32 {
    let difference = a.to_bits().wrapping_sub(b.to_bits()).cast_signed();
    let n = (difference + (1 << 22)) >> 23;
    let c = f32::from_bits(b.to_bits().wrapping_add((n << 23).cast_unsigned()));
    let f = (a - c) / (a + c);
    let square = f * f;
    let mut sum = 1.0 / 9.0;
    for reciprocal in [1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0] {
        sum = sum * square + reciprocal;
    }
    n as f32 * std::f32::consts::LN_2 + 2.0 * f * sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explanation::protocol::Scores;
    use crate::explanation::published::kl_sum_by_steps;
    use calipers_core::NumberSlice;

    fn rows(columns: usize) -> impl Strategy<Value = [Vec<f32>; 2]> {
        let logits = move || prop::collection::vec(-38.0f32..38.0, columns..=70 * columns);
        (logits(), logits()).prop_map(move |(mut p, mut q)| {
            let whole = p.len().min(q.len()) / columns * columns;
            p.truncate(whole);
            q.truncate(whole);
            [p, q]
        })
    }

    proptest! {
        #[test]
        fn the_exponential_is_right_to_an_f32(x in -86.9f32..=0.0) {
            let exact = f64::from(x).exp();
            prop_assert!((f64::from(exp(x)) - exact).abs() <= exact * 2f64.powi(-22), "{x}");
        }

        #[test]
        fn the_logarithm_of_a_quotient_is_right_to_an_f32(
            a in -69.0f32..69.0, b in -69.0f32..69.0, near in 0u32..1000,
        ) {
            let (a, b) = (a.exp(), b.exp());
            for b in [b, f32::from_bits(a.to_bits() + near)] {
                let exact = (f64::from(a) / f64::from(b)).ln();
                let ours = f64::from(ln_of_quotient(a, b));
                prop_assert!((ours - exact).abs() <= exact.abs() * 2f64.powi(-21), "{a} {b}");
            }
        }

        #[test]
        fn the_short_way_gives_the_divergence_of_probabilities(
            pairs in prop::collection::vec((1u32..1000, 1u32..1000), 1..300), width in 1usize..50,
        ) {
            let columns = width.min(pairs.len());
            let whole = &pairs[..pairs.len() / columns * columns];
            let (p, q): (Vec<f32>, Vec<f32>) =
                whole.iter().map(|&(p, q)| (p as f32 / 1e4, q as f32 / 1e4)).unzip();
            let exact = kl_sum_by_steps(Scores::Probs, NumberSlice::F32(&p), NumberSlice::F32(&q), Some(columns));
            let ours = divergence_of_probabilities(&p, &q, columns).unwrap().value();
            let exact = exact.sum.value();
            prop_assert!((ours - exact).abs() <= 1e-6 * (1.0 + exact.abs()), "{ours} {exact}");
        }

        #[test]
        fn the_short_way_gives_the_divergence_of_the_softmaxes([p, q] in (1usize..50).prop_flat_map(rows)
            .prop_filter("some rows", |[p, _]| !p.is_empty()), divisor in 1usize..50)
        {
            // Any width that divides the length will do.
            let columns = (1..=divisor).rev().find(|width| p.len() % width == 0).unwrap_or(1);
            let exact = kl_sum_by_steps(Scores::Logits, NumberSlice::F32(&p), NumberSlice::F32(&q), Some(columns));
            let ours = divergence(&p, &q, columns).unwrap().value();
            let exact = exact.sum.value();
            prop_assert!((ours - exact).abs() <= 1e-6 * (1.0 + exact.abs()), "{ours} {exact}");
        }
    }

    #[test]
    fn rows_that_an_f32_softmax_cannot_hold_are_left_to_the_long_way() {
        let calm = [0.0f32; 16];
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 81.0, -1e30] {
            for place in [0, 7, 9, 15] {
                let mut row = calm;
                row[place] = bad;
                assert!(divergence(&row, &calm, 16).is_none() && divergence(&calm, &row, 16).is_none());
            }
        }
        assert_eq!(divergence(&calm, &calm, 16).unwrap().value().to_bits(), 0);
    }
    #[test]
    fn probabilities_that_are_no_usual_numbers_are_left_to_the_long_way() {
        let calm = [0.0625f32; 16];
        for bad in [f32::NAN, f32::INFINITY, 0.0, -0.5, 1e-38] {
            for place in [0, 7, 9, 15] {
                let mut row = calm;
                row[place] = bad;
                let both = [(&row, &calm), (&calm, &row)];
                assert!(both.iter().all(|(p, q)| divergence_of_probabilities(&p[..], &q[..], 16).is_none()));
            }
        }
        assert_eq!(divergence_of_probabilities(&calm, &calm, 16).unwrap().value().to_bits(), 0);
    }
}
