//! Label maps and probabilities in one global label space.

pub mod boundary;
mod boundary_reading;
mod calibration_reading;
pub mod config;
pub mod fit;
pub mod heads;
mod heads_reading;
mod image_means;
pub mod labels;
pub mod measure;
mod metrics;
mod old_sums;
pub mod overlap;
mod overlap_reading;
mod presets;
pub mod probability;
pub mod protocol;
mod reading;
mod resolve;
pub mod row;
pub mod sparse;
pub mod unit;
mod warnings;
