//! The probabilities of one pixel, slowly and step by step as they are defined.

use std::collections::BTreeMap;

use crate::segmentation::labels::ClassId;
use crate::segmentation::probability::bin_rule::BinRule;
use crate::segmentation::protocol::{Head, Kind, Segmentation};

/// What one pixel says.
pub(super) struct Pixel {
    pub(super) scored: bool,
    pub(super) probabilities: Vec<f64>,
    pub(super) decision: u8,
    pub(super) nll: f64,
    pub(super) brier: f64,
    pub(super) confidence: f64,
    pub(super) correct: bool,
    pub(super) bin: usize,
    pub(super) stretched: Vec<f64>,
}

/// Measures one pixel whose heads are all there, two or more of them.
pub(super) fn measure_slowly(protocol: &Segmentation, values: &[Vec<f64>], truth: u8) -> Pixel {
    let probabilities = distribution(protocol, values, 1.0);
    let confidence = probabilities.iter().copied().fold(0.0, f64::max);
    let decision = probabilities.iter().position(|p| *p >= confidence * (1.0 - 1e-12)).unwrap_or(0);
    let scored = truth != u8::VOID;
    let class = if scored { truth.index() } else { 0 };
    let surprise = |p: f64| -(p + protocol.conventions.nll_floor.unwrap_or(0.0)).ln();
    Pixel {
        scored,
        decision: decision as u8,
        nll: surprise(probabilities[class]),
        brier: (probabilities.iter().enumerate())
            .map(|(other, p)| if other == class { (p - 1.0) * (p - 1.0) } else { p * p })
            .sum(),
        confidence,
        correct: decision == class,
        bin: BinRule::new(protocol.bins).bin(confidence),
        stretched: (protocol.temperatures.iter())
            .map(|stretch| surprise(distribution(protocol, values, *stretch)[class]))
            .collect(),
        probabilities,
    }
}

fn distribution(protocol: &Segmentation, values: &[Vec<f64>], stretch: f64) -> Vec<f64> {
    let logs: Vec<Vec<f64>> =
        protocol.heads.iter().zip(values).map(|(head, values)| log_softmax(head, values, stretch)).collect();
    let channels = |original: &i64| -> Vec<Option<usize>> {
        protocol.heads.iter().map(|head| head.to_channel.get(original).copied()).collect()
    };
    let mut equals: BTreeMap<Vec<Option<usize>>, f64> = BTreeMap::new();
    for original in protocol.labels.to_global.keys() {
        *equals.entry(channels(original)).or_default() += 1.0;
    }
    let mut masses = vec![0.0; protocol.labels.global.len()];
    for (original, class) in &protocol.labels.to_global {
        let channels = channels(original);
        let mut score = if protocol.conventions.split_multiplicity { -equals[&channels].ln() } else { 0.0 };
        for ((head, logs), channel) in protocol.heads.iter().zip(&logs).zip(channels) {
            score += channel.map_or(f64::NEG_INFINITY, |channel| head.alpha * logs[channel]);
        }
        masses[*class] += score.exp();
    }
    if let Some(floor) = protocol.conventions.fusion_floor {
        masses.iter_mut().for_each(|mass| *mass = mass.max(floor));
    }
    let total: f64 = masses.iter().sum();
    masses.into_iter().map(|mass| mass / total).collect()
}

fn log_softmax(head: &Head, values: &[f64], stretch: f64) -> Vec<f64> {
    let logits: Vec<f64> = (values.iter().enumerate())
        .map(|(channel, value)| match head.kind {
            _ if head.unused.contains(&channel) => f64::NEG_INFINITY,
            Kind::Probs => value.ln() / (head.tau * stretch),
            _ => value / (head.tau * stretch),
        })
        .collect();
    let peak = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let whole = peak + logits.iter().map(|logit| (logit - peak).exp()).sum::<f64>().ln();
    logits.into_iter().map(|logit| logit - whole).collect()
}
