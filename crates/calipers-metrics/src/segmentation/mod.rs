//! Label maps and probabilities in one global label space.

pub mod boundary;
pub mod config;
mod evidence;
pub mod fit;
pub mod heads;
pub mod labels;
mod measure;
mod metrics;
pub mod overlap;
mod presets;
pub mod probability;
pub mod protocol;
mod resolve;
pub mod row;
pub mod sparse;
pub mod unit;
mod warnings;

pub use config::Config;
pub use measure::measure;
pub use protocol::{Preset, Segmentation};
pub use row::Row;
pub use unit::{LabelMap, MapData, Prediction, ScoreArray, ScoreData, Unit};
