//! What heads say of one pixel, number by number: the same operations in the same order as the kernels,
//! so that these must give the same bits whatever registers they use.

mod tests;

use std::collections::BTreeMap;

use crate::segmentation::heads::kernel::TIE;
use crate::segmentation::protocol::{Head, Kind, Segmentation};
use calipers_core::functions::lanes::{exp, ln};

/// The fused distribution of one pixel, not yet divided by its total.
#[derive(Debug)]
pub(super) struct PlainPixel {
    pub(super) masses: Vec<f64>,
    pub(super) total: f64,
    pub(super) largest: f64,
    /// By group: its score, and how many of its originals are of each class.
    groups: Vec<(f64, BTreeMap<usize, f64>)>,
    shift: f64,
}

impl PlainPixel {
    /// Fuses the heads that are there; `None` if no class has any mass.
    pub(super) fn new(protocol: &Segmentation, heads: &[(&Head, Vec<f64>)], stretch: f64) -> Option<Self> {
        let experts: Vec<(&Head, Vec<f64>)> = (heads.iter())
            .filter(|(head, _)| head.alpha > 0.0)
            .map(|(head, values)| (*head, log_probabilities(head, values, stretch)))
            .collect();
        let mut members: BTreeMap<Vec<usize>, BTreeMap<usize, f64>> = BTreeMap::new();
        for (original, &class) in &protocol.labels.to_global {
            let channels: Option<Vec<usize>> =
                experts.iter().map(|(head, _)| head.to_channel.get(original).copied()).collect();
            if let Some(channels) = channels {
                *members.entry(channels).or_default().entry(class).or_default() += 1.0;
            }
        }
        let mut groups = Vec::new();
        for (channels, classes) in members {
            let count = classes.values().sum();
            let mut score = if protocol.conventions.split_multiplicity { -ln(count) } else { -0.0 };
            for ((head, logs), channel) in experts.iter().zip(channels) {
                score += head.alpha * logs[channel];
            }
            groups.push((score, classes));
        }
        let floor = if protocol.heads.len() == 1 { None } else { protocol.conventions.fusion_floor };
        let peak = groups.iter().fold(f64::NEG_INFINITY, |peak, (score, _)| score.max(peak));
        let shift = if floor.is_some() { 0.0 } else { peak };
        if shift.is_infinite() {
            return None;
        }
        let mut masses = vec![0.0; protocol.labels.global.len()];
        for (score, classes) in &groups {
            for (&class, count) in classes {
                masses[class] += count * exp(score - shift);
            }
        }
        masses.iter_mut().for_each(|mass| *mass = floor.map_or(*mass, |floor| mass.max(floor)));
        let total = masses.iter().fold(0.0, |total, mass| total + mass);
        let largest = masses.iter().fold(0.0, |largest, mass| mass.max(largest));
        Some(Self { masses, total, largest, groups, shift })
    }

    /// The first class whose mass is the largest, within rounding.
    pub(super) fn top(&self) -> usize {
        self.masses.iter().position(|mass| *mass >= self.largest * (1.0 - TIE)).unwrap_or(0)
    }

    pub(super) fn surprise(&self, class: usize, floor: Option<f64>) -> f64 {
        let own = self.masses[class];
        match floor {
            Some(floor) => -ln(own / self.total + floor),
            None if own >= 1e-290 => ln(self.total) - ln(own),
            None => ln(self.total) - self.deep_logarithm(class),
        }
    }

    fn deep_logarithm(&self, class: usize) -> f64 {
        let own = || self.groups.iter().filter_map(|(score, classes)| Some((classes.get(&class)?, *score)));
        let peak = own().fold(f64::NEG_INFINITY, |peak, (_, score)| peak.max(score));
        if peak.is_infinite() {
            return f64::NEG_INFINITY;
        }
        let most = self.groups.iter().fold(f64::NEG_INFINITY, |most, (score, _)| most.max(*score));
        debug_assert!(self.shift == 0.0 || self.shift.to_bits() == most.to_bits());
        peak - most + ln(own().map(|(count, score)| count * exp(score - peak)).sum())
    }

    pub(super) fn distance(&self, truth: usize) -> f64 {
        let terms = self.masses.iter().enumerate().map(|(class, mass)| {
            let distance = mass / self.total - if class == truth { 1.0 } else { 0.0 };
            distance * distance
        });
        terms.fold(0.0, |sum, term| sum + term)
    }
}

/// The first used channel with the largest number.
pub(super) fn winner(head: &Head, values: &[f64]) -> usize {
    let used = || (0..values.len()).filter(|channel| !head.unused.contains(channel));
    let first = used().next().unwrap_or(0);
    used().fold(first, |best, channel| if values[channel] > values[best] { channel } else { best })
}

fn log_probabilities(head: &Head, values: &[f64], stretch: f64) -> Vec<f64> {
    let logs: Vec<f64> =
        values.iter().map(|value| if head.kind == Kind::Probs { ln(*value) } else { *value }).collect();
    let used = || (0..logs.len()).filter(|channel| !head.unused.contains(channel));
    let peak = used().fold(f64::NEG_INFINITY, |peak, channel| logs[channel].max(peak));
    let cooled: Vec<f64> = logs.iter().map(|log| (log - peak) / (head.tau * stretch)).collect();
    let whole = ln(used().fold(0.0, |sum, channel| sum + exp(cooled[channel])));
    cooled.into_iter().map(|log| log - whole).collect()
}
