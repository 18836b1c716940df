//! The arithmetic of the fast pass, over the pixels of a block side by side.

use multiversion::multiversion;

use crate::segmentation::probability::fast::exp_f32::{LEAST, ROUNDING, exp2, ln_1p};

/// How many pixels a block has.
pub(crate) const BLOCK: usize = 256;

/// How many pixels are worked on at once: as many as the widest registers hold.
pub(super) const WIDTH: usize = 16;

/// One number for each pixel of a block.
pub(crate) type Pixels = [f32; BLOCK];

/// The true class of a pixel that is not scored.
pub(super) const UNSCORED: i32 = -1;

/// The bits below the point of whole-number sums.
pub(super) const UNIT_BITS: u32 = 30;

/// Where a number below 2^22 must be added so that its bits below 2^-30 are rounded away and the
/// others stand in the low bits.
const GRID: f64 = (1u64 << (52 - UNIT_BITS)) as f64;

/// A surprise of more than this is left to f64.
const MOST_NLL: f32 = 1000.0;

/// 1 + this rounds to 1 as a confidence in single precision.
const SATURATED: f32 = 1.0 / (1u32 << 25) as f32;

/// How logits become bins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The factor on logits: weight over temperature.
    pub(super) scale: f32,
    /// How many bins.
    pub(super) bins: f32,
    /// How far a change of bins lies above its edge.
    pub(super) offset: f32,
    /// A bound on the relative error of a confidence.
    pub(super) error: f32,
}

/// What a block says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The largest logit.
    pub(super) peaks: [f32; BLOCK],
    /// The class with the largest logit.
    pub(super) tops: [i32; BLOCK],
    /// The bin of the confidence; no bin where the pixel does not count here.
    pub(super) bins: [i32; BLOCK],
    /// The confidence in units of 2^-30.
    pub(super) confidences: [u32; BLOCK],
    /// Whether the pixel is left to f64.
    pub(super) unsure: [bool; BLOCK],
    /// The sum of the surprises in units of 2^-30.
    pub(super) nll: u64,
    /// The sum of the Brier terms in units of 2^-30.
    pub(super) brier: u64,
    /// How many confidences round to 1.
    pub(super) saturated: u64,
    /// How many pixels are left to f64.
    pub(super) unsure_pixels: u64,
}

impl Outcome {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self {
            peaks: [0.0; BLOCK],
            tops: [0; BLOCK],
            bins: [0; BLOCK],
            confidences: [0; BLOCK],
            unsure: [false; BLOCK],
            nll: 0,
            brier: 0,
            saturated: 0,
            unsure_pixels: 0,
        }
    }
}

/// Evaluates a block: `rows` has a row of logits for each class, `idle` those of channels that are
/// merely checked. Pixels that are doubtful already are left to f64.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn evaluate(
    rows: &[Pixels],
    idle: &[Pixels],
    truth: &[i32; BLOCK],
    rules: &Rules,
    doubtful: &[bool; BLOCK],
    outcome: &mut Outcome,
) {
    evaluate_anywhere(rows, idle, truth, rules, doubtful, outcome);
}

/// The same on every machine.
#[inline(always)]
fn evaluate_anywhere(
    rows: &[Pixels],
    idle: &[Pixels],
    truth: &[i32; BLOCK],
    rules: &Rules,
    doubtful: &[bool; BLOCK],
    outcome: &mut Outcome,
) {
    (outcome.nll, outcome.brier, outcome.saturated, outcome.unsure_pixels) = (0, 0, 0, 0);
    for from in (0..BLOCK).step_by(WIDTH) {
        evaluate_some(rows, idle, truth, rules, doubtful, outcome, from);
    }
}

/// Decides the classes of a block and does nothing else.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn decide(rows: &[Pixels], idle: &[Pixels], truth: &[i32; BLOCK], outcome: &mut Outcome) {
    outcome.unsure_pixels = 0;
    for from in (0..BLOCK).step_by(WIDTH) {
        let Leaders { peaks, tops, unsure } = leaders(rows, idle, from);
        let truth = some(truth, from);
        for lane in 0..WIDTH {
            let sound = peaks[lane] > f32::NEG_INFINITY && peaks[lane] < f32::INFINITY;
            let unsure = truth[lane] != UNSCORED && (unsure[lane] != 0 || !sound);
            outcome.tops[from + lane] = tops[lane];
            outcome.unsure[from + lane] = unsure;
            outcome.unsure_pixels += u64::from(unsure);
        }
    }
}

/// The largest logits of some pixels, and whose they are.
pub(super) struct Leaders {
    pub(super) peaks: [f32; WIDTH],
    pub(super) tops: [i32; WIDTH],
    /// Not 0 where any number is not allowed, but for infinite peaks. As wide as the numbers, so that
    /// comparisons need not be packed.
    unsure: [i32; WIDTH],
}

#[inline(always)]
pub(super) fn leaders(rows: &[Pixels], idle: &[Pixels], from: usize) -> Leaders {
    let mut peaks = [f32::NEG_INFINITY; WIDTH];
    let mut tops = [0i32; WIDTH];
    let mut unsure = [0i32; WIDTH];
    for (class, row) in rows.iter().enumerate() {
        let logits = some(row, from);
        for lane in 0..WIDTH {
            let above = logits[lane] > peaks[lane];
            peaks[lane] = if above { logits[lane] } else { peaks[lane] };
            tops[lane] = if above { class as i32 } else { tops[lane] };
            unsure[lane] |= i32::from(logits[lane].is_nan());
        }
    }
    for row in idle {
        let logits = some(row, from);
        for lane in 0..WIDTH {
            unsure[lane] |= i32::from(logits[lane].is_nan() | (logits[lane] == f32::INFINITY));
        }
    }
    Leaders { peaks, tops, unsure }
}

#[inline(always)]
pub(super) fn some<T: Copy>(row: &[T; BLOCK], from: usize) -> [T; WIDTH] {
    let mut some = [row[from]; WIDTH];
    some.copy_from_slice(&row[from..from + WIDTH]);
    some
}

#[inline(always)]
fn evaluate_some(
    rows: &[Pixels],
    idle: &[Pixels],
    truth: &[i32; BLOCK],
    rules: &Rules,
    doubtful: &[bool; BLOCK],
    outcome: &mut Outcome,
    from: usize,
) {
    let (truth, doubtful) = (some(truth, from), some(doubtful, from).map(i32::from));
    let Leaders { peaks, tops, unsure } = leaders(rows, idle, from);
    let factor = std::f32::consts::LOG2_E * rules.scale;
    let (rests, squares) = rest(rows, &peaks, &tops, factor, from);

    let mut own = [0f32; WIDTH];
    for lane in 0..WIDTH {
        own[lane] = rows[truth[lane].max(0) as usize][from + lane];
    }
    // Numbers of 32 bits first, all lanes at once; the sums, whose terms are twice as wide, after them.
    let (mut nlls, mut briers, mut confidences) = ([0f32; WIDTH], [0f32; WIDTH], [0f32; WIDTH]);
    let (mut saturated, mut left) = ([0i32; WIDTH], [0i32; WIDTH]);
    for lane in 0..WIDTH {
        let (rest, peak) = (rests[lane], peaks[lane]);
        let own_power = power(own[lane], peak, factor);
        let correct = truth[lane] == tops[lane];
        let confidence = 1.0 / (1.0 + rest);
        let others = if correct { rest } else { (1.0 + rest) - own_power };
        let other_squares =
            if correct { squares[lane] } else { (1.0 + squares[lane]) - own_power * own_power };
        let brier = (others * others + other_squares) * (confidence * confidence);
        let nll = ln_1p(rest) - (own[lane] - peak) * rules.scale;

        let (bin, near) = bin_of(confidence, rules);
        let scored = truth[lane] != UNSCORED;
        let sound = (peak > f32::NEG_INFINITY) & (peak < f32::INFINITY) & (nll <= MOST_NLL);
        let unsure_here = (unsure[lane] != 0) | (doubtful[lane] != 0) | near | !sound;
        let counts = scored & !unsure_here;
        nlls[lane] = if counts { nll } else { 0.0 };
        briers[lane] = if counts { brier } else { 0.0 };
        confidences[lane] = confidence;
        saturated[lane] = i32::from(counts & (rest <= SATURATED));
        left[lane] = i32::from(scored & unsure_here);
        outcome.bins[from + lane] = if counts { bin_number(bin) } else { UNSCORED };
    }
    let (mut nll_sum, mut brier_sum) = (0, 0);
    for lane in 0..WIDTH {
        nll_sum += on_grid(nlls[lane]);
        brier_sum += on_grid(briers[lane]);
        outcome.confidences[from + lane] = on_grid(confidences[lane]) as u32;
        outcome.unsure[from + lane] = left[lane] != 0;
    }
    outcome.peaks[from..from + WIDTH].copy_from_slice(&peaks);
    outcome.tops[from..from + WIDTH].copy_from_slice(&tops);
    outcome.nll += nll_sum;
    outcome.brier += brier_sum;
    outcome.saturated += u64::from(saturated.iter().sum::<i32>().cast_unsigned());
    outcome.unsure_pixels += u64::from(left.iter().sum::<i32>().cast_unsigned());
}

/// The sums of the powers, and of their squares, of all classes but the first.
#[inline(always)]
pub(super) fn rest(
    rows: &[Pixels],
    peaks: &[f32; WIDTH],
    tops: &[i32; WIDTH],
    factor: f32,
    from: usize,
) -> ([f32; WIDTH], [f32; WIDTH]) {
    // Sums of eight, then of eight of these, keep the rounding errors of long sums apart.
    let mut rests = [0f32; WIDTH];
    let mut squares = [0f32; WIDTH];
    for (outer, rows) in rows.chunks(64).enumerate() {
        let mut outer_rests = [0f32; WIDTH];
        let mut outer_squares = [0f32; WIDTH];
        for (inner, rows) in rows.chunks(8).enumerate() {
            let mut inner_rests = [0f32; WIDTH];
            let mut inner_squares = [0f32; WIDTH];
            for (class, row) in rows.iter().enumerate() {
                let class = (64 * outer + 8 * inner + class) as i32;
                let logits = some(row, from);
                for lane in 0..WIDTH {
                    let power = power(logits[lane], peaks[lane], factor);
                    let rest = if tops[lane] == class { 0.0 } else { power };
                    inner_rests[lane] += rest;
                    inner_squares[lane] += rest * rest;
                }
            }
            for lane in 0..WIDTH {
                outer_rests[lane] += inner_rests[lane];
                outer_squares[lane] += inner_squares[lane];
            }
        }
        for lane in 0..WIDTH {
            rests[lane] += outer_rests[lane];
            squares[lane] += outer_squares[lane];
        }
    }
    (rests, squares)
}

/// The bin of a probability, and whether its error could change it.
#[inline(always)]
pub(super) fn bin_of(probability: f32, rules: &Rules) -> (f32, bool) {
    let place = (probability - rules.offset) * rules.bins;
    let nearest = (place + ROUNDING) - ROUNDING;
    let below = if nearest > place { nearest - 1.0 } else { nearest };
    let last = rules.bins - 1.0;
    let bin = if below < 0.0 { 0.0 } else { below };
    let bin = if bin > last { last } else { bin };
    let doubt = rules.bins * (probability * rules.error + 4.0 * f32::EPSILON);
    (bin, ((place - nearest).abs() <= doubt) & (nearest > 0.5) & (nearest < last + 0.5))
}

/// A bin as a whole number, without a conversion that vectors lack.
#[inline(always)]
pub(super) fn bin_number(bin: f32) -> i32 {
    (bin + ROUNDING).to_bits().wrapping_sub(ROUNDING.to_bits()) as i32
}

/// e^((logit - peak) scale).
#[inline(always)]
pub(super) fn power(logit: f32, peak: f32, factor: f32) -> f32 {
    let t = (logit - peak) * factor;
    exp2(if t > LEAST { t } else { LEAST })
}

#[inline(always)]
pub(super) fn on_grid(value: f32) -> u64 {
    (f64::from(value) + GRID).to_bits().wrapping_sub(GRID.to_bits())
}

#[cfg(test)]
mod tests {
    use calipers_core::SplitMix64;

    use super::*;

    #[test]
    fn vector_code_gives_the_bits_of_plain_code() {
        let mut random = SplitMix64::new(7);
        let mut draw = || (random.next_u64() >> 40) as f32 / (1u32 << 24) as f32;
        let rules = Rules { scale: 0.7, bins: 15.0, offset: 1e-6, error: 1e-6 };
        for classes in [1, 2, 9, 19, 130] {
            for spread in [0.0, 1.0, 20.0, 1e4, f32::INFINITY] {
                let mut rows: Vec<Pixels> = vec![[0.0; BLOCK]; classes];
                rows.iter_mut().flatten().for_each(|logit| *logit = (draw() - 0.5) * spread);
                let truth = std::array::from_fn(|_| (draw() * (classes + 1) as f32) as i32 - 1);
                let (mut vector, mut plain) = (Outcome::new(), Outcome::new());
                let doubtful = [false; BLOCK];
                evaluate(&rows, &rows[..1], &truth, &rules, &doubtful, &mut vector);
                evaluate_anywhere(&rows, &rows[..1], &truth, &rules, &doubtful, &mut plain);
                assert_eq!(vector, plain);
            }
        }
    }
}
