//! Several heads fused into one distribution, against torch and against what the heads cost alone.

use std::path::Path;

use calipers_core::SplitMix64;
use calipers_metrics::segmentation::{
    Config, NumberSlice, Prediction, ScoreArray, Segmentation, Unit, measure,
};
use half::f16;

use super::maps::{CLASSES, Maps, VOID};
use super::{against, speed};
use crate::Outcome;
use crate::harness::clock::seconds_per_call;
use crate::harness::line::{Goal, Line};
use crate::harness::npy;
use crate::harness::peer::Peer;

/// The originals that each head tells apart; its first channel takes all others.
const OWN: [std::ops::Range<usize>; 3] = [0..6, 6..12, 12..19];

/// The logits of each head, in planes.
type Heads = Vec<Vec<f32>>;

/// Against torch, by the steps of the pipeline's document.
pub(crate) fn run_published(report: &mut dyn FnMut(Line)) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let heads = logits(&maps);
    let folder = tempfile::tempdir()?;
    save(&maps, &heads, folder.path())?;
    let mut peer = Peer::start("segmentation_fusion.py", folder.path())?;
    let halves: Vec<Vec<f16>> =
        heads.iter().map(|head| head.iter().copied().map(f16::from_f32).collect()).collect();
    let protocol = fused(1.0, 1.0)?;
    let kinds: [(&str, Vec<NumberSlice<'_>>); 2] = [
        ("f32", heads.iter().map(|head| NumberSlice::F32(head)).collect()),
        ("f16", halves.iter().map(|head| NumberSlice::F16(head)).collect()),
    ];
    for (name, heads) in &kinds {
        let job = format!("three heads of 7, 7 and 8 {name} channels fused over 19 classes; torch");
        against(
            report,
            job,
            maps.pixels(),
            Goal::None,
            || run_heads(&protocol, &maps, heads),
            (&mut peer, name),
        )?;
    }
    Ok(())
}

/// Beside the same heads measured one by one, and beside one flat head of 19 channels.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let heads = logits(&maps);
    let slices: Vec<NumberSlice<'_>> = heads.iter().map(|head| NumberSlice::F32(head)).collect();
    let alone = OWN.iter().zip(&slices).map(|(own, head)| {
        let protocol = one_head(own)?;
        best(|| run_heads(&protocol, &maps, std::slice::from_ref(head)))
    });
    let alone = alone.sum::<Outcome<f64>>()?;
    let plain = fused(1.0, 1.0)?;
    let weighted = fused(0.8, 1.3)?;
    for (job, protocol) in [
        ("three heads fused, times longer; the same heads one by one, calibration included", &plain),
        ("the same with weights and temperatures, times longer; heads one by one", &weighted),
    ] {
        let ours = best(|| run_heads(protocol, &maps, &slices))?;
        report(Line {
            job: job.into(),
            ours: speed(maps.pixels(), ours),
            against: speed(maps.pixels(), alone),
            ratio: ours / alone,
            goal: Goal::AtMost(1.5),
        });
    }
    Ok(())
}

fn best<T>(mut pass: impl FnMut() -> Outcome<T>) -> Outcome<f64> {
    pass()?;
    Ok((0..5).map(|_| seconds_per_call(&mut pass)).fold(f64::INFINITY, f64::min))
}

fn run_heads(protocol: &Segmentation, maps: &Maps, heads: &[NumberSlice<'_>]) -> Outcome {
    let shape = |data: &NumberSlice<'_>| [data.len() / maps.pixels(), maps.height, maps.width];
    let arrays = heads.iter().map(|data| Some(ScoreArray { shape: shape(data), data: *data }));
    let pred = Prediction::Scores(arrays.collect());
    std::hint::black_box(measure(protocol, &Unit::Pixels { truth: maps.truth(), pred })?);
    Ok(())
}

fn names() -> Vec<String> {
    (0..CLASSES).map(|class| format!("o{class}")).collect()
}

fn channels(own: &std::ops::Range<usize>) -> Vec<String> {
    std::iter::once("rest".to_owned()).chain(names()[own.clone()].iter().cloned()).collect()
}

/// All heads over all originals, the first one with a weight and a temperature of its own.
fn fused(alpha: f64, tau: f64) -> Outcome<Segmentation> {
    let heads: Vec<_> = (OWN.iter().enumerate())
        .map(|(place, own)| {
            let (alpha, tau) = if place == 0 { (alpha, tau) } else { (1.0, tau) };
            serde_json::json!({"name": format!("head{place}"), "channels": channels(own), "rest": "rest",
                               "alpha": alpha, "tau": tau})
        })
        .collect();
    let config: Config = serde_json::from_value(serde_json::json!({
        "measure": ["overlap", "calibration"],
        "labels": {"original": names(), "ignore": [VOID]},
        "heads": heads,
    }))?;
    Ok(config.resolve()?)
}

/// One head, in a global space that is its own.
fn one_head(own: &std::ops::Range<usize>) -> Outcome<Segmentation> {
    let config: Config = serde_json::from_value(serde_json::json!({
        "measure": ["overlap", "calibration"],
        "labels": {"original": names(), "ignore": [VOID], "global": channels(own), "rest": "rest"},
        "heads": [{"name": "alone", "channels": channels(own), "rest": "rest"}],
    }))?;
    Ok(config.resolve()?)
}

/// Noise that leans to the predicted class, in the channel that speaks for it.
fn logits(maps: &Maps) -> Heads {
    let mut random = SplitMix64::new(2);
    let head = |own: &std::ops::Range<usize>| {
        let mut logits: Vec<f32> =
            (0..(own.len() + 1) * maps.pixels()).map(|_| (6.0 * random.unit() - 3.0) as f32).collect();
        for (pixel, class) in maps.pred.iter().enumerate().filter(|(_, class)| **class != VOID) {
            logits[channel(own, usize::from(*class)) * maps.pixels() + pixel] += 4.0;
        }
        logits
    };
    OWN.iter().map(head).collect()
}

fn channel(own: &std::ops::Range<usize>, original: usize) -> usize {
    if own.contains(&original) { original - own.start + 1 } else { 0 }
}

fn save(maps: &Maps, heads: &Heads, folder: &Path) -> Outcome {
    maps.save(folder)?;
    for (place, head) in heads.iter().enumerate() {
        let mut bytes = Vec::new();
        npy::write(&mut bytes, &head.chunks(maps.pixels()).collect::<Vec<_>>(), false)?;
        std::fs::write(folder.join(format!("head{place}.npy")), bytes)?;
    }
    let index: Vec<Vec<u8>> =
        OWN.iter().map(|own| (0..CLASSES).map(|original| channel(own, original) as u8).collect()).collect();
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &index.iter().map(Vec::as_slice).collect::<Vec<_>>(), false)?;
    Ok(std::fs::write(folder.join("index.npy"), bytes)?)
}
