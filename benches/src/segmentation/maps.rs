//! Pairs of label maps like those of street scenes, made from a seed.

use std::path::Path;

use calipers_core::SplitMix64;
use calipers_metrics::segmentation::{Config, LabelMap, MapData, Segmentation};

use crate::Outcome;
use crate::harness::npy;

/// Classes of every bench.
pub(crate) const CLASSES: usize = 19;
/// Not labelled.
pub(crate) const VOID: u8 = 255;

/// Truth and prediction of one image, both void where the truth is.
pub(crate) struct Maps {
    /// Columns.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
    /// The truth, row by row.
    pub(crate) truth: Vec<u8>,
    /// The prediction.
    pub(crate) pred: Vec<u8>,
}

impl Maps {
    /// Regions with straight borders, about 60 of them, that the prediction moves by some pixels.
    /// The lowest 7 % of the rows are void.
    pub(crate) fn smooth(width: usize, height: usize, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut place = |side: usize| random.below(side as u64) as f64;
        let sites: Vec<[f64; 2]> = (0..60).map(|_| [place(width), place(height)]).collect();
        let moved: Vec<[f64; 2]> =
            sites.iter().map(|[x, y]| [x + place(24) - 12.0, y + place(24) - 12.0]).collect();
        let scored = height - height * 7 / 100;
        let nearest = |sites: &[[f64; 2]], pixel: usize| {
            let (x, y) = ((pixel % width) as f64, (pixel / width) as f64);
            let distance = |[a, b]: &[f64; 2]| (a - x) * (a - x) + (b - y) * (b - y);
            let by_distance = |a: &usize, b: &usize| distance(&sites[*a]).total_cmp(&distance(&sites[*b]));
            let site = (0..sites.len()).min_by(by_distance).unwrap_or(0);
            if pixel / width < scored { (site % CLASSES) as u8 } else { VOID }
        };
        let map = |sites: &[[f64; 2]]| (0..width * height).map(|pixel| nearest(sites, pixel)).collect();
        Self { width, height, truth: map(&sites), pred: map(&moved) }
    }

    /// Every pixel anything, 7 % of them void.
    pub(crate) fn noise(width: usize, height: usize, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut class = || random.below(CLASSES as u64) as u8;
        let (mut truth, mut pred) = (Vec::new(), Vec::new());
        for _ in 0..width * height {
            truth.push(class());
            pred.push(class());
        }
        for pixel in 0..truth.len() {
            if random.below(100) < 7 {
                (truth[pixel], pred[pixel]) = (VOID, VOID);
            }
        }
        Self { width, height, truth, pred }
    }

    /// How many pixels there are.
    pub(crate) fn pixels(&self) -> usize {
        self.width * self.height
    }

    /// The truth as a unit's part.
    pub(crate) fn truth(&self) -> LabelMap<'_> {
        LabelMap { height: self.height, width: self.width, data: MapData::U8(&self.truth) }
    }

    /// The prediction as a unit's part.
    pub(crate) fn pred(&self) -> LabelMap<'_> {
        LabelMap { height: self.height, width: self.width, data: MapData::U8(&self.pred) }
    }

    /// Writes `truth.npy` and `pred.npy` with one row per line.
    pub(crate) fn save(&self, folder: &Path) -> Outcome {
        for (name, map) in [("truth.npy", &self.truth), ("pred.npy", &self.pred)] {
            let mut bytes = Vec::new();
            npy::write(&mut bytes, &map.chunks(self.width).collect::<Vec<_>>(), false)?;
            std::fs::write(folder.join(name), bytes)?;
        }
        Ok(())
    }
}

/// A protocol for 19 classes that measures some parts, from the rest of a configuration.
pub(crate) fn protocol(kind: &str, measure: &[&str]) -> Outcome<Segmentation> {
    let names: Vec<String> = (0..CLASSES).map(|class| class.to_string()).collect();
    let config: Config = serde_json::from_value(serde_json::json!({
        "kind": kind,
        "measure": measure,
        "labels": {"original": names, "ignore": [VOID]},
    }))?;
    Ok(config.resolve()?)
}
