//! The arithmetic of the product of experts, over the pixels of a block side by side.

use multiversion::multiversion;

use super::protocol::Kind;
use super::score_block::{LANES, Lanes};
use calipers_core::functions::lanes::{exp, ln};

/// Logarithms relative to the largest used channel of each pixel, which is returned: -inf where
/// no used channel has a positive probability. `sums` gets what all channels sum to as
/// probabilities, unless they are logits.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn centre(
    values: &[Lanes],
    used: &[bool],
    kind: Kind,
    centred: &mut [Lanes],
    sums: &mut Lanes,
) -> Lanes {
    *sums = [0.0; LANES];
    let mut peaks = [f64::NEG_INFINITY; LANES];
    for ((values, centred), &used) in values.iter().zip(centred.iter_mut()).zip(used) {
        match kind {
            Kind::Probs => {
                for lane in 0..LANES {
                    sums[lane] += values[lane];
                    centred[lane] = ln(values[lane]);
                }
            }
            Kind::LogProbs => {
                *centred = *values;
                for lane in 0..LANES {
                    sums[lane] += exp(values[lane]);
                }
            }
            Kind::Logits | Kind::Labels => *centred = *values,
        }
        if used {
            for lane in 0..LANES {
                peaks[lane] = if centred[lane] > peaks[lane] { centred[lane] } else { peaks[lane] };
            }
        }
    }
    for centred in centred {
        for lane in 0..LANES {
            centred[lane] -= peaks[lane];
        }
    }
    peaks
}

/// Log-probabilities of the used channels at a temperature, from centred logarithms.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn log_softmax(centred: &[Lanes], used: &[bool], temperature: f64, logs: &mut [Lanes]) {
    let mut sums = [0.0; LANES];
    for ((centred, logs), &used) in centred.iter().zip(logs.iter_mut()).zip(used) {
        if used {
            for lane in 0..LANES {
                logs[lane] = centred[lane] / temperature;
                sums[lane] += exp(logs[lane]);
            }
        }
    }
    let mut whole = [0.0; LANES];
    for lane in 0..LANES {
        whole[lane] = ln(sums[lane]);
    }
    for logs in logs {
        for lane in 0..LANES {
            logs[lane] -= whole[lane];
        }
    }
}

/// Adds a weighted expert to the scores of a group.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn add_weighted(scores: &mut Lanes, weight: f64, logs: &Lanes) {
    for lane in 0..LANES {
        scores[lane] += weight * logs[lane];
    }
}

/// e^(score - shift) of every pixel.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn powers(scores: &Lanes, shift: &Lanes) -> Lanes {
    let mut powers = [0.0; LANES];
    for lane in 0..LANES {
        powers[lane] = exp(scores[lane] - shift[lane]);
    }
    powers
}

/// The logarithm of every number; none is negative.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn logarithms(numbers: &Lanes) -> Lanes {
    let mut logarithms = [0.0; LANES];
    for lane in 0..LANES {
        logarithms[lane] = ln(numbers[lane]);
    }
    logarithms
}

/// Which of the given channels has the largest value; the first of equal ones.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(super) fn largest(values: &[Lanes], channels: &[usize]) -> [u64; LANES] {
    let mut places = [0; LANES];
    let mut best = [f64::NEG_INFINITY; LANES];
    for (place, &channel) in channels.iter().enumerate() {
        let values = &values[channel];
        for lane in 0..LANES {
            let above = values[lane] > best[lane];
            best[lane] = if above { values[lane] } else { best[lane] };
            places[lane] = if above { place as u64 } else { places[lane] };
        }
    }
    places
}

/// The larger of both, pixel by pixel.
pub(super) fn larger(a: &Lanes, b: &Lanes) -> Lanes {
    std::array::from_fn(|lane| if b[lane] > a[lane] { b[lane] } else { a[lane] })
}
