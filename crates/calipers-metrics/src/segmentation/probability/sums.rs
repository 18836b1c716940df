//! How sure the probabilities are, and how often they are right: what is added up over pixels.

use calipers_core::{CompactSum, ExactSum, Result};

use crate::segmentation::heads::Fusion;
use crate::segmentation::probability::bin_rule::BinRule;
use crate::segmentation::probability::block::{LANES, Lanes};
use crate::segmentation::protocol::{Measure, Segmentation};
use crate::segmentation::row::{BinRow, CalibrationRow};

/// How many terms wait to be added together.
const WAITING: usize = 4096;

/// Terms on their way into an exact sum.
#[derive(Clone, Debug, Default)]
struct Terms {
    waiting: Vec<f64>,
    sum: ExactSum,
}

impl Terms {
    fn add(&mut self, terms: &[f64]) {
        self.waiting.extend_from_slice(terms);
        if self.waiting.len() >= WAITING {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.sum.add_slice(&self.waiting);
        self.waiting.clear();
    }

    fn finish(mut self) -> CompactSum {
        self.flush();
        CompactSum::from(&self.sum)
    }
}

impl BinRow {
    fn add(&mut self, correct: bool, probability: f64) {
        self.count += 1;
        self.correct += u64::from(correct);
        self.confidence += u128::from((probability * (1u64 << 62) as f64) as u64);
    }

    /// Pixels whose probabilities are summed in units of 2^-`unit_bits`.
    pub(super) fn of(count: u64, correct: u64, sum: u64, unit_bits: u32) -> Self {
        Self { count, correct, confidence: u128::from(sum) << (62 - unit_bits) }
    }

    fn join(&mut self, more: &Self) {
        self.count += more.count;
        self.correct += more.correct;
        self.confidence += more.confidence;
    }
}

/// What is added up over the scored pixels of one image.
#[derive(Debug)]
pub(super) struct Calibration<'a> {
    protocol: &'a Segmentation,
    rule: BinRule,
    pixels: u64,
    infinite: u64,
    saturated: u64,
    nll: Terms,
    brier: Terms,
    bins: Vec<BinRow>,
    classwise: Vec<Vec<BinRow>>,
    temperature: Vec<Terms>,
}

impl<'a> Calibration<'a> {
    /// Nothing yet.
    pub(super) fn new(protocol: &'a Segmentation) -> Self {
        let rule = BinRule::new(protocol.bins);
        let bins = vec![BinRow::default(); rule.count()];
        let asked = |measure, length| if protocol.measure.contains(&measure) { length } else { 0 };
        Self {
            classwise: vec![bins.clone(); asked(Measure::Classwise, protocol.labels.global.len())],
            temperature: vec![Terms::default(); asked(Measure::Temperature, protocol.temperatures.len())],
            protocol,
            rule,
            pixels: 0,
            infinite: 0,
            saturated: 0,
            nll: Terms::default(),
            brier: Terms::default(),
            bins,
        }
    }

    /// Adds the pixels of a fused block whose truth is known, and leaves the block fused at another
    /// temperature if several are tried.
    pub(super) fn add_block(
        &mut self,
        fusion: &mut Fusion<'_>,
        truth: &[Option<usize>],
        tops: &[usize; LANES],
    ) -> Result<()> {
        let scored: Vec<(usize, usize)> =
            truth.iter().enumerate().filter_map(|(lane, class)| class.map(|class| (lane, class))).collect();
        let mut classes = [0; LANES];
        scored.iter().for_each(|&(lane, class)| classes[lane] = class);

        self.pixels += scored.len() as u64;
        let nll = fusion.surprises(&classes, self.protocol.conventions.nll_floor);
        let finite: Vec<usize> =
            scored.iter().map(|&(lane, _)| lane).filter(|&lane| nll[lane].is_finite()).collect();
        self.infinite += (scored.len() - finite.len()) as u64;
        self.nll.add(&pick(&nll, &finite));

        let confidences = fusion.confidences();
        for &(lane, class) in &scored {
            let confidence = confidences[lane];
            self.saturated += u64::from(confidence as f32 >= 1.0);
            self.bins[self.rule.bin(confidence)].add(tops[lane] == class, confidence);
        }

        let mut brier = [0.0; LANES];
        for class in 0..self.protocol.labels.global.len() {
            let probabilities = fusion.probabilities(class);
            for lane in 0..LANES {
                let distance = probabilities[lane] - f64::from(u8::from(classes[lane] == class));
                brier[lane] += distance * distance;
            }
            if let Some(bins) = self.classwise.get_mut(class) {
                for &(lane, truth) in &scored {
                    bins[self.rule.bin(probabilities[lane])].add(truth == class, probabilities[lane]);
                }
            }
        }
        self.brier.add(&scored.iter().map(|&(lane, _)| brier[lane]).collect::<Vec<_>>());

        for (stretch, terms) in self.protocol.temperatures.iter().zip(&mut self.temperature) {
            fusion.fuse(*stretch)?;
            terms.add(&pick(&fusion.surprises(&classes, self.protocol.conventions.nll_floor), &finite));
        }
        Ok(())
    }

    /// Adds pixels of one bin.
    pub(super) fn add_to_bin(&mut self, bin: usize, pixels: &BinRow) {
        self.bins[bin].join(pixels);
    }

    /// Adds pixels of one bin of a class.
    pub(super) fn add_to_class(&mut self, class: usize, bin: usize, pixels: &BinRow) {
        self.classwise[class][bin].join(pixels);
    }

    /// Adds surprises at another temperature, in units of 2^-`unit_bits` and below 2^53.
    pub(super) fn add_stretched(&mut self, step: usize, nll: u64, unit_bits: u32) {
        self.temperature[step].add(&[nll as f64 / (1u64 << unit_bits) as f64]);
    }

    /// Adds what pixels sum to beside their bins: surprises and Brier terms, in units of
    /// 2^-`unit_bits` and below 2^53.
    pub(super) fn add_sums(&mut self, pixels: u64, saturated: u64, [nll, brier]: [u64; 2], unit_bits: u32) {
        let unit = 1.0 / (1u64 << unit_bits) as f64;
        self.pixels += pixels;
        self.saturated += saturated;
        self.nll.add(&[nll as f64 * unit]);
        self.brier.add(&[brier as f64 * unit]);
    }

    /// The row.
    pub(super) fn finish(self) -> CalibrationRow {
        CalibrationRow {
            pixels: self.pixels,
            infinite: self.infinite,
            nll: self.nll.finish(),
            brier: self.brier.finish(),
            bins: self.bins.into(),
            classwise: self.classwise.into_iter().map(Vec::into_boxed_slice).collect(),
            temperature: self.temperature.into_iter().map(Terms::finish).collect(),
            saturated: self.saturated,
        }
    }
}

fn pick(lanes: &Lanes, chosen: &[usize]) -> Vec<f64> {
    chosen.iter().map(|&lane| lanes[lane]).collect()
}
