//! What a caller can ask of a segmentation run, checked before anything is read.

use std::path::{Path, PathBuf};

use calipers_core::provenance::Setting;
use calipers_core::{Error, Reading, Result};
use calipers_io::place;
use calipers_metrics::segmentation::Config;
use calipers_metrics::segmentation::config::Orientation;

use super::rgb;
use super::space::Told;

/// Where the evidence is and how it is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Everything a configuration can say, but for the places below.
    pub config: Config,
    /// Folder or container of the truth.
    pub truth: Option<PathBuf>,
    /// Folder or container of the predictions of heads without a path of their own.
    pub pred: Option<PathBuf>,
    /// Confusion matrices in place of maps.
    pub confusion: Option<PathBuf>,
}

impl Options {
    /// The options of a configuration whose paths are relative to `folder`.
    pub fn new(mut config: Config, folder: &Path) -> Self {
        for head in &mut config.heads {
            head.path = head.path.take().map(|path| place::below(folder, &path));
        }
        let below = |path: &Option<PathBuf>| path.as_ref().map(|path| place::below(folder, path));
        for rule in [&mut config.data.truth_rgb, &mut config.data.pred_rgb].into_iter().flatten() {
            *rule = rgb::below(rule, folder);
        }
        let (truth, pred) = (below(&config.data.truth), below(&config.data.pred));
        let confusion = below(&config.data.confusion);
        Self { config, truth, pred, confusion }
    }

    /// What options and configuration say of space, over what files say.
    pub fn told(&self) -> Told {
        let data = &self.config.data;
        let spacing = data.spacing.as_ref().map(|spacing| spacing.numbers().to_vec());
        Told { spacing, orientation: data.orientation }
    }

    /// Refuses combinations that contradict themselves: wrong usage, not wrong data.
    pub fn check(&self) -> Result<()> {
        let maps = self.truth.is_some() || self.pred.is_some();
        if self.confusion.is_some() && maps {
            return Err(Error::usage("--confusion stands in place of --truth and --pred")
                .advice("give either maps or confusion matrices"));
        }
        if self.config.labels.original.is_none() {
            return Err(Error::usage("the classes are not given").advice(
                "--classes N, a file of names, or cityscapes; or [labels] original in a configuration",
            ));
        }
        if self.confusion.is_some() {
            return Ok(());
        }
        let heads = &self.config.heads;
        let all_apart = !heads.is_empty() && heads.iter().all(|head| head.path.is_some());
        let missing = match (&self.truth, &self.pred) {
            (None, None) if !all_apart => "nothing to measure",
            (None, _) => "the truth is not given",
            (Some(_), None) if !all_apart => "the predictions are not given",
            _ => return Ok(()),
        };
        Err(Error::usage(missing)
            .advice("give a configuration, or --truth PATH and --pred PATH, or --confusion FILE"))
    }

    /// The options that say how files are found, paired and read.
    pub fn reading(&self) -> Reading {
        let data = &self.config.data;
        let text = |text: &Option<String>| text.clone().map_or(Setting::Unset, Setting::Text);
        let colours = self.config.labels.colors.iter().map(|(colour, class)| format!("{colour} = {class}"));
        let keys = self.config.heads.iter().map(|head| head.key.as_ref().unwrap_or(&head.name).clone());
        let settings = [
            ("allow_missing", Setting::Flag(data.allow_missing)),
            ("colors", Setting::List(colours.collect())),
            ("flat", Setting::Flag(data.flat)),
            ("keys", Setting::List(keys.collect())),
            ("pred_suffix", text(&data.pred_suffix)),
            ("truth_suffix", text(&data.truth_suffix)),
        ];
        let mut reading: Reading =
            settings.into_iter().map(|(key, setting)| (key.to_owned(), setting)).collect();
        // Written where they are said, so that the record of other runs stays what it was.
        for (key, rule) in [("truth_rgb", &data.truth_rgb), ("pred_rgb", &data.pred_rgb)] {
            if let Some(rule) = rule {
                reading.insert(key.to_owned(), Setting::Text(rule.clone()));
            }
        }
        if let Some(spacing) = &data.spacing {
            let steps = spacing.numbers().iter().map(f64::to_string).collect();
            reading.insert("spacing".to_owned(), Setting::List(steps));
        }
        if data.orientation == Some(Orientation::Ignore) {
            reading.insert("orientation".to_owned(), Setting::Text("ignore".to_owned()));
        }
        reading
    }
}
