//! NLL, Brier, ECE and the confusion matrix from logits, in one pass against several.

use std::path::Path;

use calipers_core::SplitMix64;
use calipers_metrics::segmentation::{NumberSlice, Prediction, ScoreArray, Unit, measure};
use half::f16;

use super::maps::{CLASSES, Maps, VOID, protocol};
use super::{against, speed};
use crate::Outcome;
use crate::harness::clock::seconds_per_call;
use crate::harness::line::{Goal, Line};
use crate::harness::npy;
use crate::harness::peer::Peer;

/// Against NumPy, and what more than the largest probability costs.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    compare(report, "segmentation_probabilities.py", "NumPy", Goal::None)?;
    among_ourselves(report)
}

/// Against torch, by hand as training scripts do it, and against torchmetrics.
pub(crate) fn run_published(report: &mut dyn FnMut(Line)) -> Outcome {
    compare(report, "segmentation_published.py", "torch", Goal::AtLeast(12.0))?;
    compare(report, "segmentation_torchmetrics.py", "torchmetrics", Goal::AtLeast(40.0))
}

/// The cost of every class's bins and of temperatures, and what deciding alone takes.
fn among_ourselves(report: &mut dyn FnMut(Line)) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let logits = logits(&maps);
    let shape = [CLASSES, maps.height, maps.width];
    let seconds = |measures: &[&str]| -> Outcome<f64> {
        let protocol = protocol("logits", measures)?;
        let pass = || {
            let pred = Prediction::Scores(vec![Some(ScoreArray { shape, data: NumberSlice::F32(&logits) })]);
            measure(&protocol, &Unit::Pixels { truth: maps.truth(), pred })
        };
        pass()?;
        Ok((0..5).map(|_| seconds_per_call(pass)).fold(f64::INFINITY, f64::min))
    };
    let whole = seconds(&["overlap", "calibration"])?;
    let mut line = |job: &str, ours: f64, against: f64, goal: Goal| {
        report(Line {
            job: job.into(),
            ours: speed(maps.pixels(), ours),
            against: speed(maps.pixels(), against),
            ratio: ours / against,
            goal,
        });
    };
    let job = "logits, decisions alone, times longer; with NLL, Brier and ECE";
    line(job, seconds(&["overlap"])?, whole, Goal::AtMost(1.0));
    let job = "logits, bins of every class too, times longer; without";
    line(job, seconds(&["overlap", "calibration", "classwise"])?, whole, Goal::None);
    let job = "logits, 33 temperatures too, times longer; without";
    line(job, seconds(&["overlap", "calibration", "temperature"])?, whole, Goal::None);
    Ok(())
}

fn compare(report: &mut dyn FnMut(Line), script: &str, library: &str, goal: Goal) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let logits = logits(&maps);
    let folder = tempfile::tempdir()?;
    maps.save(folder.path())?;
    save_logits(&logits, maps.pixels(), folder.path())?;
    let mut peer = Peer::start(script, folder.path())?;
    let halves: Vec<f16> = logits.iter().copied().map(f16::from_f32).collect();
    let protocol = protocol("logits", &["overlap", "calibration"])?;
    for (name, data) in [("f32", NumberSlice::F32(&logits)), ("f16", NumberSlice::F16(&halves))] {
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

/// Writes `logits.npy` with one plane per line.
pub(super) fn save_logits(logits: &[f32], pixels: usize, folder: &Path) -> Outcome {
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &logits.chunks(pixels).collect::<Vec<_>>(), false)?;
    Ok(std::fs::write(folder.join("logits.npy"), bytes)?)
}

/// Noise that leans to the predicted class, in planes.
pub(super) fn logits(maps: &Maps) -> Vec<f32> {
    let mut random = SplitMix64::new(2);
    let mut logits: Vec<f32> =
        (0..CLASSES * maps.pixels()).map(|_| (6.0 * random.unit() - 3.0) as f32).collect();
    for (pixel, class) in maps.pred.iter().enumerate().filter(|(_, class)| **class != VOID) {
        logits[usize::from(*class) * maps.pixels() + pixel] += 4.0;
    }
    logits
}
