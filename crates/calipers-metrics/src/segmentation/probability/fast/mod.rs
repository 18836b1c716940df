//! One reading of the logits of a flat head, in single precision.
//!
//! *Correctness.* Classes are compared by the given numbers, so they are exact. A confidence is off
//! by at most [`FastPass`]'s error bound; where that could change its bin, and wherever something
//! is unusual, the pixel is handed back to be evaluated in f64.

mod exp_f32;
mod extras;
pub(super) mod kernel;

use crate::segmentation::heads::plain_channels;
use crate::segmentation::labels::ClassId;
use crate::segmentation::probability::bin_rule::BinRule;
use crate::segmentation::probability::block::sums_to_one;
use crate::segmentation::probability::block_source::BlockSource;
use crate::segmentation::probability::fast::extras::{ClassPixels, class_bins, surprises};
use crate::segmentation::probability::fast::kernel::{
    BLOCK, Outcome, Pixels, Rules, UNIT_BITS, UNSCORED, decide, evaluate,
};
use crate::segmentation::probability::sums::Calibration;
use crate::segmentation::protocol::{Kind, Measure, Segmentation};
use crate::segmentation::row::BinRow;
use crate::segmentation::unit::ScoreArray;
use calipers_core::functions::lanes::ln;
use calipers_core::stop::Turns;

/// More classes than this would add up to more rounding than is allowed.
const MOST_CLASSES: usize = 512;

/// Weights over temperatures outside this range are left to f64.
const SCALES: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

/// Factors on temperatures outside this range are left to f64: a surprise must stay small enough.
const STRETCHES: std::ops::RangeInclusive<f64> = 0.25..=4.0;

/// Tables that take turns, so that equal bins in a row need not wait for one another.
const TURNS: usize = 4;

/// Fields of one word: confidences of a block sum to 2^38 at most, counts to 2^8.
const COUNT_SHIFT: u32 = 40;
const CORRECT_SHIFT: u32 = 52;

/// After so many blocks the tallies of classes are emptied, long before they could overflow.
const FULL: usize = 1 << 20;

/// The fast pass over one image.
#[derive(Debug)]
pub(super) struct FastPass<'a> {
    source: BlockSource<'a>,
    /// The channel of each class, then those without a class.
    channels: Vec<usize>,
    classes: usize,
    rules: Rules,
    rule: BinRule,
    /// Whether the bins of every class are asked for.
    classwise: bool,
    /// The factors on logits at the temperatures that are tried.
    scales: Vec<f32>,
}

impl<'a> FastPass<'a> {
    /// The fast pass, if this protocol and these scores allow it.
    pub(super) fn new(protocol: &Segmentation, heads: &[Option<ScoreArray<'a>>]) -> Option<Self> {
        let ([head], [Some(array)]) = (protocol.heads.as_slice(), heads) else { return None };
        let conventions = &protocol.conventions;
        let temperatures: &[f64] =
            if protocol.measures(Measure::Temperature) { &protocol.temperatures } else { &[] };
        if head.kind != Kind::Logits
            || conventions.nll_floor.is_some()
            || conventions.keep_void_in_bands
            || !temperatures.iter().all(|stretch| STRETCHES.contains(stretch))
        {
            return None;
        }
        let mut channels = plain_channels(protocol, head)?;
        let classes = channels.len();
        let in_order = channels.is_sorted();
        let single = protocol.labels.to_global.len() == classes;
        let scale = head.alpha / head.tau;
        if classes > MOST_CLASSES
            || !SCALES.contains(&scale)
            || (conventions.decide_in_head && !in_order)
            || !(single || conventions.split_multiplicity)
        {
            return None;
        }
        let idle: Vec<usize> =
            (0..head.channels.len()).filter(|channel| !channels.contains(channel)).collect();
        channels.extend(idle);
        let rule = BinRule::new(protocol.bins);
        let rules = Rules {
            scale: scale as f32,
            bins: rule.count() as f32,
            offset: rule.offset() as f32,
            error: error_bound(classes),
        };
        Some(Self {
            source: BlockSource::new(*array, head.layout)?,
            channels,
            classes,
            rules,
            rule,
            classwise: protocol.measures(Measure::Classwise),
            scales: temperatures.iter().map(|stretch| (scale / stretch) as f32).collect(),
        })
    }

    /// Evaluates the scored pixels, or merely decides them where no calibration is asked for, and returns
    /// those that are left to f64 and whether all logits look like probabilities.
    pub(super) fn run<T: ClassId>(
        mut self,
        truth: &[T],
        pred: &mut [T],
        mut calibration: Option<&mut Calibration<'_>>,
    ) -> (Vec<usize>, bool) {
        let mut rows: Vec<Pixels> = vec![[0.0; BLOCK]; self.channels.len()];
        let mut outcome = Outcome::new();
        let mut tables = vec![0u64; TURNS * (self.rule.count() + 1)];
        let mut doubtful = [false; BLOCK];
        let mut extras = ClassTally::new(if self.classwise { self.classes } else { 0 }, self.rule.count());
        let mut left = Vec::new();
        let mut looks_like_probabilities = true;
        let mut turns = Turns::every(64);
        for (block, (truth, pred)) in truth.chunks(BLOCK).zip(pred.chunks_mut(BLOCK)).enumerate() {
            if turns.asked() {
                break;
            }
            if truth.iter().all(|class| *class == T::VOID) {
                continue;
            }
            let mut classes = [UNSCORED; BLOCK];
            for (class, truth) in classes.iter_mut().zip(truth) {
                *class = if *truth == T::VOID { UNSCORED } else { truth.index() as i32 };
            }
            self.source.read(block * BLOCK, truth.len(), &self.channels, &mut rows);
            looks_like_probabilities = looks_like_probabilities && look(&rows, &classes);
            let (used, idle) = rows.split_at(self.classes);
            match calibration {
                Some(_) => {
                    if self.classwise {
                        class_bins(used, &self.rules, &mut extras.pixels, &mut doubtful);
                    }
                    evaluate(used, idle, &classes, &self.rules, &doubtful, &mut outcome);
                }
                None => decide(used, idle, &classes, &mut outcome),
            }
            for ((pred, truth), top) in pred.iter_mut().zip(truth).zip(&outcome.tops) {
                *pred = if *truth == T::VOID { T::VOID } else { T::new(*top as usize) };
            }
            if outcome.unsure_pixels > 0 {
                let unsure = outcome.unsure.iter().enumerate().filter(|(_, unsure)| **unsure);
                left.extend(unsure.map(|(lane, _)| block * BLOCK + lane));
            }
            if let Some(calibration) = calibration.as_deref_mut() {
                self.tally(&outcome, &classes, &mut tables, calibration);
                extras.add(&outcome, &classes);
                for (step, scale) in self.scales.iter().enumerate() {
                    let sum = surprises(used, &classes, &outcome, *scale);
                    calibration.add_stretched(step, sum, UNIT_BITS);
                }
                if block % FULL == FULL - 1 {
                    extras.move_into(calibration);
                }
            }
        }
        if let Some(calibration) = calibration {
            extras.move_into(calibration);
        }
        (left, looks_like_probabilities)
    }

    /// Adds the bins of a block.
    fn tally(
        &self,
        outcome: &Outcome,
        classes: &[i32; BLOCK],
        tables: &mut [u64],
        calibration: &mut Calibration<'_>,
    ) {
        // The last place of a table takes the pixels that do not count.
        let places = self.rule.count() + 1;
        let (first, rest) = tables.split_at_mut(places);
        let (second, rest) = rest.split_at_mut(places);
        let (third, fourth) = rest.split_at_mut(places);
        for lane in (0..BLOCK).step_by(TURNS) {
            for (turn, table) in [&mut *first, second, third, fourth].into_iter().enumerate() {
                let lane = lane + turn;
                let correct = u64::from(outcome.tops[lane] == classes[lane]);
                let bin = (outcome.bins[lane] as u32 as usize).min(places - 1);
                table[bin] +=
                    u64::from(outcome.confidences[lane]) + (1 << COUNT_SHIFT) + (correct << CORRECT_SHIFT);
            }
        }
        let mut pixels = 0;
        for table in tables.chunks_exact_mut(places) {
            for (bin, word) in table[..places - 1].iter_mut().enumerate() {
                let confidence = *word & ((1 << COUNT_SHIFT) - 1);
                let count = (*word >> COUNT_SHIFT) & ((1 << (CORRECT_SHIFT - COUNT_SHIFT)) - 1);
                let pixels_of_bin = BinRow::of(count, *word >> CORRECT_SHIFT, confidence, UNIT_BITS);
                calibration.add_to_bin(bin, &pixels_of_bin);
                pixels += count;
            }
            table.fill(0);
        }
        calibration.add_sums(pixels, outcome.saturated, [outcome.nll, outcome.brier], UNIT_BITS);
    }
}

/// Pixels by class and bin.
struct ClassTally {
    pixels: Vec<ClassPixels>,
    bins: usize,
    /// By class, then by bin: pixels in the low half, those that are right in the high half; and
    /// the sum of the probabilities.
    words: Vec<[u64; 2]>,
}

impl ClassTally {
    fn new(classes: usize, bins: usize) -> Self {
        Self { pixels: vec![ClassPixels::new(); classes], bins, words: vec![[0; 2]; classes * bins] }
    }

    /// Adds the pixels of a block that have a bin.
    fn add(&mut self, outcome: &Outcome, truth: &[i32; BLOCK]) {
        for (class, (pixels, words)) in
            self.pixels.iter().zip(self.words.chunks_exact_mut(self.bins)).enumerate()
        {
            for lane in (0..BLOCK).filter(|&lane| outcome.bins[lane] != UNSCORED) {
                let [counts, sum] = &mut words[pixels.bins[lane] as usize];
                *counts += 1 + (u64::from(truth[lane] == class as i32) << 32);
                *sum += u64::from(pixels.probabilities[lane]);
            }
        }
    }

    /// Adds everything to the calibration and forgets it.
    fn move_into(&mut self, calibration: &mut Calibration<'_>) {
        for (place, words) in self.words.iter_mut().enumerate() {
            let [counts, sum] = std::mem::take(words);
            let (class, bin) = (place / self.bins, place % self.bins);
            let pixels = BinRow::of(counts & u64::from(u32::MAX), counts >> 32, sum, UNIT_BITS);
            calibration.add_to_class(class, bin, &pixels);
        }
    }
}

/// A bound on the relative error of a confidence, 1/(1 + sum of e^d): with u = 2^-24, each power
/// is off by 3u and by 3u|d| (three roundings before it), and the mean of |d| under the
/// distribution is at most ln K; then the additions, and four more roundings.
fn error_bound(classes: usize) -> f32 {
    let additions = classes.min(8) + classes.div_ceil(8).min(8) + classes.div_ceil(64) - 3;
    let roundings = 3.0 + 3.0 * ln(classes as f64) + additions as f64 + 4.0;
    roundings as f32 * (f32::EPSILON / 2.0)
}

/// Whether the logits of every scored pixel are in [0, 1] and sum to 1.
fn look(rows: &[Pixels], classes: &[i32; BLOCK]) -> bool {
    (0..BLOCK).filter(|&lane| classes[lane] != UNSCORED).all(|lane| {
        let values = || rows.iter().map(|row| f64::from(row[lane]));
        values().all(|value| (0.0..=1.0).contains(&value)) && sums_to_one(values().sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::protocol::config::Config;
    use calipers_core::NumberSlice;

    fn is_fast(more: &str, data: NumberSlice<'_>) -> bool {
        let config = format!(
            r#"{{"labels":{{"original":["a","b1","b2"],"global":["a","b"],"groups":{{"b":[1,2]}}}},
                "heads":[{{"name":"h","channels":["a","b"],"groups":{{"b":[1,2]}}}}]{more}}}"#
        );
        let protocol = serde_json::from_str::<Config>(&config).expect("config").resolve().expect("protocol");
        FastPass::new(&protocol, &[Some(ScoreArray { shape: [2, 1, 1], data })]).is_some()
    }

    #[test]
    fn one_channel_per_class_in_single_precision_is_fast() {
        assert!(is_fast("", NumberSlice::F32(&[0.0; 2])));
        assert!(!is_fast("", NumberSlice::F64(&[0.0; 2])));
    }

    #[test]
    fn what_the_kernel_cannot_say_is_left_to_f64() {
        assert!(is_fast(r#","measure":"all""#, NumberSlice::F32(&[0.0; 2])));
        for more in [r#","preset":"document""#, r#","preset":"coral-mtl""#] {
            assert!(!is_fast(more, NumberSlice::F32(&[0.0; 2])), "{more}");
        }
    }

    #[test]
    fn the_error_bound_keeps_within_the_allowance() {
        assert!(error_bound(19) < 2e-6);
        assert!(error_bound(2) * 0.5 + 2.0 * f32::EPSILON < 1e-6);
    }
}
