//! Pixels that are fitted to: the scores of every head there, and the true class.

use std::collections::BTreeMap;

use calipers_core::{ExactSum, NumberSlice, Result};

use crate::segmentation::heads::Fusion;
use crate::segmentation::labels::ClassId;
use crate::segmentation::probability::block::{LANES, ScoreBlock};
use crate::segmentation::protocol::{Layout, MissingHeads, Segmentation};
use crate::segmentation::unit::ScoreArray;

/// Pixels of any number of images.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// By the heads that are there.
    parts: BTreeMap<Vec<usize>, Part>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Part {
    /// The scores of each head that is there, pixel by pixel.
    scores: Vec<Vec<f64>>,
    truth: Vec<u16>,
}

impl Sample {
    /// Adds pixels of an image whose scores are known to be allowed; their truth must be scored.
    pub fn add(
        &mut self,
        protocol: &Segmentation,
        arrays: &[Option<ScoreArray<'_>>],
        truth: &[u16],
        pixels: &[usize],
    ) {
        let present: Vec<(usize, ScoreArray<'_>)> =
            arrays.iter().enumerate().filter_map(|(position, array)| Some((position, (*array)?))).collect();
        let part = self.parts.entry(present.iter().map(|(position, _)| *position).collect()).or_default();
        part.scores.resize(present.len(), Vec::new());
        for ((position, array), scores) in present.into_iter().zip(&mut part.scores) {
            let mut block = ScoreBlock::new(&protocol.heads[position], position, array);
            for some in pixels.chunks(LANES) {
                block.load(some);
                for lane in 0..some.len() {
                    scores.extend(block.values.iter().map(|channel| channel[lane]));
                }
            }
        }
        part.truth.extend(pixels.iter().map(|&pixel| truth[pixel]));
    }

    /// How many pixels there are.
    pub fn len(&self) -> usize {
        self.parts.values().map(|part| part.truth.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The mean surprise of the truth under some of the heads, and its derivatives by the
    /// logarithms of their weights. `protocol` has those heads, with their weights and
    /// temperatures; `positions` says which heads of the sample they are. Pixels whose true class
    /// has probability 0 do not count.
    pub(super) fn surprise(&self, protocol: &Segmentation, positions: &[usize]) -> Result<(f64, Vec<f64>)> {
        let mut protocol = protocol.clone();
        protocol.labels.missing_heads = MissingHeads::Marginalise;
        protocol.heads.iter_mut().for_each(|head| head.layout = Layout::Hwc);
        let mut sums = Sums { surprise: ExactSum::default(), slopes: vec![0.0; positions.len()], pixels: 0 };
        for (present, part) in &self.parts {
            let array_of = |(position, channels): (&usize, usize)| {
                let index = present.iter().position(|head| head == position)?;
                let shape = [1, part.truth.len(), channels];
                Some(ScoreArray { shape, data: NumberSlice::F64(&part.scores[index]) })
            };
            let channels = protocol.heads.iter().map(|head| head.channels.len());
            let arrays: Vec<_> = positions.iter().zip(channels).map(array_of).collect();
            if arrays.iter().any(Option::is_some) {
                sums.add(&protocol, &arrays, &part.truth)?;
            }
        }
        let pixels = sums.pixels.max(1) as f64;
        let slopes = sums.slopes.into_iter().map(|slope| slope / pixels).collect();
        Ok((sums.surprise.value() / pixels, slopes))
    }
}

struct Sums {
    surprise: ExactSum,
    slopes: Vec<f64>,
    pixels: u64,
}

impl Sums {
    fn add(
        &mut self,
        protocol: &Segmentation,
        arrays: &[Option<ScoreArray<'_>>],
        truth: &[u16],
    ) -> Result<()> {
        let floor = protocol.conventions.nll_floor;
        let mut fusion = Fusion::new(protocol, arrays, truth.len(), 1)?;
        let all: Vec<usize> = (0..truth.len()).collect();
        for block in all.chunks(LANES) {
            fusion.load(block)?;
            fusion.fuse(1.0)?;
            let last = block.len() - 1;
            let classes = std::array::from_fn(|lane| truth[block[lane.min(last)]].index());
            let surprises = fusion.surprises(&classes, floor);
            let finite: Vec<usize> = (0..block.len()).filter(|&lane| surprises[lane].is_finite()).collect();
            self.pixels += finite.len() as u64;
            self.surprise.add_slice(&finite.iter().map(|&lane| surprises[lane]).collect::<Vec<_>>());
            for (position, slopes) in fusion.slopes(&classes, floor) {
                self.slopes[position] += finite.iter().map(|&lane| slopes[lane]).sum::<f64>();
            }
        }
        Ok(())
    }
}
