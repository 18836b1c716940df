//! Segmentations: read again, whole or one image.

use std::path::PathBuf;

use calipers_core::resample::Intervals;
use calipers_core::{Accumulator, Error, Result};
use calipers_metrics::segmentation::Segmentation;
use calipers_metrics::segmentation::config::{
    Config, DataConfig, HeadConfig, LabelsConfig, Orientation, Spacing,
};
use calipers_metrics::segmentation::labels::{ClassMaps, ClassRef, class_maps};
use calipers_metrics::segmentation::surface::{FarthestSlice, farthest_slice};
use calipers_report::chart::Picture;
use calipers_sources::run::Work;
use calipers_sources::segmentation::options::Options;
use calipers_sources::segmentation::plan::PRED;
use calipers_sources::segmentation::{Units, measure_under};

use crate::pictures;
use crate::registry::Registered;
use crate::replay::{Evidence, Replay};

/// The images, to be read one by one. Fails for confusion matrices, which have no pixels.
pub fn units(replay: &Replay) -> Result<Units> {
    let (protocol, options) = options(replay)?;
    Units::find(options, protocol, replay.again())
}

/// The image of that name.
pub fn unit(units: &Units, name: &str) -> Result<ClassMaps> {
    units.with(name, |protocol, unit| class_maps(protocol, &unit))
}

/// The slice of that unit in which the surfaces of truth and prediction are farthest apart.
pub fn farthest(units: &Units, name: &str) -> Result<Option<FarthestSlice>> {
    units.with(name, |protocol, unit| farthest_slice(protocol, &unit))
}

impl Registered for Segmentation {
    const SUMMARY: &'static str = "label maps and probabilities in one global label space";

    fn measure_again(replay: &Replay, threads: usize) -> Result<Vec<Accumulator<Self>>> {
        let (protocol, options) = options(replay)?;
        Ok(vec![measure_under(&protocol, &options, replay.again(), &Work::quiet(threads))?])
    }

    fn pictures(
        rows: &Accumulator<Self>,
        evidence: &Evidence,
        intervals: Option<&Intervals>,
    ) -> Vec<Picture> {
        pictures::segmentation::of(rows, evidence, intervals)
    }
}

fn options(replay: &Replay) -> Result<(Segmentation, Options)> {
    let protocol: Segmentation = replay.parameter()?;
    let recorded = replay.recorded();
    let keys = recorded.list("keys");
    let head = |(at, key): (usize, &String)| {
        let name = protocol.heads.get(at).map(|head| head.name.clone()).unwrap_or_default();
        // A key that is the name is found whether it was written down or not.
        let key = (*key != name).then(|| key.clone());
        HeadConfig { name, key, ..HeadConfig::default() }
    };
    let mut heads: Vec<HeadConfig> = keys.iter().enumerate().map(head).collect();
    let apart = format!("{PRED}.");
    for role in recorded.roles(&apart) {
        let path = recorded.one(&role)?;
        for position in role[apart.len()..].split('+') {
            let head = position.parse().ok().and_then(|at: usize| heads.get_mut(at));
            let head = head.ok_or_else(|| Error::format("a role of no head").at("inputs").found(&role))?;
            head.path.clone_from(&path);
        }
    }
    let steps: Option<Vec<f64>> = recorded.list("spacing").iter().map(|step| step.parse().ok()).collect();
    let steps = steps.ok_or_else(|| Error::format("not a spacing").at("reading"))?;
    let colors = recorded.list("colors").iter().map(|text| colour(text)).collect::<Result<_>>()?;
    let config = Config {
        data: DataConfig {
            truth_suffix: recorded.text("truth_suffix"),
            pred_suffix: recorded.text("pred_suffix"),
            truth_rgb: recorded.text("truth_rgb"),
            pred_rgb: recorded.text("pred_rgb"),
            flat: recorded.flag("flat"),
            allow_missing: recorded.flag("allow_missing"),
            spacing: (!steps.is_empty()).then_some(Spacing::Axes(steps)),
            orientation: recorded.text("orientation").map(|_| Orientation::Ignore),
            ..DataConfig::default()
        },
        labels: LabelsConfig { colors, ..LabelsConfig::default() },
        heads,
        ..Config::default()
    };
    let one = |role: &str| -> Result<Option<PathBuf>> { recorded.one(role) };
    let options = Options { config, truth: one("truth")?, pred: one(PRED)?, confusion: one("confusion")? };
    Ok((protocol, options))
}

/// A colour and its class as the reading shows them.
fn colour(text: &str) -> Result<(String, ClassRef)> {
    let parts = text.split_once(" = ");
    let (colour, class) = parts.ok_or_else(|| Error::format("not a colour").at("reading").found(text))?;
    let class = match class.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        None => ClassRef::from(class),
        Some(plain) => ClassRef::Name(serde_json::from_str(class).unwrap_or_else(|_| plain.to_owned())),
    };
    Ok((colour.to_owned(), class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_back_as_the_reading_shows_them() {
        for class in [ClassRef::Id(-3), ClassRef::Name("a \"b\" = c".into()), ClassRef::Name("7".into())] {
            let shown = format!("#804080 = {class}");
            assert_eq!(colour(&shown).unwrap(), ("#804080".into(), class));
        }
        assert!(colour("#804080").is_err());
    }
}
