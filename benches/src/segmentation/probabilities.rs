//! NLL, Brier, ECE and the confusion matrix from logits, in one pass against several.

use calipers_core::SplitMix64;
use calipers_metrics::segmentation::measure::measure;
use calipers_metrics::segmentation::unit::{Prediction, ScoreArray, ScoreData, Unit};
use half::f16;

use super::against;
use super::maps::{CLASSES, Maps, VOID, protocol};
use crate::line::{Goal, Line};
use crate::peer::Peer;
use crate::{Outcome, npy};

/// Against NumPy.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    compare(report, "segmentation_probabilities.py", "NumPy", Goal::None)
}

/// Against torch, by hand as training scripts do it.
pub(crate) fn run_published(report: &mut dyn FnMut(Line)) -> Outcome {
    compare(report, "segmentation_published.py", "torch", Goal::AtLeast(12.0))
}

fn compare(report: &mut dyn FnMut(Line), script: &str, library: &str, goal: Goal) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let logits = logits(&maps);
    let folder = tempfile::tempdir()?;
    maps.save(folder.path())?;
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &logits.chunks(maps.pixels()).collect::<Vec<_>>(), false)?;
    std::fs::write(folder.path().join("logits.npy"), bytes)?;
    let mut peer = Peer::start(script, folder.path())?;
    let halves: Vec<f16> = logits.iter().copied().map(f16::from_f32).collect();
    let protocol = protocol("logits", &["overlap", "calibration"])?;
    for (name, data) in [("f32", ScoreData::F32(&logits)), ("f16", ScoreData::F16(&halves))] {
        let shape = [CLASSES, maps.height, maps.width];
        let ours = || {
            let pred = Prediction::Scores(vec![Some(ScoreArray { shape, data })]);
            measure(&protocol, &Unit::Pixels { truth: maps.truth(), pred })
        };
        let job = format!("NLL, Brier, ECE and confusion from {name} logits, 19 channels; {library}");
        against(report, job, maps.pixels(), goal, ours, (&mut peer, name))?;
    }
    Ok(())
}

/// Noise that leans to the predicted class, in planes.
fn logits(maps: &Maps) -> Vec<f32> {
    let mut random = SplitMix64::new(2);
    let mut logits: Vec<f32> =
        (0..CLASSES * maps.pixels()).map(|_| (6.0 * random.unit() - 3.0) as f32).collect();
    for (pixel, class) in maps.pred.iter().enumerate().filter(|(_, class)| **class != VOID) {
        logits[usize::from(*class) * maps.pixels() + pixel] += 4.0;
    }
    logits
}
