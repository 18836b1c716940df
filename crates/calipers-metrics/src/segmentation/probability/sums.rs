//! How sure the probabilities are, and how often they are right: what is added up over pixels.

use calipers_core::{CompactSum, ExactSum, Result};

use crate::segmentation::heads::Fusion;
use crate::segmentation::probability::bin_rule::BinRule;
use crate::segmentation::probability::bin_table::BinTable;
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
        // Many terms at once go into an exact sum several times faster than one by one.
        self.waiting.extend_from_slice(terms);
        if self.waiting.len() >= WAITING {
            self.flush();
        }
    }

    /// Adds the terms of some lanes.
    fn add_some(&mut self, terms: &Lanes, lanes: &[usize]) {
        self.waiting.extend(lanes.iter().map(|&lane| terms[lane]));
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
    /// Pixels whose probabilities are summed in units of 2^-`unit_bits`.
    pub(super) fn of(count: u64, correct: u64, sum: u64, unit_bits: u32) -> Self {
        Self { count, correct, confidence: u128::from(sum) << (62 - unit_bits) }
    }
}

/// The pixels of a block whose truth is known.
#[derive(Debug)]
pub(super) struct ScoredLanes {
    classes: [usize; LANES],
    /// The lanes of these pixels; the first `count` places count.
    lanes: [usize; LANES],
    count: usize,
}

impl ScoredLanes {
    /// From the class of every pixel, `None` where it is void.
    pub(super) fn new(truth: impl Iterator<Item = Option<usize>>) -> Self {
        let mut scored = Self { classes: [0; LANES], lanes: [0; LANES], count: 0 };
        for (lane, class) in truth.take(LANES).enumerate() {
            if let Some(class) = class {
                scored.classes[lane] = class;
                scored.lanes[scored.count] = lane;
                scored.count += 1;
            }
        }
        scored
    }

    fn lanes(&self) -> &[usize] {
        &self.lanes[..self.count]
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
    bins: BinTable,
    classwise: Vec<BinTable>,
    temperature: Vec<Terms>,
}

impl<'a> Calibration<'a> {
    /// Nothing yet.
    pub(super) fn new(protocol: &'a Segmentation) -> Self {
        let rule = BinRule::new(protocol.bins);
        let bins = BinTable::new(rule.count());
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
        scored: &ScoredLanes,
        tops: &[usize; LANES],
    ) -> Result<()> {
        let (classes, lanes) = (&scored.classes, scored.lanes());
        self.pixels += lanes.len() as u64;
        let nll = fusion.surprises(classes, self.protocol.conventions.nll_floor);
        let (mut finite, mut finite_lanes) = (0, [0; LANES]);
        for &lane in lanes {
            finite_lanes[finite] = lane;
            finite += usize::from(nll[lane].is_finite());
        }
        let finite_lanes = &finite_lanes[..finite];
        self.infinite += (lanes.len() - finite) as u64;
        self.nll.add_some(&nll, finite_lanes);

        let confidences = fusion.confidences();
        self.saturated += lanes.iter().map(|&lane| u64::from(confidences[lane] as f32 >= 1.0)).sum::<u64>();
        self.bins.add(lanes, &self.rule.bins(&confidences), &confidences, |lane| tops[lane] == classes[lane]);
        self.brier.add_some(&fusion.distances(classes), lanes);
        for (class, bins) in self.classwise.iter_mut().enumerate() {
            let probabilities = fusion.probabilities(class);
            bins.add(lanes, &self.rule.bins(&probabilities), &probabilities, |lane| classes[lane] == class);
        }

        for (stretch, terms) in self.protocol.temperatures.iter().zip(&mut self.temperature) {
            fusion.fuse(*stretch)?;
            terms.add_some(&fusion.surprises(classes, self.protocol.conventions.nll_floor), finite_lanes);
        }
        Ok(())
    }

    /// Adds pixels of one bin.
    pub(super) fn add_to_bin(&mut self, bin: usize, pixels: &BinRow) {
        self.bins.join(bin, pixels);
    }

    /// Adds pixels of one bin of a class.
    pub(super) fn add_to_class(&mut self, class: usize, bin: usize, pixels: &BinRow) {
        self.classwise[class].join(bin, pixels);
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
            bins: self.bins.finish(),
            classwise: self.classwise.into_iter().map(BinTable::finish).collect(),
            temperature: self.temperature.into_iter().map(Terms::finish).collect(),
            saturated: self.saturated,
        }
    }
}
