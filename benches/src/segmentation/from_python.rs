//! The Python package's own evaluator on arrays in memory, against the same update in Rust.

use calipers_core::Accumulator;
use calipers_metrics::segmentation::{NumberSlice, Prediction, ScoreArray, Unit};

use super::maps::{CLASSES, Maps, protocol};
use super::probabilities::{logits, save_logits};
use super::speed;
use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line};
use crate::harness::peer::Peer;

/// What the way through Python may cost.
const GOAL: Goal = Goal::AtMost(1.05);

/// Label maps alone, with bands and contours, and logits.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let logits = logits(&maps);
    let folder = tempfile::tempdir()?;
    maps.save(folder.path())?;
    save_logits(&logits, maps.pixels(), folder.path())?;
    let mut peer = Peer::start("segmentation_package.py", folder.path())?;
    let shape = [CLASSES, maps.height, maps.width];
    for (job, kind, measures) in [
        ("overlap", "labels", &["overlap"][..]),
        ("boundaries", "labels", &["overlap", "boundary", "cheng", "contour"]),
        ("logits", "logits", &["overlap", "calibration"]),
    ] {
        let mut accumulator = Accumulator::new(protocol(kind, measures)?);
        let mut units = 0;
        let mut ours = || {
            units += 1;
            let pred = match kind {
                "labels" => Prediction::Labels(maps.pred()),
                _ => Prediction::Scores(vec![Some(ScoreArray { shape, data: NumberSlice::F32(&logits) })]),
            };
            accumulator.update(format!("unit {units}").as_str(), Unit::Pixels { truth: maps.truth(), pred })
        };
        ours()?;
        peer.seconds(job)?;
        let (rust, python) =
            by_turns(9, || Ok(seconds_per_call(&mut ours)), || -> Outcome<f64> { peer.seconds(job) })?;
        report(Line {
            job: format!("{job} of a pair from Python, times longer; from Rust"),
            ours: speed(maps.pixels(), python),
            against: speed(maps.pixels(), rust),
            ratio: python / rust,
            goal: GOAL,
        });
    }
    Ok(())
}
