//! Bands and contours of all classes at once, against OpenCV class by class.

use calipers_metrics::segmentation::boundary::{BandRules, contours, inner_band, outer_band};

use super::maps::{CLASSES, Maps};
use super::{against, speed};
use crate::Outcome;
use crate::harness::clock::seconds_per_call;
use crate::harness::line::{Goal, Line};
use crate::harness::peer::Peer;

/// 2 % of the diagonal of 1024 x 2048.
const CHENG: u32 = 46;
/// The square of 0.75 % of that diagonal.
const RADIUS_SQUARED: f64 = 294.912;

/// Smooth maps 1024 x 2048.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let maps = Maps::smooth(2048, 1024, 1);
    let folder = tempfile::tempdir()?;
    maps.save(folder.path())?;
    let mut peer = Peer::start("segmentation_bands.py", folder.path())?;
    let rules = BandRules { classes: CLASSES, background: None, keep_void: false, skip_absent: false };
    let (width, height, pixels) = (maps.width, maps.height, maps.pixels());
    let outer = |thickness: u32| outer_band(&maps.truth, &maps.pred, width, height, thickness, &rules);
    for thickness in [2, 4, 16] {
        let job = format!("outer band, t = {thickness}; OpenCV dilate per class");
        let peer_job = format!("outer {thickness}");
        against(report, job, pixels, Goal::AtLeast(4.0), || outer(thickness), (&mut peer, &peer_job))?;
    }
    let (thin, thick) = (seconds_per_call(|| outer(2)), seconds_per_call(|| outer(16)));
    report(Line {
        job: "outer band, t = 16; t = 2, times longer".into(),
        ours: speed(pixels, thick),
        against: speed(pixels, thin),
        ratio: thick / thin,
        goal: Goal::AtMost(1.5),
    });
    let inner = || inner_band(&maps.truth, &maps.pred, width, height, CHENG, &rules);
    let job = format!("Cheng's band, {CHENG} pixels; OpenCV erode per class");
    against(report, job, pixels, Goal::AtLeast(15.0), inner, (&mut peer, &format!("inner {CHENG}")))?;
    let matched = || contours(&maps.truth, &maps.pred, width, height, RADIUS_SQUARED, &rules);
    let job = "contour F1; OpenCV with a disk per class".into();
    against(report, job, pixels, Goal::AtLeast(10.0), matched, (&mut peer, "contour"))
}
