//! Populations from a folder of real data: frames of videos and published confusion matrices.

use std::fs;
use std::path::{Path, PathBuf};

use calipers::metrics::segmentation::{Config, Segmentation};
use calipers::run::Work;
use calipers::sources::config_file;
use calipers::sources::inputs::Inputs;
use calipers::sources::segmentation::measure;
use calipers::sources::segmentation::options::Options;
use calipers::{Accumulator, Error, Result};

use super::rows::{blocks_of, units_of};
use super::{Clustered, Drawable, Kind, Models, Part, Population, Populations};

const SEGMENTATION: &str = "segmentation";
const FRAMES: &str = "camvid/test";
const FRAMES_CONFIG: &str = "configs/camvid.toml";
const REEF: &str = "coral/baseline_test_confusions.jsonl";
const REEF_CONFIG: &str = "configs/coral-baseline.toml";
/// Neighbouring frames, or images of one reef, that come together.
const TOGETHER: usize = 8;
/// How far from its frame a prediction lies: the frame before, the one after, and so on.
const SHIFTS: [isize; 4] = [-1, 1, -2, 2];
/// A class that not every frame has.
const RARER: &str = "bicyclist";

pub(super) fn all(data: &Path, folder: &Path, threads: usize) -> Result<Populations> {
    let data = if data.join(SEGMENTATION).is_dir() { data.join(SEGMENTATION) } else { data.to_owned() };
    let work = Work::quiet(threads);
    let frames = frames(&data)?;
    let before = shifted(&data, &frames, SHIFTS[0], 1, &folder.join("before"), &work)?;
    let reef = reef(&data, &work)?;
    let numbers = |extra: &[(Kind, String)]| -> Vec<(Kind, String)> {
        let common = [
            (Kind::Mean, "segmentation.miou_image"),
            (Kind::Ratio, "segmentation.pixel_accuracy"),
            (Kind::OverLabels, "segmentation.miou"),
        ];
        common.map(|(kind, path)| (kind, path.to_owned())).into_iter().chain(extra.iter().cloned()).collect()
    };
    let population =
        |name, rows: &Accumulator<Segmentation>, extra: &[(Kind, String)]| -> Result<Population> {
            let units = units_of(rows);
            let each = Part::of_each(&units, "segmentation.pixel_accuracy")?;
            Ok(Population { name, parts: vec![Part::new(Box::new(units), &numbers(extra))?, each] })
        };
    let mut reef_population = population("reef images", &reef, &[])?;
    for number in reef_population.parts.iter_mut().flat_map(|part| &mut part.numbers) {
        number.rare_labels = number.kind == Kind::OverLabels;
    }
    let single = vec![
        population("CamVid frames", &before, &[(Kind::Label, format!("segmentation.iou.{RARER}"))])?,
        reef_population,
    ];
    let block = |name, rows| -> Result<Clustered> {
        let mut part = Part::new(Box::new(blocks_of(rows, TOGETHER)), &numbers(&[]))?;
        for number in &mut part.numbers {
            number.rare_labels = number.kind == Kind::OverLabels;
        }
        Ok(Clustered { name, part })
    };
    let clustered =
        vec![block("8 neighbouring CamVid frames", &before)?, block("8 neighbouring reef images", &reef)?];
    let mut models: Vec<Box<dyn Drawable>> = Vec::new();
    for (at, shift) in SHIFTS.into_iter().enumerate() {
        let rows = shifted(&data, &frames, shift, 2, &folder.join(format!("shift-{at}")), &work)?;
        models.push(Box::new(units_of(&rows)));
    }
    let compared = vec![
        (Kind::Mean, "segmentation.miou_image".into()),
        (Kind::Ratio, "segmentation.pixel_accuracy".into()),
    ];
    let models = vec![Models {
        name: "CamVid, predicted by the frames 1 and 2 before and after",
        models,
        numbers: compared,
    }];
    Ok(Populations { single, clustered, models })
}

fn frames(data: &Path) -> Result<Vec<PathBuf>> {
    let folder = data.join(FRAMES);
    let unreadable = |error: std::io::Error| Error::io(error.to_string()).in_file(folder.display());
    let mut frames = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        frames.push(entry.map_err(unreadable)?.path());
    }
    frames.sort();
    Ok(frames)
}

/// Frames predicted by the frame so far from each, without `margin` frames at both ends.
fn shifted(
    data: &Path,
    frames: &[PathBuf],
    shift: isize,
    margin: usize,
    folder: &Path,
    work: &Work<'_>,
) -> Result<Accumulator<Segmentation>> {
    let [truth, pred] = ["truth", "pred"].map(|name| folder.join(name));
    let failed = |error: std::io::Error| Error::io(error.to_string()).in_file(folder.display());
    for folder in [&truth, &pred] {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    for at in margin..frames.len().saturating_sub(if shift < 0 && margin == 1 { 0 } else { margin }) {
        let name = frames[at].file_name().unwrap_or_default();
        fs::copy(&frames[at], truth.join(name)).map_err(failed)?;
        fs::copy(&frames[at.saturating_add_signed(shift)], pred.join(name)).map_err(failed)?;
    }
    let config = config(&data.join(FRAMES_CONFIG))?;
    let options = Options { config, truth: Some(truth), pred: Some(pred), confusion: None };
    measure(&options, Inputs::default(), work)
}

fn reef(data: &Path, work: &Work<'_>) -> Result<Accumulator<Segmentation>> {
    let config = config(&data.join(REEF_CONFIG))?;
    let options = Options { config, truth: None, pred: None, confusion: Some(data.join(REEF)) };
    measure(&options, Inputs::default(), work)
}

fn config(path: &Path) -> Result<Config> {
    let text =
        fs::read_to_string(path).map_err(|error| Error::io(error.to_string()).in_file(path.display()))?;
    let config: Config = config_file::parse(&text).map_err(|error| error.in_file(path.display()))?;
    // Only the labels matter: heads and bands are not measured here.
    let overlap: Config = config_file::parse("measure = [\"overlap\"]")?;
    Ok(Config { labels: config.labels, ..overlap })
}
