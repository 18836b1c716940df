//! What the fast pass adds where more than the largest probability is asked for: the bins of every
//! class, and surprises at other temperatures.

use multiversion::multiversion;

use crate::segmentation::probability::fast::exp_f32::ln_1p;
use crate::segmentation::probability::fast::kernel::{
    BLOCK, Leaders, Outcome, Pixels, Rules, UNSCORED, WIDTH, bin_number, bin_of, leaders, on_grid, power,
    rest, some,
};

/// The probabilities of one class in a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClassPixels {
    /// In units of 2^-30.
    pub(super) probabilities: [u32; BLOCK],
    /// Their bins.
    pub(super) bins: [u32; BLOCK],
}

impl ClassPixels {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { probabilities: [0; BLOCK], bins: [0; BLOCK] }
    }
}

/// Finds the bin of every class at every pixel, and marks the pixels where one of them is in doubt.
///
/// *Correctness.* A probability is a power times the confidence: beside the confidence's own error
/// it is off by less than four units relatively, and by 3|d|e^-|d| units, at most 1.2, absolutely.
/// With the roundings on the way to a bin that stays below the eight units that are allowed for.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn class_bins(
    rows: &[Pixels],
    rules: &Rules,
    classes: &mut [ClassPixels],
    doubtful: &mut [bool; BLOCK],
) {
    class_bins_plainly(rows, rules, classes, doubtful);
}

#[inline(always)]
fn class_bins_plainly(
    rows: &[Pixels],
    rules: &Rules,
    classes: &mut [ClassPixels],
    doubtful: &mut [bool; BLOCK],
) {
    let factor = std::f32::consts::LOG2_E * rules.scale;
    for from in (0..BLOCK).step_by(WIDTH) {
        let Leaders { peaks, tops, .. } = leaders(rows, &[], from);
        let (rests, _) = rest(rows, &peaks, &tops, factor, from);
        let mut near = [false; WIDTH];
        for (class, (row, out)) in rows.iter().zip(&mut *classes).enumerate() {
            let logits = some(row, from);
            for lane in 0..WIDTH {
                let own =
                    if tops[lane] == class as i32 { 1.0 } else { power(logits[lane], peaks[lane], factor) };
                let probability = own / (1.0 + rests[lane]);
                let (bin, in_doubt) = bin_of(probability, rules);
                near[lane] |= in_doubt;
                out.probabilities[from + lane] = on_grid(probability) as u32;
                // Where logits are not finite the pixel is left to f64, whatever is written here.
                out.bins[from + lane] = if probability >= 0.0 { bin_number(bin) as u32 } else { 0 };
            }
        }
        doubtful[from..from + WIDTH].copy_from_slice(&near);
    }
}

/// The sum of the surprises at another scale, over the pixels that have a bin, in units of 2^-30.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn surprises(rows: &[Pixels], truth: &[i32; BLOCK], outcome: &Outcome, scale: f32) -> u64 {
    surprises_plainly(rows, truth, outcome, scale)
}

#[inline(always)]
fn surprises_plainly(rows: &[Pixels], truth: &[i32; BLOCK], outcome: &Outcome, scale: f32) -> u64 {
    let factor = std::f32::consts::LOG2_E * scale;
    let mut sum = 0;
    for from in (0..BLOCK).step_by(WIDTH) {
        let (truth, bins) = (some(truth, from), some(&outcome.bins, from));
        let (peaks, tops) = (some(&outcome.peaks, from), some(&outcome.tops, from));
        let (rests, _) = rest(rows, &peaks, &tops, factor, from);
        for lane in 0..WIDTH {
            let own = rows[truth[lane].max(0) as usize][from + lane];
            let nll = ln_1p(rests[lane]) - (own - peaks[lane]) * scale;
            sum += on_grid(if bins[lane] == UNSCORED { 0.0 } else { nll });
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use calipers_core::SplitMix64;

    use super::*;
    use crate::segmentation::probability::fast::kernel::evaluate;

    #[test]
    fn vector_code_gives_the_bits_of_plain_code() {
        let mut random = SplitMix64::new(9);
        let mut draw = || (random.next_u64() >> 40) as f32 / (1u32 << 24) as f32;
        let rules = Rules { scale: 0.7, bins: 15.0, offset: 1e-6, error: 1e-6 };
        for classes in [1, 2, 9, 19, 130] {
            for spread in [0.0, 1.0, 20.0, 1e4, f32::INFINITY] {
                let mut rows: Vec<Pixels> = vec![[0.0; BLOCK]; classes];
                rows.iter_mut().flatten().for_each(|logit| *logit = (draw() - 0.5) * spread);
                let truth = std::array::from_fn(|_| (draw() * (classes + 1) as f32) as i32 - 1);
                let (mut vector, mut plain) =
                    (vec![ClassPixels::new(); classes], vec![ClassPixels::new(); classes]);
                let (mut some_doubt, mut same_doubt) = ([false; BLOCK], [true; BLOCK]);
                class_bins(&rows, &rules, &mut vector, &mut some_doubt);
                class_bins_plainly(&rows, &rules, &mut plain, &mut same_doubt);
                assert_eq!((vector, some_doubt), (plain, same_doubt));
                let mut outcome = Outcome::new();
                evaluate(&rows, &[], &truth, &rules, &some_doubt, &mut outcome);
                let ours = surprises(&rows, &truth, &outcome, 1.4);
                assert_eq!(ours, surprises_plainly(&rows, &truth, &outcome, 1.4));
            }
        }
    }
}
