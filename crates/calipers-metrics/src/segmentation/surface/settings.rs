//! The parameters of the parts `surface` and `images`, as they are written and as they are used.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::percent::Percent;
use crate::segmentation::protocol::LabelSpace;

/// How surfaces are measured and read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Whose definition.
    pub convention: Convention,
    /// The percentile of `hd_p`.
    pub percentile: Option<f64>,
    /// How far apart surfaces may be to count as equal.
    pub tolerance: Option<Tolerance>,
    /// The distances where one side alone has a surface.
    pub missing: Missing,
    /// What holds where neither side has one.
    pub absent: Absent,
}

/// Whose definition of a surface distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// Exact, void left out, undefined without two surfaces.
    Strict,
    /// The library medpy.
    Medpy,
    /// The library MONAI.
    Monai,
    /// The library surface-distance of DeepMind.
    Deepmind,
}

/// How far apart surfaces may be: everywhere, or per class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tolerance {
    /// Of all classes.
    All(f64),
    /// Of some.
    Classes(BTreeMap<String, f64>),
}

/// The distances where one side alone has a surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Missing {
    /// By a rule.
    Rule(MissingRule),
    /// This number.
    Distance(f64),
}

/// A rule for distances where one side alone has a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRule {
    /// They have no value.
    Undefined,
    /// The diagonal of the image.
    Diagonal,
}

/// What holds where neither side has a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Absent {
    /// Nothing has a value.
    Undefined,
    /// The prediction is right: distances 0, overlaps 1.
    Perfect,
}

/// How the worst images are read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Images {
    /// The share of the worst units, per cent.
    pub worst: f64,
}

/// `[surface]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceConfig {
    /// Whose definition.
    pub convention: Option<String>,
    /// The percentile of `hd_p`.
    pub percentile: Option<f64>,
    /// How far apart surfaces may be to count as equal.
    pub tolerance: Option<Tolerance>,
    /// The distances where one side alone has a surface: a rule or a number.
    pub missing: Option<MissingConfig>,
    /// What holds where neither side has one.
    pub absent: Option<String>,
}

/// A rule by name, or a number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum MissingConfig {
    /// The number.
    Distance(f64),
    /// The rule.
    Rule(String),
}

/// `[images]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImagesConfig {
    /// The share of the worst units, per cent.
    pub worst: Option<f64>,
}

impl Convention {
    /// Every convention with its name.
    const NAMED: [(&str, Self); 4] = [
        ("strict", Self::Strict),
        ("medpy", Self::Medpy),
        ("monai", Self::Monai),
        ("deepmind", Self::Deepmind),
    ];

    /// The convention of that name.
    pub fn named(name: &str) -> Result<Self> {
        chosen("convention", name, &Self::NAMED)
    }

    /// Whether distances are infinite where one side alone has a surface.
    pub(crate) fn is_infinite_without(self) -> bool {
        matches!(self, Self::Monai | Self::Deepmind)
    }
}

impl Surface {
    /// The strict definition without a percentile and a tolerance.
    pub const STRICT: Self = Self {
        convention: Convention::Strict,
        percentile: None,
        tolerance: None,
        missing: Missing::Rule(MissingRule::Undefined),
        absent: Absent::Undefined,
    };

    /// The tolerance of a class.
    pub(crate) fn tolerance_of(&self, class: &str) -> Option<f64> {
        match self.tolerance.as_ref()? {
            Tolerance::All(tolerance) => Some(*tolerance),
            Tolerance::Classes(classes) => classes.get(class).copied(),
        }
    }

    /// The percentiles of `hd95` and of `hd_p`.
    pub(crate) fn percentiles(&self) -> [Option<Percent>; 2] {
        [Some(Percent::whole(95)), self.percentile.and_then(Percent::new)]
    }

    /// Itself, if its numbers can be used.
    pub fn checked(self) -> Result<Self> {
        if let Some(percentile) = self.percentile {
            let fits = percentile > 0.0 && percentile <= 100.0 && Percent::new(percentile).is_some();
            if !fits {
                return Err(refused("not a percentile", "[surface] percentile", percentile)
                    .allowed("a number above 0, up to 100"));
            }
        }
        let tolerances: Vec<f64> = match &self.tolerance {
            None => Vec::new(),
            Some(Tolerance::All(tolerance)) => vec![*tolerance],
            Some(Tolerance::Classes(classes)) => classes.values().copied().collect(),
        };
        if let Some(bad) = tolerances.into_iter().find(|tolerance| !is_length(*tolerance)) {
            let error = refused("not a tolerance", "[surface] tolerance", bad);
            return Err(error.allowed("a finite number, 0 or more"));
        }
        if let Missing::Distance(distance) = self.missing
            && !is_length(distance)
        {
            let error = refused("not a distance", "[surface] missing", distance);
            return Err(error.allowed("undefined, diagonal, or a finite number, 0 or more"));
        }
        Ok(self)
    }
}

/// The parameters of surfaces that are written down.
pub(crate) fn surface(config: &SurfaceConfig, labels: &LabelSpace) -> Result<Surface> {
    let convention = config.convention.as_deref().map_or(Ok(Convention::Strict), Convention::named)?;
    let rules = [("undefined", MissingRule::Undefined), ("diagonal", MissingRule::Diagonal)];
    let missing = match &config.missing {
        None => Missing::Rule(MissingRule::Undefined),
        Some(MissingConfig::Distance(distance)) => Missing::Distance(*distance),
        Some(MissingConfig::Rule(name)) => Missing::Rule(
            chosen("missing", name, &rules)
                .map_err(|error| error.allowed("undefined, diagonal, or a distance of 0 or more"))?,
        ),
    };
    let absent = [("undefined", Absent::Undefined), ("perfect", Absent::Perfect)];
    let absent =
        config.absent.as_deref().map_or(Ok(Absent::Undefined), |name| chosen("absent", name, &absent))?;
    if let Some(Tolerance::Classes(classes)) = &config.tolerance {
        let foreground: Vec<&str> = labels.foreground().map(|(_, name)| name).collect();
        if let Some(other) = classes.keys().find(|name| !foreground.contains(&name.as_str())) {
            return Err(Error::value("a tolerance for what is no foreground class")
                .at("[surface] tolerance")
                .found(format!("{other:?}"))
                .allowed(foreground.join(", ")));
        }
    }
    let (percentile, tolerance) = (config.percentile, config.tolerance.clone());
    Surface { convention, percentile, tolerance, missing, absent }.checked()
}

/// The parameters of worst images that are written down.
pub(crate) fn images(config: &ImagesConfig) -> Result<Images> {
    Images { worst: config.worst.unwrap_or(5.0) }.checked()
}

impl Images {
    /// The settings themselves, unless they mean nothing.
    pub(crate) fn checked(self) -> Result<Self> {
        let Self { worst } = self;
        if worst > 0.0 && worst <= 100.0 && Percent::new(worst).is_some() {
            return Ok(self);
        }
        let error = refused("not a share of the units", "[images] worst", worst);
        Err(error.allowed("per cent, above 0 and up to 100"))
    }
}

fn is_length(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

fn refused(what: &str, at: &str, found: f64) -> Error {
    Error::value(what).at(at).found(found)
}

fn chosen<T: Copy>(key: &str, name: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        Error::value(format!("no such {key}"))
            .at(format!("[surface] {key}"))
            .found(format!("{name:?}"))
            .allowed(names.join(", "))
    })
}
