//! Truth drawn from known weights and temperatures is fitted with them again.

use calipers_core::NumberSlice;
use calipers_core::SplitMix64;
use calipers_core::functions::{exp, ln};
use serde_json::{Value as Json, json};

use super::*;
use crate::segmentation::heads::fuse;
use crate::segmentation::protocol::config::Config;
use crate::segmentation::unit::ScoreArray;

const PIXELS: usize = 20_000;

fn protocol(preset: &str, heads: Json) -> Segmentation {
    let config = json!({
        "preset": preset,
        "labels": {"original": ["sky", "road", "car", "van"], "global": ["sky", "road", "vehicle"],
                   "groups": {"vehicle": ["car", "van"]}, "missing_heads": "marginalise"},
        "heads": heads,
    });
    serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
}

fn one_head() -> Json {
    json!([{"name": "flat"}])
}

fn two_heads() -> Json {
    json!([
        {"name": "flat"},
        {"name": "coarse", "channels": ["still", "moving"], "groups": {"still": [0, 1], "moving": [2, 3]}},
    ])
}

/// About normal: mean 0, deviation 1.
fn noise(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Scores of every head and truth drawn from what `truth` makes of them.
fn drawn(truth: &Segmentation, spread: f64) -> (Vec<Vec<f64>>, Vec<u16>) {
    let mut random = SplitMix64::new(11);
    let scores: Vec<Vec<f64>> = truth
        .heads
        .iter()
        .map(|head| (0..head.channels.len() * PIXELS).map(|_| spread * noise(&mut random)).collect())
        .collect();
    let probabilities = fuse(truth, &arrays(truth, &scores), PIXELS, 1).unwrap();
    let draw = |pixel: usize| {
        let mut left = random.unit();
        let classes = truth.classes();
        let fits = |class: &usize| {
            left -= probabilities[class * PIXELS + pixel];
            left < 0.0
        };
        (0..classes).find(fits).unwrap_or(classes - 1) as u16
    };
    let classes = (0..PIXELS).map(draw).collect();
    (scores, classes)
}

fn arrays<'a>(protocol: &Segmentation, scores: &'a [Vec<f64>]) -> Vec<Option<ScoreArray<'a>>> {
    let array = |(head, values): (&Head, &'a Vec<f64>)| ScoreArray {
        shape: [head.channels.len(), 1, PIXELS],
        data: NumberSlice::F64(values),
    };
    protocol.heads.iter().zip(scores).map(array).map(Some).collect()
}

fn sampled(protocol: &Segmentation, scores: &[Vec<f64>], truth: &[u16]) -> Sample {
    let mut sample = Sample::default();
    sample.add(protocol, &arrays(protocol, scores), truth, &(0..PIXELS).collect::<Vec<_>>());
    sample
}

fn with(mut protocol: Segmentation, parameters: &[[f64; 2]]) -> Segmentation {
    for (head, [alpha, tau]) in protocol.heads.iter_mut().zip(parameters) {
        (head.alpha, head.tau) = (*alpha, *tau);
    }
    protocol
}

#[test]
fn a_single_temperature_is_recovered() {
    for tau in [0.4, 1.0, 3.0] {
        let plain = protocol("strict", one_head());
        let (scores, truth) = drawn(&with(plain.clone(), &[[1.0, tau]]), 3.0);
        let fits = fit(&plain, &sampled(&plain, &scores, &truth)).unwrap();
        assert_eq!(fits[0].alpha.to_bits(), 1f64.to_bits());
        assert!((fits[0].tau / tau - 1.0).abs() < 0.04, "{tau}: {fits:?}");
    }
}

#[test]
fn the_weight_over_the_temperature_of_each_head_is_recovered() {
    let plain = protocol("strict", two_heads());
    let (scores, truth) = drawn(&with(plain.clone(), &[[0.8, 2.0], [1.5, 1.0]]), 3.0);
    let sample = sampled(&plain, &scores, &truth);
    let fits = fit(&plain, &sample).unwrap();
    for (fitted, ratio) in fits.iter().zip([0.4, 1.5]) {
        assert!((fitted.alpha / fitted.tau / ratio - 1.0).abs() < 0.05, "{fits:?}");
    }
    let positions = [0, 1];
    let fitted: Vec<[f64; 2]> = fits.iter().map(|fitted| [fitted.alpha, fitted.tau]).collect();
    let (before, _) = sample.surprise(&plain, &positions).unwrap();
    let (after, slopes) = sample.surprise(&with(plain.clone(), &fitted), &positions).unwrap();
    assert!(after < before - 0.01, "{before} {after}");
    assert!(slopes.iter().all(|slope| slope.abs() < 1e-3), "{slopes:?}");
}

#[test]
fn only_the_weight_over_the_temperature_moves_the_probabilities() {
    let plain = protocol("strict", two_heads());
    let (scores, truth) = drawn(&plain, 2.0);
    let sample = sampled(&plain, &scores, &truth);
    let surprise = |parameters| sample.surprise(&with(plain.clone(), parameters), &[0, 1]).unwrap().0;
    assert!((surprise(&[[0.6, 2.0], [1.0, 1.0]]) - surprise(&[[0.3, 1.0], [4.0, 4.0]])).abs() < 1e-12);
}

#[test]
fn the_slopes_are_those_of_the_surprise() {
    for preset in ["strict", "document", "coral-mtl"] {
        let plain = protocol(preset, two_heads());
        let (mut scores, truth) = drawn(&plain, 9.0);
        scores[0][..40].fill(f64::NEG_INFINITY);
        let sample = sampled(&plain, &scores, &truth);
        let at = [[0.7, 0.9], [1.3, 0.8]];
        let (_, slopes) = sample.surprise(&with(plain.clone(), &at), &[0, 1]).unwrap();
        for head in 0..2 {
            let moved = |step: f64| {
                let mut there = at;
                there[head][0] = exp(ln(there[head][0]) + step);
                sample.surprise(&with(plain.clone(), &there), &[0, 1]).unwrap().0
            };
            let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slopes[head] - expected).abs() < 1e-6, "{preset}: {} {expected}", slopes[head]);
        }
    }
}

#[test]
fn heads_that_are_missing_or_left_out_do_not_disturb() {
    let plain = protocol("strict", two_heads());
    let (scores, truth) = drawn(&with(plain.clone(), &[[1.0, 2.0], [1.0, 2.0]]), 3.0);
    let pixels: Vec<usize> = (0..PIXELS).collect();
    let mut sample = sampled(&plain, &scores, &truth);
    let mut lacking = arrays(&plain, &scores);
    lacking[1] = None;
    sample.add(&plain, &lacking, &truth, &pixels[..500]);
    assert_eq!(sample.len(), PIXELS + 500);
    let fits = fit(&plain, &sample).unwrap();
    assert!(fits.iter().all(|fitted| (fitted.alpha / fitted.tau - 0.5).abs() < 0.05), "{fits:?}");
    let left_out = with(plain.clone(), &[[1.0, 1.0], [0.0, 7.0]]);
    let fits = fit(&left_out, &sample).unwrap();
    assert_eq!((fits[0].alpha, fits[1]), (1.0, HeadFit { alpha: 0.0, tau: 7.0 }));
}
