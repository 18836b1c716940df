//! The arithmetic of the product of experts, over the pixels of a block side by side.
//!
//! *Correctness.* Every pixel goes through the operations of the plain formulas, each rounded for
//! itself and in their order: wider registers change which pixels share an instruction, never a bit.

use multiversion::multiversion;

use crate::segmentation::heads::groups::Group;
use crate::segmentation::probability::block::{LANES, Lanes, Rows};
use calipers_core::functions::lanes::{exp, exp_parts, exp_sums, ln};

/// A probability this close to the largest, relatively, is as large.
pub(crate) const TIE: f64 = 1e-12;

/// What one look at the given numbers of a head says.
#[derive(Debug)]
pub(crate) struct Survey {
    /// The largest number of the used channels; -inf where there is none above that.
    pub(crate) peaks: Lanes,
    /// The first channel that has it.
    pub(crate) winners: [usize; LANES],
}

/// Looks for the largest number of every pixel. Whether all numbers lie between two, these included.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn survey(values: &[Lanes], used: &[bool], least: f64, most: f64, survey: &mut Survey) -> bool {
    // Every value is looked at, and marks are as wide as values: a loop that stops early, or packs
    // comparisons, does not become vector code.
    let mut outside = [0u64; LANES];
    let (mut peaks, mut winners) = ([f64::NEG_INFINITY; LANES], [0; LANES]);
    winners.fill(used.iter().position(|used| *used).unwrap_or(0));
    for (channel, (values, &used)) in values.iter().zip(used).enumerate() {
        for lane in 0..LANES {
            outside[lane] |= u64::from(!((values[lane] >= least) & (values[lane] <= most)));
        }
        if used {
            for lane in 0..LANES {
                let above = values[lane] > peaks[lane];
                peaks[lane] = if above { values[lane] } else { peaks[lane] };
                winners[lane] = if above { channel } else { winners[lane] };
            }
        }
    }
    (survey.peaks, survey.winners) = (peaks, winners);
    outside.iter().fold(0, |any, outside| any | outside) == 0
}

/// The largest logarithm of the used channels of every pixel; -inf where there is none above that.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn peaks(logs: &[Lanes], used: &[bool]) -> Lanes {
    let mut peaks = [f64::NEG_INFINITY; LANES];
    for (logs, _) in logs.iter().zip(used).filter(|(_, used)| **used) {
        for lane in 0..LANES {
            peaks[lane] = if logs[lane] > peaks[lane] { logs[lane] } else { peaks[lane] };
        }
    }
    peaks
}

/// The logarithms of probabilities, and what the probabilities sum to.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn logs_of_probabilities(values: &[Lanes], logs: &mut [Lanes]) -> Lanes {
    let mut sums = [0.0; LANES];
    for (values, logs) in values.iter().zip(logs) {
        for lane in 0..LANES {
            sums[lane] += values[lane];
            logs[lane] = ln(values[lane]);
        }
    }
    sums
}

/// What log-probabilities sum to as probabilities.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn sums_of_powers(logs: &[Lanes]) -> Lanes {
    let mut sums = [0.0; LANES];
    for logs in logs {
        for lane in 0..LANES {
            sums[lane] += exp(logs[lane]);
        }
    }
    sums
}

/// Logarithms relative to the largest of each pixel, divided by a temperature.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn cool(logs: &[Lanes], peaks: &Lanes, temperature: f64, cooled: &mut [Lanes]) {
    match exact_reciprocal(temperature) {
        Some(factor) => {
            for (logs, cooled) in logs.iter().zip(cooled) {
                for lane in 0..LANES {
                    cooled[lane] = (logs[lane] - peaks[lane]) * factor;
                }
            }
        }
        None => {
            for (logs, cooled) in logs.iter().zip(cooled) {
                for lane in 0..LANES {
                    cooled[lane] = (logs[lane] - peaks[lane]) / temperature;
                }
            }
        }
    }
}

/// The reciprocal of a power of two. To multiply by it is to divide, bit for bit, and several times faster.
fn exact_reciprocal(number: f64) -> Option<f64> {
    const FRACTION: u64 = (1 << 52) - 1;
    let exponents = 1e-300..1e300;
    (number.to_bits() & FRACTION == 0 && exponents.contains(&number)).then(|| 1.0 / number)
}

/// e^(row - shift) of every pixel, row by row.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn powers(rows: &[Lanes], shift: &Lanes, powers: &mut [Lanes]) {
    let powers = &mut powers[..rows.len()];
    // Rows side by side, as many as the narrower registers hold with what belongs to them.
    let (fours, others) = rows.as_chunks::<4>();
    let (four_powers, other_powers) = powers.as_chunks_mut::<4>();
    for (rows, powers) in fours.iter().zip(four_powers) {
        powers_of(rows, shift, powers);
    }
    let (twos, others) = others.as_chunks::<2>();
    let (two_powers, other_powers) = other_powers.as_chunks_mut::<2>();
    for (rows, powers) in twos.iter().zip(two_powers) {
        powers_of(rows, shift, powers);
    }
    for (row, power) in others.iter().zip(other_powers) {
        powers_of(std::array::from_ref(row), shift, std::array::from_mut(power));
    }
}

/// Lanes of several rows that begin where a line of the cache does.
#[repr(align(64))]
struct Remainders<const N: usize>([Lanes; N]);

#[inline(always)]
fn powers_of<const N: usize>(rows: &[Lanes; N], shift: &Lanes, powers: &mut [Lanes; N]) {
    // What waits for the end of the polynomial waits in memory: its steps need the registers.
    let mut remainders = Remainders([[0.0; LANES]; N]);
    for i in 0..N {
        for lane in 0..LANES {
            (remainders.0[i][lane], powers[i][lane]) = exp_parts(rows[i][lane] - shift[lane]);
        }
    }
    for lane in 0..LANES {
        let sums = exp_sums(remainders.0.each_ref().map(|row| row[lane]));
        for (row, sum) in powers.iter_mut().zip(sums) {
            row[lane] *= sum;
        }
    }
}

/// Makes the logarithms of a head log-probabilities, given their powers.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn normalise(powers: &[Lanes], used: &[bool], logs: &mut [Lanes]) {
    let mut sums = [0.0; LANES];
    for (powers, _) in powers.iter().zip(used).filter(|(_, used)| **used) {
        for lane in 0..LANES {
            sums[lane] += powers[lane];
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

/// The scores of groups: the weighted log-probabilities of their channels, less their share. Returns the
/// largest of every pixel.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn weigh(logs: &[Lanes], weights: &[f64], groups: &[Group], scores: &mut [Lanes]) -> Lanes {
    let mut peaks = [f64::NEG_INFINITY; LANES];
    for (group, scores) in groups.iter().zip(scores) {
        let (start, log) = (-group.share, |channel: &usize| &logs[*channel]);
        // With two or three experts, as most models have them, the score stays in a register.
        match (&group.channels[..], weights) {
            ([a, b, c], [u, v, w]) => {
                weigh_some(start, [log(a), log(b), log(c)], [*u, *v, *w], scores, &mut peaks);
            }
            ([a, b], [u, v]) => weigh_some(start, [log(a), log(b)], [*u, *v], scores, &mut peaks),
            (channels, weights) => {
                *scores = [start; LANES];
                for (channel, weight) in channels.iter().zip(weights) {
                    add_weighted(scores, &logs[*channel], *weight);
                }
                for lane in 0..LANES {
                    peaks[lane] = if scores[lane] > peaks[lane] { scores[lane] } else { peaks[lane] };
                }
            }
        }
    }
    peaks
}

#[inline(always)]
fn weigh_some<const N: usize>(
    start: f64,
    logs: [&Lanes; N],
    weights: [f64; N],
    scores: &mut Lanes,
    peaks: &mut Lanes,
) {
    for lane in 0..LANES {
        let mut score = start;
        for i in 0..N {
            score += weights[i] * logs[i][lane];
        }
        scores[lane] = score;
        peaks[lane] = if score > peaks[lane] { score } else { peaks[lane] };
    }
}

#[inline(always)]
fn add_weighted(sums: &mut Lanes, terms: &Lanes, weight: f64) {
    for lane in 0..LANES {
        sums[lane] += weight * terms[lane];
    }
}

/// The masses of all classes, what they sum to, and the largest.
#[derive(Debug)]
pub(crate) struct Masses {
    pub(crate) of: Rows,
    pub(crate) total: Lanes,
    pub(crate) largest: Lanes,
}

/// Adds up the powers of groups to the masses of classes: `parts` says for each class which groups it
/// takes and how many times.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn add_up(powers: &[Lanes], parts: &[Vec<(usize, f64)>], masses: &mut [Lanes]) {
    for (mass, parts) in masses.iter_mut().zip(parts) {
        *mass = [0.0; LANES];
        for &(group, count) in parts {
            add_weighted(mass, &powers[group], count);
        }
    }
}

/// What the masses sum to, and the largest. No mass stays below `floor`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn finish(floor: Option<f64>, masses: &mut Masses) {
    let (mut total, mut largest) = ([0.0; LANES], [0.0; LANES]);
    for mass in masses.of.iter_mut() {
        if let Some(floor) = floor {
            for mass in mass.iter_mut() {
                *mass = if *mass > floor { *mass } else { floor };
            }
        }
        for lane in 0..LANES {
            total[lane] += mass[lane];
            largest[lane] = if mass[lane] > largest[lane] { mass[lane] } else { largest[lane] };
        }
    }
    (masses.total, masses.largest) = (total, largest);
}

/// The first class of every pixel whose mass is at least that; 0 if none is.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn first_with(masses: &[Lanes], enough: &Lanes) -> [usize; LANES] {
    let mut firsts = [0; LANES];
    // From the last class to the first: what is written last is the first.
    for (class, mass) in masses.iter().enumerate().rev() {
        for lane in 0..LANES {
            firsts[lane] = if mass[lane] >= enough[lane] { class } else { firsts[lane] };
        }
    }
    firsts
}

/// The squared distance of every pixel's distribution from the one that is sure of its true class.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn distances(masses: &Masses, truth: &[usize; LANES]) -> Lanes {
    let mut distances = [0.0; LANES];
    for (class, mass) in masses.of.iter().enumerate() {
        for lane in 0..LANES {
            let wanted = if truth[lane] == class { 1.0 } else { 0.0 };
            let distance = mass[lane] / masses.total[lane] - wanted;
            distances[lane] += distance * distance;
        }
    }
    distances
}

/// ln of a quotient of two numbers, neither of them negative, as a difference.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn log_ratios(above: &Lanes, below: &Lanes) -> Lanes {
    let mut ratios = [0.0; LANES];
    for lane in 0..LANES {
        ratios[lane] = ln(above[lane]) - ln(below[lane]);
    }
    ratios
}

/// The quotient of every pixel's numbers.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn quotients(above: &Lanes, below: &Lanes) -> Lanes {
    let mut quotients = [0.0; LANES];
    for lane in 0..LANES {
        quotients[lane] = above[lane] / below[lane];
    }
    quotients
}

/// The logarithm of every number; none is negative.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn logarithms(numbers: &Lanes) -> Lanes {
    let mut logarithms = [0.0; LANES];
    for lane in 0..LANES {
        logarithms[lane] = ln(numbers[lane]);
    }
    logarithms
}

/// Which of the given channels has the largest value; the first of equal ones.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
pub(crate) fn largest(values: &[Lanes], channels: &[usize]) -> [usize; LANES] {
    let mut places = [0; LANES];
    let mut best = [f64::NEG_INFINITY; LANES];
    for (place, &channel) in channels.iter().enumerate() {
        let values = &values[channel];
        for lane in 0..LANES {
            let above = values[lane] > best[lane];
            best[lane] = if above { values[lane] } else { best[lane] };
            places[lane] = if above { place } else { places[lane] };
        }
    }
    places
}
