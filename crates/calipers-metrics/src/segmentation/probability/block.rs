//! A few pixels of one head at a time: gathered, widened and checked.

use calipers_core::exact::exact_sum;
use calipers_core::{Error, Result, Wide, on_numbers};

use crate::segmentation::heads::kernel::largest;
use crate::segmentation::protocol::{Head, Kind, Layout};
use crate::segmentation::unit::ScoreArray;

/// How many pixels are evaluated side by side.
pub(crate) const LANES: usize = 64;

/// One number for each pixel of a block.
pub(crate) type Lanes = [f64; LANES];

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
    pub(crate) values: Vec<Lanes>,
    /// Whether logits have looked like probabilities so far.
    pub(crate) looks_like_probabilities: bool,
    array: ScoreArray<'a>,
}

impl<'a> ScoreBlock<'a> {
    /// A block of the head's array, whose shape has been checked.
    pub(crate) fn new(head: &'a Head, position: usize, array: ScoreArray<'a>) -> Self {
        Self {
            head,
            position,
            values: vec![[0.0; LANES]; head.channels.len()],
            looks_like_probabilities: head.kind == Kind::Logits,
            array,
        }
    }

    /// Reads the pixels into the first lanes and repeats the last one in the others. Whether every
    /// number is allowed is for [`Self::check_values`] to say.
    pub(crate) fn load(&mut self, pixels: &[usize]) -> bool {
        for (channel, lanes) in self.values.iter_mut().enumerate() {
            gather(&self.array, self.head.layout, channel, pixels, lanes);
        }
        self.look();
        match self.head.kind {
            Kind::Probs => self.all(|value| (0.0..=1.0 + SLACK).contains(&value)),
            Kind::LogProbs => self.all(|value| value <= SLACK),
            Kind::Logits | Kind::Labels => self.all(|value| value < f64::INFINITY),
        }
    }

    fn all(&self, allowed: impl Fn(f64) -> bool) -> bool {
        // Every value is looked at: a loop that stops early does not become vector code.
        self.values.iter().flatten().fold(true, |all, &value| all & allowed(value))
    }

    fn look(&mut self) {
        if !self.looks_like_probabilities {
            return;
        }
        let mut sums = [0.0; LANES];
        let mut within = true;
        for lanes in &self.values {
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

    /// The channel with the largest given number; the lowest of equal ones.
    pub(crate) fn winners(&self) -> [usize; LANES] {
        let used: Vec<usize> =
            (0..self.values.len()).filter(|channel| !self.head.unused.contains(channel)).collect();
        largest(&self.values, &used).map(|place| used[place as usize])
    }
}

/// Whether the sum of a pixel's probabilities passes as 1.
pub(crate) fn sums_to_one(sum: f64) -> bool {
    (sum - 1.0).abs() <= SLACK
}

fn gather(array: &ScoreArray<'_>, layout: Layout, channel: usize, pixels: &[usize], lanes: &mut Lanes) {
    let [_, second, third] = array.shape;
    let (step, offset) = match layout {
        Layout::Chw => (1, channel * second * third),
        Layout::Hwc => (third, channel),
    };
    let places = pixels.iter().map(|pixel| pixel * step + offset);
    on_numbers!(array.data, values => {
        places.zip(&mut *lanes).for_each(|(place, lane)| *lane = values[place].wide());
    });
    // Lanes without a pixel repeat the last one, so that no lane holds numbers that are not allowed.
    if let Some(last) = pixels.len().checked_sub(1) {
        let last_value = lanes[last];
        lanes[last + 1..].fill(last_value);
    }
}
