//! The parameters of the family: what is measured, and how a prediction is read.

mod check;
pub mod config;
mod presets;
mod resolve;

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::resample::Sampling;
use calipers_core::{Column, Metric, Protocol, Provenance, Result, Rows, Warning};
use serde::{Deserialize, Serialize};

use super::metrics::{COLUMNS, METRICS, SPATIAL_COLUMNS};
use super::row::Row;
use super::surface::{Images, Surface};
use super::unit::Unit;
use super::warnings;
use crate::segmentation::labels::Originals;
use crate::segmentation::protocol::config::{Config, LabelsConfig};
use crate::segmentation::row::measure::measure;

/// How segmentations are measured. Serialised, it is the report's `protocol`.
///
/// `heads` says how a prediction is read, everything else what is measured: two models may differ
/// in the former and still be compared unit by unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segmentation {
    /// Which named set of conventions was chosen.
    pub preset: Preset,
    /// The original and the global label space.
    pub labels: LabelSpace,
    /// Which space the ids of truth maps are of.
    pub truth_space: Space,
    /// Bands and contours.
    pub boundary: Boundary,
    /// The bins of calibration.
    pub bins: Bins,
    /// Distances between surfaces, where they are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<Surface>,
    /// The worst images, where they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Images>,
    /// What is measured, in the order of [`Measure`], each once.
    pub measure: Vec<Measure>,
    /// The factors on every temperature that `temperature` tries.
    pub temperatures: Vec<f64>,
    /// The conventions that the preset stands for.
    pub conventions: Conventions,
    /// How the arrays of a prediction become classes.
    pub heads: Vec<Head>,
}

impl Segmentation {
    /// The preset for label maps of the classes 0 and 1, everything else at its default.
    pub fn new(preset: Preset) -> Self {
        let labels = LabelsConfig { original: Some(Originals::numbered(2)), ..LabelsConfig::default() };
        let config = Config { preset: Some(preset), labels, ..Config::default() };
        config.resolve().expect("two numbered classes and defaults contradict nothing")
    }

    /// The same for label maps of other classes, whose ids are their places in the list.
    pub fn with_classes<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let original = Some(names.into_iter().map(Into::into).collect());
        let labels = LabelsConfig { original, ..LabelsConfig::default() };
        let config = Config { preset: Some(self.preset), labels, ..Config::default() };
        let Self { labels, heads, .. } = config.resolve()?;
        Ok(Self { labels, heads, ..self })
    }

    /// How many global classes there are.
    pub fn classes(&self) -> usize {
        self.labels.global.len()
    }

    /// The classes of the boundary metrics: all but the background.
    pub fn foreground(&self) -> impl Iterator<Item = usize> + use<> {
        let background = self.labels.background;
        (0..self.classes()).filter(move |class| Some(*class) != background)
    }

    /// The classes of the means.
    pub fn means(&self) -> impl Iterator<Item = usize> {
        let left_out = self.labels.left_out();
        (0..self.classes()).filter(move |class| Some(*class) != left_out)
    }

    /// The classes of the boundary metrics with their names.
    pub(crate) fn foreground_names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.labels.foreground()
    }

    /// Whether that part is measured.
    pub fn measures(&self, measure: Measure) -> bool {
        self.measure.contains(&measure)
    }
}

impl Protocol for Segmentation {
    const NAME: &'static str = "segmentation";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
    const COLUMNS_OF_LABELS: bool = true;
    const READING_PARAMETERS: &'static [&'static str] = &["heads"];
    const READING_IN_ROWS: &'static [&'static str] = &["spacing"];

    const SAMPLING: Sampling = Sampling { by_folder: true, ..Sampling::UNITS };

    type Unit<'a> = Unit<'a>;
    type Row = Row;

    fn measure(&self, _: &str, unit: Unit<'_>) -> Result<Row> {
        measure(self, &unit)
    }

    fn check(&self) -> Result<()> {
        self.check_stored()
    }

    fn check_row(&self, row: &Row) -> Result<()> {
        row.check(self)
    }

    /// The classes of the means that occur in either map.
    fn labels_of<'a>(&'a self, row: &'a Row) -> Vec<&'a str> {
        let cells = row.confusion.cells().filter(|(_, pixels)| *pixels > 0);
        let seen: BTreeSet<u32> = cells.flat_map(|((truth, pred), _)| [truth, pred]).collect();
        let named = self.means().filter(|class| seen.contains(&(*class as u32)));
        named.map(|class| self.labels.global[class].as_str()).collect()
    }

    fn more_columns(&self) -> &'static [Column<Self>] {
        if self.measures(Measure::Surface) { SPATIAL_COLUMNS } else { &[] }
    }

    fn same_truth(&self, a: &Row, b: &Row) -> bool {
        a.same_truth(b)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
        warnings::warnings(self, rows, provenance)
    }
}

impl Default for Segmentation {
    fn default() -> Self {
        Self::new(Preset::Strict)
    }
}

/// The classes: originals as files have them, and the global ones that are scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelSpace {
    /// Every listed original class by id, ignored ones included.
    pub original: BTreeMap<i64, String>,
    /// The global classes; a global id is a position here.
    pub global: Vec<String>,
    /// The global class of every original that is scored.
    pub to_global: BTreeMap<i64, usize>,
    /// Truth values that are not scored, listed as originals or not.
    pub ignore: BTreeSet<i64>,
    /// The global class outside the boundary metrics.
    pub background: Option<usize>,
    /// Whether the background takes part in means over classes.
    pub include_background: bool,
    /// What a label map with an ignored value at a scored pixel is.
    pub unpredicted: Unpredicted,
    /// What a unit without one of the heads is.
    pub missing_heads: MissingHeads,
}

impl LabelSpace {
    /// The class that takes no part in means over classes.
    pub(crate) fn left_out(&self) -> Option<usize> {
        self.background.filter(|_| !self.include_background)
    }

    /// The global classes that are not the background, with their names.
    pub(crate) fn foreground(&self) -> impl Iterator<Item = (usize, &str)> {
        let named = self.global.iter().map(String::as_str).enumerate();
        named.filter(|(class, _)| Some(*class) != self.background)
    }
}

/// One array of a prediction and what its channels mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The name, also the array's key.
    pub name: String,
    /// What the array holds.
    pub kind: Kind,
    /// The order of its axes.
    pub layout: Layout,
    /// Which ids a label map holds.
    pub space: Space,
    /// The channels by name, in order; `-` is not used.
    pub channels: Vec<String>,
    /// The channel of every scored original that the head can predict.
    pub to_channel: BTreeMap<i64, usize>,
    /// Scored originals that the head can never predict.
    pub absent: BTreeSet<i64>,
    /// Channels that take no part in softmax and argmax.
    pub unused: BTreeSet<usize>,
    /// The channel of everything nobody claims; the head's background.
    pub rest: Option<usize>,
    /// The head's weight in the product.
    pub alpha: f64,
    /// The head's temperature.
    pub tau: f64,
}

/// Parameters of bands and contours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boundary {
    /// Width of the outer band in pixels.
    pub thickness: u32,
    /// Width of Cheng's inner band as a fraction of the diagonal.
    pub cheng: f64,
    /// Contour matching radius as a fraction of the diagonal.
    pub tolerance: f64,
    /// Contour matching radius in pixels, in place of the fraction.
    pub tolerance_px: Option<f64>,
}

/// Bins of equal width over [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// How many.
    pub count: usize,
    /// Which end belongs to a bin.
    pub closed: Closed,
}

/// Every parameter that presets differ in, beside those of the label space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conventions {
    /// 1e-6 in the quotients of the outer band.
    pub boundary_epsilon: bool,
    /// 1e-6 in pixel accuracy and the three error shares.
    pub overlap_epsilon: bool,
    /// F1 from precision and recall instead of counts.
    pub harmonic_f1: bool,
    /// Pixel accuracy as the mean recall.
    pub macro_pixel_accuracy: bool,
    /// Whether the mass of a channel is split among originals that no head separates.
    pub split_multiplicity: bool,
    /// With one head: the class is decided in the head's channels, then mapped.
    pub decide_in_head: bool,
    /// The smallest fused probability before normalising, with two or more heads.
    pub fusion_floor: Option<f64>,
    /// Added to a probability before its logarithm.
    pub nll_floor: Option<f64>,
    /// Whether void pixels take part in the outer band.
    pub keep_void_in_bands: bool,
    /// Whether a class absent from a unit's truth has no outer band there.
    pub skip_absent_in_bands: bool,
    /// Whether means without a value are 0.
    pub empty_is_zero: bool,
    /// Whether the IoU of a class in neither map is 0 (and still in no mean).
    pub absent_iou_is_zero: bool,
    /// Whether an unknown id predicted at a scored pixel is merely wrong.
    pub unknown_is_wrong: bool,
}

/// A named set of conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Exact formulas, undefined where 0/0.
    Strict,
    /// The document's literal text.
    Document,
    /// The published code of the multi-head model.
    CoralMtl,
    /// The Cityscapes evaluation.
    Cityscapes,
    /// mmsegmentation.
    Mmseg,
    /// torchmetrics' Jaccard index.
    TorchmetricsJaccard,
}

/// What an array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A label map.
    Labels,
    /// Unnormalised scores.
    Logits,
    /// Logarithms of probabilities.
    LogProbs,
    /// Probabilities.
    Probs,
}

/// The order of the axes of a score array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// Channel, row, column.
    #[serde(rename = "CHW")]
    Chw,
    /// Row, column, channel.
    #[serde(rename = "HWC")]
    Hwc,
}

/// Which ids a map holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Original ids.
    Original,
    /// Positions in the list of global classes.
    Global,
    /// Positions in the head's list of channels.
    Channel,
}

/// What a label map with an ignored value at a scored pixel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unpredicted {
    /// An error.
    Error,
    /// A wrong prediction of no class.
    Wrong,
}

/// What a unit without one of the heads is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingHeads {
    /// An error.
    Error,
    /// Scored from the heads that are there.
    Marginalise,
}

/// Which end belongs to a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closed {
    /// The right one.
    Right,
    /// The left one.
    Left,
}

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The confusion matrix family.
    Overlap,
    /// The outer band.
    Boundary,
    /// Cheng's inner band.
    Cheng,
    /// Contours matched within a radius.
    Contour,
    /// NLL, Brier and ECE.
    Calibration,
    /// ECE of every class.
    Classwise,
    /// NLL over temperatures.
    Temperature,
    /// Distances between surfaces.
    Surface,
    /// The worst images.
    Images,
}

impl Measure {
    /// What the word `all` asks for, in order; the other parts are asked for by name.
    pub const ALL: [Self; 7] = [
        Self::Overlap,
        Self::Boundary,
        Self::Cheng,
        Self::Contour,
        Self::Calibration,
        Self::Classwise,
        Self::Temperature,
    ];
    /// The parts that are asked for by name.
    pub const BY_NAME: [Self; 2] = [Self::Surface, Self::Images];
    /// The parts that are measured where nobody asks for others.
    pub const DEFAULT: [Self; 3] = [Self::Overlap, Self::Boundary, Self::Calibration];
}
