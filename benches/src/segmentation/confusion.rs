//! The confusion matrix of two label maps, checks included, against NumPy and a plain C loop.

use std::process::{Command, Stdio};

use calipers_metrics::segmentation::{Prediction, Unit, measure};

use super::against;
use super::maps::{Maps, protocol};
use crate::Outcome;
use crate::harness::line::{Goal, Line};
use crate::harness::peer::Peer;

/// Smooth maps and noise, 1024 x 2048.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let smooth = (Maps::smooth(2048, 1024, 1), "smooth maps", Goal::AtLeast(6.0), Goal::AtLeast(2.0));
    let noise = (Maps::noise(2048, 1024, 1), "noise", Goal::AtLeast(6.0), Goal::AtLeast(1.0));
    let protocol = protocol("labels", &["overlap"])?;
    for (maps, name, over_numpy, over_c) in [smooth, noise] {
        let folder = tempfile::tempdir()?;
        maps.save(folder.path())?;
        let mut peer = Peer::start("segmentation_confusion.py", folder.path())?;
        let mut compare = |library: &str, job: &str, goal: Goal| {
            let job_name = format!("confusion matrix, {name}; {library}");
            let ours = || {
                let unit = Unit::Pixels { truth: maps.truth(), pred: Prediction::Labels(maps.pred()) };
                measure(&protocol, &unit)
            };
            against(report, job_name, maps.pixels(), goal, ours, (&mut peer, job))
        };
        compare("NumPy bincount", "bincount", over_numpy)?;
        if has_compiler() {
            compare("plain C loop", "c_loop", over_c)?;
        }
    }
    Ok(())
}

/// Smooth maps against torchmetrics, which checks every value first.
pub(crate) fn run_published(report: &mut dyn FnMut(Line)) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let protocol = protocol("labels", &["overlap"])?;
    let folder = tempfile::tempdir()?;
    maps.save(folder.path())?;
    let mut peer = Peer::start("segmentation_torchmetrics.py", folder.path())?;
    let ours = || {
        let unit = Unit::Pixels { truth: maps.truth(), pred: Prediction::Labels(maps.pred()) };
        measure(&protocol, &unit)
    };
    let job = "confusion matrix, smooth maps; torchmetrics".into();
    against(report, job, maps.pixels(), Goal::AtLeast(80.0), ours, (&mut peer, "confusion"))
}

fn has_compiler() -> bool {
    let mut cc = Command::new("cc");
    cc.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    cc.status().is_ok_and(|status| status.success())
}
