//! A configuration as it is written, in TOML, JSON or Python, before anything is checked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::segmentation::labels::{ClassRef, Originals};
use crate::segmentation::protocol::{
    Closed, Kind, Layout, Measure, MissingHeads, Preset, Space, Unpredicted,
};
use crate::segmentation::surface::{ImagesConfig, SurfaceConfig};

/// Everything a configuration file may say; what it leaves out is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The named set of conventions.
    pub preset: Option<Preset>,
    /// What is measured.
    pub measure: Option<Measures>,
    /// What the prediction holds, for heads that do not say it.
    pub kind: Option<Kind>,
    /// The order of its axes, for heads that do not say it.
    pub layout: Option<Layout>,
    /// Which ids label maps hold, for heads that do not say it.
    pub space: Option<Space>,
    /// Where the files are.
    pub data: DataConfig,
    /// The label spaces.
    pub labels: LabelsConfig,
    /// Bands and contours.
    pub boundary: BoundaryConfig,
    /// The bins of calibration.
    pub bins: BinsConfig,
    /// Distances between surfaces.
    pub surface: SurfaceConfig,
    /// The worst images.
    pub images: ImagesConfig,
    /// The heads; none stands for one called `flat`.
    pub heads: Vec<HeadConfig>,
}

/// `[data]`: where the files are and how they are paired.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataConfig {
    /// Folder or container of the truth.
    pub truth: Option<PathBuf>,
    /// Folder or container of the predictions.
    pub pred: Option<PathBuf>,
    /// The end of the names of truth files.
    pub truth_suffix: Option<String>,
    /// The end of the names of prediction files.
    pub pred_suffix: Option<String>,
    /// Whether units are named without their folders.
    pub flat: bool,
    /// The rule by which the colours of truth are ids.
    pub truth_rgb: Option<String>,
    /// The rule by which the colours of predictions are ids.
    pub pred_rgb: Option<String>,
    /// Which ids truth maps hold.
    pub truth_space: Option<Space>,
    /// Whether truth without a prediction is only a warning.
    pub allow_missing: bool,
    /// Confusion matrices in place of maps.
    pub confusion: Option<PathBuf>,
    /// How far elements are apart: one number, or one per axis in the order of the array.
    pub spacing: Option<Spacing>,
    /// Whether truth and prediction must point the same way.
    pub orientation: Option<Orientation>,
}

/// One number for all axes, or one per axis.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Spacing {
    /// Of all axes.
    All(f64),
    /// Of each axis, in the order of the array.
    Axes(Vec<f64>),
}

impl Spacing {
    /// The numbers.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Self::All(step) => std::slice::from_ref(step),
            Self::Axes(steps) => steps,
        }
    }
}

/// What becomes of files that say how their axes lie in space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Orientation {
    /// Truth and prediction must agree.
    Check,
    /// It is not looked at.
    Ignore,
}

/// `[labels]`: the original and the global label space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelsConfig {
    /// The classes of the truth files.
    pub original: Option<Originals>,
    /// The classes that are scored.
    pub global: Option<Vec<ClassRef>>,
    /// The originals of a global class.
    pub groups: BTreeMap<String, Vec<ClassRef>>,
    /// The global class of every original that nobody claims.
    pub rest: Option<ClassRef>,
    /// Truth values and classes that are not scored.
    pub ignore: Vec<ClassRef>,
    /// The global class outside the boundary metrics, or the word `none`.
    pub background: Option<ClassRef>,
    /// Whether the background takes part in means over classes.
    pub include_background: Option<bool>,
    /// What a label map with an ignored value at a scored pixel is.
    pub unpredicted: Option<Unpredicted>,
    /// What a unit without one of the heads is.
    pub missing_heads: Option<MissingHeads>,
    /// The class of each colour, `#rrggbb`.
    pub colors: BTreeMap<String, ClassRef>,
}

/// `[boundary]`: bands and contours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BoundaryConfig {
    /// Width of the outer band in pixels.
    pub thickness: Option<i64>,
    /// Width of Cheng's inner band as a fraction of the diagonal.
    pub cheng: Option<f64>,
    /// Contour matching radius as a fraction of the diagonal.
    pub tolerance: Option<f64>,
    /// Contour matching radius in pixels.
    pub tolerance_px: Option<f64>,
}

/// `[bins]`: the bins of calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BinsConfig {
    /// How many.
    pub count: Option<i64>,
    /// Which end belongs to a bin.
    pub closed: Option<Closed>,
}

/// One of `[[heads]]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadConfig {
    /// The name, also the array's key.
    pub name: String,
    /// The array's key, where it is not the name.
    pub key: Option<String>,
    /// A folder or container of its own.
    pub path: Option<PathBuf>,
    /// What the array holds.
    pub kind: Option<Kind>,
    /// The order of its axes.
    pub layout: Option<Layout>,
    /// Which ids a label map holds.
    pub space: Option<Space>,
    /// The channels, in order.
    pub channels: Option<Vec<ClassRef>>,
    /// The originals of a channel.
    #[serde(default)]
    pub groups: BTreeMap<String, Vec<ClassRef>>,
    /// The channel of every original that nobody claims.
    pub rest: Option<ClassRef>,
    /// Originals that the head can never predict.
    #[serde(default)]
    pub absent: Vec<ClassRef>,
    /// The head's weight in the product.
    pub alpha: Option<f64>,
    /// The head's temperature.
    pub tau: Option<f64>,
}

/// What is to be measured: a list, or the word `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measures(pub Vec<Measure>);

impl<'de> Deserialize<'de> for Measures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MeasuresVisitor)
    }
}

struct MeasuresVisitor;

impl<'de> Visitor<'de> for MeasuresVisitor {
    type Value = Measures;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of measures or \"all\"")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Measures, E> {
        match word {
            "all" => Ok(Measures(Measure::ALL.into())),
            _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Measures, A::Error> {
        let mut measures = Vec::new();
        while let Some(measure) = list.next_element()? {
            measures.push(measure);
        }
        Ok(Measures(measures))
    }
}
