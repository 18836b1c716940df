//! Small data whose right answers can be said in a line: heads that contradict each other, and a square
//! that is found beside one that is invented.

use calipers_core::Value;
use calipers_metrics::segmentation::heads::fuse;
use calipers_metrics::segmentation::{NumberSlice, ScoreArray, Segmentation};
use serde_json::json;

use super::{FAMILY, Width, protocol, run};
use crate::case::golden_case;

/// The seven published heads over forty classes.
fn seven_heads(preset: &str) -> Segmentation {
    let mut config = golden_case(&FAMILY, "contradiction-30-strict")["config"].take();
    config["preset"] = preset.into();
    protocol(&config).unwrap()
}

/// The probabilities at one pixel where every head prefers its first channel by `height`, but for one.
fn fused(preset: &str, head: &str, channel: usize, height: f64) -> Vec<f64> {
    let protocol = seven_heads(preset);
    let preferred = |name: &str| if name == head { channel } else { 0 };
    let logits: Vec<Vec<f64>> = protocol
        .heads
        .iter()
        .map(|head| {
            let mut logits = vec![0.0; head.channels.len()];
            logits[preferred(&head.name)] = height;
            logits
        })
        .collect();
    let array =
        |logits: &'static [f64]| ScoreArray { shape: [logits.len(), 1, 1], data: NumberSlice::F64(logits) };
    let heads: Vec<_> = logits.into_iter().map(|logits| Some(array(logits.leak()))).collect();
    fuse(&protocol, &heads, 1, 1).unwrap()
}

#[test]
fn heads_that_contradict_each_other_by_30_logits_share_four_classes() {
    let strict = fused("strict", "genus", 3, 30.0);
    let (shared, rest): (Vec<f64>, Vec<f64>) = strict.iter().partition(|p| **p > 1e-6);
    assert_eq!(shared.len(), 4);
    assert!(shared.iter().all(|p| (p - 0.25).abs() < 1e-9), "{shared:?}");
    assert!(rest.iter().all(|p| *p < 1e-9), "{rest:?}");
    let published = fused("coral-mtl", "genus", 3, 30.0);
    assert_eq!(published.len(), 40);
    assert!(published.iter().all(|p| (p - 1.0 / 40.0).abs() < 1e-9), "{published:?}");
}

#[test]
fn a_fish_by_5_logits_is_a_fish() {
    let probabilities = fused("strict", "fish", 1, 5.0);
    let fish = seven_heads("strict").labels.global.iter().position(|name| name == "fish").unwrap();
    assert!((probabilities[fish] - 0.99236).abs() < 5e-6, "{}", probabilities[fish]);
}

#[test]
fn an_invented_square_halves_the_boundary_unless_absent_classes_are_skipped() {
    let map = |square: bool| -> Vec<Vec<u8>> {
        let within = |at: usize| square && (3..8).contains(&at);
        (0..12).map(|y| (0..12).map(|x| u8::from(within(x) && within(y))).collect()).collect()
    };
    let unit = |id: &str, truth: bool| json!({"id": id, "truth": map(truth), "pred": {"flat": map(true)}});
    let biou = |preset: &str| {
        let input = json!({
            "config": {"preset": preset, "labels": {"original": ["bg", "a"], "background": "bg"}},
            "units": [unit("hit", true), unit("invention", false)],
        });
        run(&input, Width::One).unwrap().finish().get("segmentation.biou").and_then(Value::as_f64).unwrap()
    };
    assert!((biou("strict") - 0.5).abs() < 1e-15);
    assert!((biou("coral-mtl") - 1.0).abs() < 1e-7);
}
