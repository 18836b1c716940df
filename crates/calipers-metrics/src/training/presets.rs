//! What each preset stands for.

use super::protocol::{Preset, StabilityReading};

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
