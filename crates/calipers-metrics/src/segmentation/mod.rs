//! Label maps and probabilities in one global label space.
//!
//! ```text
//! truth, prediction --classes--> pairs, bands, probabilities --counts--> Row --sums--> one number
//! ```
//!
//! * [`labels`]: what the ids of maps mean;
//! * [`overlap`]: confusion matrices, intersection over union and its relatives;
//! * [`boundary`]: bands and contours around the classes;
//! * [`probability`]: whether probabilities mean what they say;
//! * [`surface`]: how far the surfaces of truth and prediction lie apart;
//! * [`heads`]: the outputs of several heads, fused and each in its own channels;
//! * [`fit`]: temperatures and weights of heads from a holdout;
//! * [`config`]: a protocol as files write it.
//!
//! ```
//! use calipers_core::{Accumulator, Result, Value};
//! use calipers_metrics::segmentation::overlap::MIOU;
//! use calipers_metrics::segmentation::{LabelMap, MapData, Prediction, Preset, Segmentation, Unit};
//!
//! // Two machines measure one image of two pixels each.
//! let protocol = Segmentation::new(Preset::Strict).with_classes(["road", "car"])?;
//! let measured = |name: &str, truth: &[u8], pred: &[u8]| -> Result<Accumulator<Segmentation>> {
//!     let map = |ids| LabelMap { height: 1, width: 2, data: MapData::U8(ids) };
//!     let mut images = Accumulator::new(protocol.clone());
//!     images.update(name, Unit::Pixels { truth: map(truth), pred: Prediction::Labels(map(pred)) })?;
//!     Ok(images)
//! };
//! let mut images = measured("a", &[0, 1], &[0, 1])?;
//! images.merge(measured("b", &[0, 1], &[1, 1])?)?;
//!
//! // One of two road pixels is right, and two of three that are car in either map.
//! assert_eq!(images.value(&MIOU), Value::Number((1.0 / 2.0 + 2.0 / 3.0) / 2.0));
//! # Ok::<(), calipers_core::Error>(())
//! ```

pub mod boundary;
pub mod fit;
pub mod heads;
pub mod labels;
mod metrics;
pub mod overlap;
pub mod probability;
mod protocol;
mod row;
pub mod surface;
mod unit;
mod warnings;

pub use calipers_core::NumberSlice;
pub use overlap::Confusion;
pub use protocol::config::{self, Config};
pub use protocol::{
    Bins, Boundary, Closed, Conventions, Head, Kind, LabelSpace, Layout, Measure, MissingHeads, Preset,
    Segmentation, Space, Unpredicted,
};
pub use row::measure::measure;
pub use row::sparse::Sparse;
pub use row::{BandCounts, BinRow, CalibrationRow, ContourCounts, HeadRow, PixelRow, Row};
pub use surface::Grid;
pub use unit::{LabelMap, MapData, Prediction, ScoreArray, Unit};
