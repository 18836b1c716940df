//! What most programs need: `use calipers::prelude::*`.
//!
//! A family is its protocol, such as [`Segmentation`], and a module of the same name with its units,
//! its presets and the constants of its numbers, such as [`segmentation::overlap::MIOU`].

pub use calipers_core::{
    Accumulator, Error, ErrorKind, Metric, Protocol, Report, Result, UnitId, Value, Warning,
};
pub use calipers_metrics::explanation::Explanation;
pub use calipers_metrics::independent_set::IndependentSet;
pub use calipers_metrics::robustness::Robustness;
pub use calipers_metrics::segmentation::Segmentation;
pub use calipers_metrics::training::Training;
pub use calipers_metrics::{explanation, independent_set, robustness, segmentation, training};
pub use calipers_sources::inputs::Inputs;
pub use calipers_sources::run::Work;
