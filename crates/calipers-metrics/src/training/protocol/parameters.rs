//! The choices that a protocol makes.

use calipers_core::Stored;
use serde::{Deserialize, Serialize};

/// A named set of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// The document's formulas, with its two slips repaired.
    Strict,
    /// The document's literal text.
    Document,
    /// The authors' later text.
    Revised,
    /// The program behind the tables of 24 April 2024.
    #[serde(rename = "table-2024-04-24")]
    Table20240424,
    /// The program behind the tables that the document links.
    #[serde(rename = "table-2024-04-25")]
    Table20240425,
    /// The program of 2025.
    #[serde(rename = "script-2025")]
    Script2025,
}

impl Preset {
    /// Every preset, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Strict,
        Self::Document,
        Self::Revised,
        Self::Table20240424,
        Self::Table20240425,
        Self::Script2025,
    ];

    /// The name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Document => "document",
            Self::Revised => "revised",
            Self::Table20240424 => "table-2024-04-24",
            Self::Table20240425 => "table-2024-04-25",
            Self::Script2025 => "script-2025",
        }
    }

    /// Whether it is one of the published programs: they count from 0 and skip values of exactly 0.
    pub fn is_published(self) -> bool {
        self.is_table() || self == Self::Script2025
    }

    /// Whether it is one of the programs behind the published tables, which expect 5 folds.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Table20240424 | Self::Table20240425)
    }

    /// What a stability means under it.
    pub fn stability_reading(self) -> StabilityReading {
        match self {
            Self::Strict | Self::Document | Self::Table20240424 => StabilityReading::Broken,
            Self::Revised | Self::Table20240425 | Self::Script2025 => StabilityReading::Kept,
        }
    }
}

/// What a stability means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StabilityReading {
    /// How much is broken.
    #[serde(rename = "share of broken epochs; 0 is steady")]
    Broken,
    /// How much is not broken.
    #[serde(rename = "one minus the share; 1 is steady")]
    Kept,
}

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Higher ones.
    Max,
    /// Lower ones.
    Min,
}

impl Direction {
    /// Whether `a` is strictly better than `b`; a NaN is neither better nor worse than anything.
    pub(crate) fn better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Max => a > b,
            Self::Min => a < b,
        }
    }
}

/// How a point is numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// By its position among the evaluations of the run.
    Evaluation,
    /// By its x.
    Epoch,
}

/// What counts of several values at one x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// The last one logged.
    Last,
    /// The first one logged.
    First,
    /// Their mean.
    Mean,
    /// None: they are an error.
    Error,
}

/// What a logged NaN or infinity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nan {
    /// As if it had not been logged.
    Missing,
    /// The worst value there can be.
    Fail,
    /// An error.
    Error,
}

/// What a later session of a run does to the earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restarts {
    /// What the format's own library means by it.
    #[default]
    Auto,
    /// Nothing: of several values at one x the rule for duplicates decides.
    Overlay,
    /// It takes the place of everything from its first x on.
    Rewind,
    /// It comes after them.
    Append,
    /// It is a run of its own.
    Runs,
}

/// The precision in which a value meets the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// That in which it was stored.
    #[default]
    Stored,
    /// Single precision.
    Single,
    /// Double precision.
    Double,
}

impl Precision {
    /// The type in which a value that was stored so is compared.
    pub(crate) fn of(self, stored: Stored) -> Stored {
        match self {
            Self::Stored => stored,
            Self::Single => Stored::Single,
            Self::Double => Stored::Double,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    #[test]
    fn every_preset_is_written_by_its_name() {
        let written: Vec<Json> = Preset::ALL.iter().map(|preset| json!(preset)).collect();
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
        assert_eq!(json!(names), json!(written));
    }
}
