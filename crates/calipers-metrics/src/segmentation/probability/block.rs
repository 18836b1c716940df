//! A few pixels of one head at a time: gathered, widened and checked.

use std::ops::{Deref, DerefMut};

use calipers_core::exact::exact_sum;
use calipers_core::{Error, Result};

use crate::segmentation::heads::kernel::{Survey, survey};
use crate::segmentation::probability::pixel_reader::PixelReader;
use crate::segmentation::protocol::{Head, Kind};
use crate::segmentation::unit::ScoreArray;

/// How many pixels are evaluated side by side.
pub(crate) const LANES: usize = 64;

/// One number for each pixel of a block.
pub(crate) type Lanes = [f64; LANES];

/// Rows of lanes that begin where a line of the cache does: registers as wide as a line straddle none.
#[derive(Debug)]
pub(crate) struct Rows {
    numbers: Vec<f64>,
    skipped: usize,
    count: usize,
}

/// The bytes of a line of the cache.
const LINE: usize = 64;

impl Rows {
    /// So many rows of zeros.
    pub(crate) fn new(count: usize) -> Self {
        let most_skipped = LINE / size_of::<f64>();
        let numbers = vec![0.0; count * LANES + most_skipped];
        let skipped = numbers.as_ptr().align_offset(LINE).min(most_skipped);
        Self { numbers, skipped, count }
    }
}

impl Deref for Rows {
    type Target = [Lanes];

    fn deref(&self) -> &[Lanes] {
        &self.numbers[self.skipped..].as_chunks().0[..self.count]
    }
}

impl DerefMut for Rows {
    fn deref_mut(&mut self) -> &mut [Lanes] {
        &mut self.numbers[self.skipped..].as_chunks_mut().0[..self.count]
    }
}

/// How far probabilities may exceed 1, alone or summed.
const SLACK: f64 = 1e-3;

/// The scores of one head at the pixels of a block.
#[derive(Debug)]
pub(crate) struct ScoreBlock<'a> {
    /// The head.
    pub(crate) head: &'a Head,
    /// The head's position in the protocol.
    pub(crate) position: usize,
    /// The given numbers of each channel.
    pub(crate) values: Rows,
    /// Whether logits have looked like probabilities so far.
    pub(crate) looks_like_probabilities: bool,
    reader: PixelReader<'a>,
    is_used: Vec<bool>,
    survey: Survey,
}

impl<'a> ScoreBlock<'a> {
    /// A block of the head's array, whose shape has been checked.
    pub(crate) fn new(head: &'a Head, position: usize, array: ScoreArray<'a>) -> Self {
        Self {
            head,
            position,
            values: Rows::new(head.channels.len()),
            looks_like_probabilities: head.kind == Kind::Logits,
            reader: PixelReader::new(array, head.layout, head.channels.len()),
            is_used: (0..head.channels.len()).map(|channel| !head.unused.contains(&channel)).collect(),
            survey: Survey { peaks: [0.0; LANES], winners: [0; LANES] },
        }
    }

    /// Reads the pixels into the first lanes and repeats the last one in the others. Whether every
    /// number is allowed is for [`Self::check_values`] to say.
    pub(crate) fn load(&mut self, pixels: &[usize]) -> bool {
        self.reader.read(pixels, &mut self.values);
        self.look();
        let (least, most) = match self.head.kind {
            Kind::Probs => (0.0, 1.0 + SLACK),
            Kind::LogProbs => (f64::NEG_INFINITY, SLACK),
            Kind::Logits | Kind::Labels => (f64::NEG_INFINITY, f64::MAX),
        };
        survey(&self.values, &self.is_used, least, most, &mut self.survey)
    }

    fn look(&mut self) {
        if !self.looks_like_probabilities {
            return;
        }
        let mut sums = [0.0; LANES];
        let mut within = true;
        for lanes in self.values.iter() {
            for (sum, &value) in sums.iter_mut().zip(lanes) {
                *sum += value;
                within &= (0.0..=1.0).contains(&value);
            }
        }
        self.looks_like_probabilities = within && sums.iter().all(|sum| (sum - 1.0).abs() <= SLACK);
    }

    /// Refuses the first number of a pixel that is not allowed.
    pub(crate) fn check_values(&self, lane: usize) -> Result<()> {
        for (channel, lanes) in self.values.iter().enumerate() {
            let value = lanes[lane];
            let place = format!("channel {channel} ('{}')", self.head.channels[channel]);
            if value.is_nan() || value.is_infinite() && value > 0.0 {
                return Err(Error::value("a score is not a number that can be scored")
                    .at(place)
                    .found(value)
                    .allowed("finite numbers and -inf")
                    .advice("look for an overflow in half precision; ignore the pixel to leave it out"));
            }
            match self.head.kind {
                Kind::Probs if value < 0.0 => {
                    return Err(Error::value("a probability is negative")
                        .at(place)
                        .found(value)
                        .allowed("0 to 1")
                        .advice("if these are logits, say --kind logits"));
                }
                Kind::Probs if value > 1.0 + SLACK => {
                    return Err(Error::value("a probability is above 1")
                        .at(place)
                        .found(value)
                        .allowed("0 to 1")
                        .advice("percent? divide by 100; if these are logits, say --kind logits"));
                }
                Kind::LogProbs if value > SLACK => {
                    return Err(Error::value("a logarithm of a probability is above 0")
                        .at(place)
                        .found(value)
                        .allowed("at most 0, give or take 0.001")
                        .advice("if these are logits, say --kind logits"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses a pixel whose probabilities, given their sum, are no distribution.
    pub(crate) fn check_sum(&self, lane: usize, probability: fn(f64) -> f64) -> Result<()> {
        let sum = exact_sum(self.values.iter().map(|lanes| probability(lanes[lane])));
        if self.head.kind == Kind::Logits || sums_to_one(sum) {
            return Ok(());
        }
        Err(Error::value("the probabilities of a pixel do not sum to 1")
            .found(sum)
            .allowed("1, give or take 0.001")
            .advice("save the softmax of all channels, or say --kind logits"))
    }

    /// Whether each channel may be predicted.
    pub(crate) fn is_used(&self) -> &[bool] {
        &self.is_used
    }

    /// The largest given number of every pixel.
    pub(crate) fn peaks(&self) -> &Lanes {
        &self.survey.peaks
    }

    /// The channel with the largest given number; the lowest of equal ones.
    pub(crate) fn winners(&self) -> &[usize; LANES] {
        &self.survey.winners
    }
}

/// Whether the sum of a pixel's probabilities passes as 1.
pub(crate) fn sums_to_one(sum: f64) -> bool {
    (sum - 1.0).abs() <= SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_where_a_line_of_the_cache_does() {
        for count in [0, 1, 7, 22] {
            let mut rows = Rows::new(count);
            assert_eq!((rows.len(), rows.as_ptr().align_offset(LINE)), (count, 0));
            rows.iter_mut().for_each(|row| row.fill(1.0));
            assert_eq!(rows.iter().flatten().filter(|number| **number > 0.0).count(), count * LANES);
        }
    }
}
