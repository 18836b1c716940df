//! Surface distances of a volume, all numbers of all classes at once, against the libraries class by class.

use std::path::Path;

use calipers_core::SplitMix64;
use calipers_metrics::segmentation::{
    Config, Grid, LabelMap, MapData, Prediction, Segmentation, Unit, measure,
};

use super::against_once;
use crate::Outcome;
use crate::harness::line::{Goal, Line};
use crate::harness::npy;
use crate::harness::peer::Peer;

/// Slices, rows and columns.
const AXES: [usize; 3] = [128, 192, 192];
/// The background and the objects.
const CLASSES: usize = 8;
const SPACINGS: [[f64; 3]; 2] = [[1.0, 1.0, 1.0], [2.0, 0.75, 0.75]];
/// What each peer computes, and how many times faster all numbers of a convention should be: where surfaces
/// are near, and where they are far.
const PEERS: [(&str, &str, &str, f64, f64); 6] = [
    ("monai hd95", "MONAI, hd95 alone", "monai", 2.5, 2.5),
    ("monai", "MONAI, hd, hd95, assd and nsd", "monai", 8.0, 8.0),
    ("deepmind", "surface-distance, three readings", "deepmind", 8.0, 4.0),
    ("medpy", "medpy, hd, hd95 and assd", "medpy", 25.0, 12.0),
    ("edt", "edt, a transform per class and direction", "strict", 4.0, 1.0),
    ("itk", "SimpleITK, hd and distances of the contours", "strict", 4.0, 1.0),
];

/// Truth and prediction.
struct Volumes {
    truth: Vec<u8>,
    pred: Vec<u8>,
}

impl Volumes {
    /// Objects that the prediction moves by up to 4 elements.
    fn blobs() -> Self {
        let mut random = SplitMix64::new(1);
        let mut place = |low: f64, side: f64| low + side * random.unit();
        let blob = |_| {
            let centre = AXES.map(|length| place(0.2, 0.6) * length as f64);
            (centre, [0; 3].map(|_| place(12.0, 20.0)), [0; 3].map(|_| place(-4.0, 8.0)))
        };
        let blobs: Vec<([f64; 3], [f64; 3], [f64; 3])> = (1..CLASSES).map(blob).collect();
        let map = |moved: f64| {
            each_place(|place| {
                let inside = |(centre, radius, step): &&([f64; 3], [f64; 3], [f64; 3])| {
                    let part = |axis: usize| (place[axis] - centre[axis] - moved * step[axis]) / radius[axis];
                    (0..3).map(|axis| part(axis).powi(2)).sum::<f64>() <= 1.0
                };
                blobs.iter().position(|blob| inside(&blob)).map_or(0, |class| class as u8 + 1)
            })
        };
        Self { truth: map(0.0), pred: map(1.0) }
    }

    /// Cells without a background, that the prediction moves around the border.
    fn cells() -> Self {
        let mut random = SplitMix64::new(2);
        let sites: Vec<[f64; 3]> =
            (0..2 * CLASSES).map(|_| AXES.map(|length| random.unit() * length as f64)).collect();
        let truth = each_place(|place| {
            let squared = |site: &[f64; 3]| (0..3).map(|k| (site[k] - place[k]).powi(2)).sum::<f64>();
            let nearest = (0..sites.len()).min_by(|a, b| squared(&sites[*a]).total_cmp(&squared(&sites[*b])));
            (nearest.unwrap_or(0) % CLASSES) as u8
        });
        let [_, _, width] = AXES;
        let mut pred = truth.clone();
        pred.chunks_mut(width).for_each(|row| row.rotate_right(8));
        Self { truth, pred }
    }

    fn save(&self, folder: &Path) -> Outcome {
        for (name, map) in [("truth.npy", &self.truth), ("pred.npy", &self.pred)] {
            let mut bytes = Vec::new();
            npy::write(&mut bytes, &map.chunks(AXES[2]).collect::<Vec<_>>(), false)?;
            std::fs::write(folder.join(name), bytes)?;
        }
        Ok(())
    }
}

fn each_place(label: impl Fn([f64; 3]) -> u8) -> Vec<u8> {
    let [depth, height, width] = AXES;
    let places = (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| [z, y, x])));
    places.map(|place| label(place.map(|at| at as f64))).collect()
}

fn protocol(convention: &str) -> Outcome<Segmentation> {
    let config: Config = serde_json::from_value(serde_json::json!({
        "measure": ["surface"],
        "labels": {"original": CLASSES, "background": 0},
        "surface": {"convention": convention, "tolerance": 2.0, "percentile": 50.0},
    }))?;
    Ok(config.resolve()?)
}

/// All numbers of 8 classes in 128 x 192 x 192 elements.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    for (kind, volumes) in [("near", Volumes::blobs()), ("far", Volumes::cells())] {
        let folder = tempfile::tempdir()?;
        volumes.save(folder.path())?;
        let mut peer = Peer::start("segmentation_surfaces.py", folder.path())?;
        for spacing in SPACINGS {
            let grid = Grid::new(&AXES, Some(&spacing))?;
            let map = |ids| LabelMap { height: grid.rows(), width: AXES[2], data: MapData::U8(ids) };
            for (job, words, convention, near, far) in PEERS {
                let protocol = protocol(convention)?;
                let ours = || {
                    let (truth, pred) = (map(&volumes.truth), Prediction::Labels(map(&volumes.pred)));
                    measure(&protocol, &Unit::Spatial { grid, truth, pred })
                };
                let goal = Goal::AtLeast(if kind == "near" { near } else { far });
                let line = format!("{kind} surfaces, spacing {}; {words}", spacing[1]);
                let peer_job =
                    format!("{job} {}", if spacing[0].total_cmp(&1.0).is_eq() { "1" } else { "2" });
                against_once(report, line, volumes.truth.len(), goal, ours, (&mut peer, &peer_job))?;
            }
        }
    }
    Ok(())
}
