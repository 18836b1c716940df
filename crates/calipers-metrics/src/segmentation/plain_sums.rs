//! The sums of the fast pass as a plain loop would make them, in f64 that rounds at every step. Nothing is
//! reported from them: benches measure what exactness costs by running the same pass both ways.

use super::calibration::Calibration;
use super::fast_kernel::{BLOCK, Outcome, UNIT_BITS};

/// How the numbers of pixels are added up.
pub(super) trait Adding: Copy {
    /// Whether in whole numbers, which do not round.
    const EXACT: bool;
}

/// In whole numbers: every number that is reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact;

/// In f64.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl Adding for Exact {
    const EXACT: bool = true;
}

impl Adding for Plain {
    const EXACT: bool = false;
}

/// Tables that take turns, as in the exact pass.
const TURNS: usize = 4;

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    confidence: f64,
    count: u64,
    correct: u64,
}

/// The running sums of an image.
#[derive(Debug)]
pub(super) struct PlainSums {
    /// The tables one after the other; the last place of each takes the pixels that do not count.
    tables: Vec<Bin>,
    sums: [f64; 2],
    saturated: u64,
}

impl PlainSums {
    /// Nothing yet; without bins where sums are exact.
    pub(super) fn new<A: Adding>(bins: usize) -> Self {
        let places = if A::EXACT { 0 } else { TURNS * (bins + 1) };
        Self { tables: vec![Bin::default(); places], sums: [0.0; 2], saturated: 0 }
    }

    /// Adds a block whose confidences are bits of f32.
    pub(super) fn add(&mut self, outcome: &Outcome, classes: &[i32; BLOCK]) {
        let places = self.tables.len() / TURNS;
        let (first, rest) = self.tables.split_at_mut(places);
        let (second, rest) = rest.split_at_mut(places);
        let (third, fourth) = rest.split_at_mut(places);
        for lane in (0..BLOCK).step_by(TURNS) {
            for (turn, table) in [&mut *first, second, third, fourth].into_iter().enumerate() {
                let lane = lane + turn;
                let bin = &mut table[(outcome.bins[lane] as u32 as usize).min(places - 1)];
                bin.confidence += f64::from(f32::from_bits(outcome.confidences[lane]));
                bin.count += 1;
                bin.correct += u64::from(outcome.tops[lane] == classes[lane]);
            }
        }
        for (sum, lanes) in self.sums.iter_mut().zip(&outcome.plain) {
            *sum += lanes.iter().sum::<f64>();
        }
        self.saturated += outcome.saturated;
    }

    /// Workers everything on, rounded to the units of the exact pass.
    pub(super) fn move_into(self, calibration: &mut Calibration<'_>) {
        let in_units = |value: f64| (value * (1u64 << UNIT_BITS) as f64) as u64;
        let places = (self.tables.len() / TURNS).max(1);
        let mut pixels = 0;
        for table in self.tables.chunks_exact(places) {
            for (number, bin) in table[..places - 1].iter().enumerate() {
                let confidence = in_units(bin.confidence);
                calibration.add_to_bin(number, bin.count, bin.correct, confidence, UNIT_BITS);
                pixels += bin.count;
            }
        }
        calibration.add_sums(pixels, self.saturated, self.sums.map(in_units), UNIT_BITS);
    }
}
