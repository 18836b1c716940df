//! The temperature and the weight of each head that make the truth least surprising.
//!
//! Of a head only alpha / tau moves the fused probabilities: what softmax subtracts is the same for
//! every class. So tau is fitted to the head alone, and says how overconfident it is; alpha is then
//! fitted in the product of all heads, and says how much it is to be trusted beside the others.

mod descent;
mod sample;

use calipers_core::Result;

use self::descent::minimise;
pub use self::sample::Sample;
use super::protocol::{Head, Segmentation};

/// The fitted parameters of one head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadFit {
    /// The weight in the product; 0 for a head that was left out by a weight of 0.
    pub alpha: f64,
    /// The temperature.
    pub tau: f64,
}

/// Weights and temperatures of the protocol's heads, in order, each with six digits.
///
/// A single head has the weight 1. Heads whose weight is 0 stay as they are.
pub fn fit(protocol: &Segmentation, sample: &Sample) -> Result<Vec<HeadFit>> {
    let mut fits: Vec<HeadFit> =
        protocol.heads.iter().map(|head| HeadFit { alpha: head.alpha, tau: head.tau }).collect();
    let taking_part: Vec<usize> = (0..fits.len()).filter(|&position| fits[position].alpha > 0.0).collect();
    for &position in &taking_part {
        let weights = weights(protocol, sample, &[(position, 1.0)])?;
        fits[position] = HeadFit { alpha: 1.0, tau: six_digits(1.0 / weights[0]) };
    }
    if taking_part.len() > 1 {
        let heads: Vec<(usize, f64)> =
            taking_part.iter().map(|&position| (position, fits[position].tau)).collect();
        for (&position, weight) in taking_part.iter().zip(weights(protocol, sample, &heads)?) {
            fits[position].alpha = six_digits(weight);
        }
    }
    Ok(fits)
}

/// The best weights of some heads, given by position and temperature, without the others.
fn weights(protocol: &Segmentation, sample: &Sample, chosen: &[(usize, f64)]) -> Result<Vec<f64>> {
    let heads = chosen.iter().map(|&(position, tau)| Head { tau, ..protocol.heads[position].clone() });
    let mut trial = Segmentation { heads: heads.collect(), ..protocol.clone() };
    let positions: Vec<usize> = chosen.iter().map(|&(position, _)| position).collect();
    let weight = calipers_core::functions::exp;
    let logarithms = minimise(chosen.len(), |logarithms| {
        trial.heads.iter_mut().zip(logarithms).for_each(|(head, &logarithm)| head.alpha = weight(logarithm));
        sample.surprise(&trial, &positions)
    })?;
    Ok(logarithms.into_iter().map(weight).collect())
}

/// So many digits as a person can read and the data can tell apart.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests;
