//! One file per family: its subcommand, and what the demo shows of it.

mod explanation;
mod independent_set;
pub(crate) mod robustness;
pub(crate) mod segmentation;
pub(crate) mod training;

use calipers::Result;
use calipers::run::Progress;

use super::demo::Show;
use super::subcommands;
use crate::Measured;

subcommands! {
    /// One subcommand per family.
    Family:
    IndependentSet(Box<independent_set::IndependentSetArgs>),
    Segmentation(Box<segmentation::SegmentationArgs>),
    Explanation(Box<explanation::ExplanationArgs>),
    Training(Box<training::TrainingArgs>),
    Robustness(Box<robustness::RobustnessArgs>),
}

impl Family {
    /// Measures the units that the options name, and writes nothing.
    pub(crate) fn measure(self, progress: &dyn Progress) -> Result<Measured> {
        match self {
            Self::IndependentSet(args) => args.measure(progress),
            Self::Segmentation(args) => args.measure(progress),
            Self::Explanation(args) => args.measure(progress),
            Self::Training(args) => args.measure(progress),
            Self::Robustness(args) => args.measure(progress),
        }
    }
}

/// What the demo shows, family by family, each in the folder of its name.
pub(super) const DEMOS: [(&str, Show); 5] = [
    ("independent_set", independent_set::demo),
    ("segmentation", segmentation::demo),
    ("explanation", explanation::demo),
    ("training", training::demo),
    ("robustness", robustness::demo),
];
