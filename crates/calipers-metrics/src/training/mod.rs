//! How training runs behave over epochs and folds: velocity, stability, divergence.
//!
//! ```text
//! Curve --points--> Points --saturation--> Row --sums per configuration--> one value per configuration
//! ```
//!
//! * `curve`: what is logged of a run, and its values;
//! * [`saturation`]: when a run saturates, and what becomes of it afterwards;
//! * [`survival`]: how long runs take to saturate when those that never do count too.
//!
//! ```
//! use calipers_core::{Accumulator, Result, Value};
//! use calipers_metrics::training::{Curve, Sample, Training};
//!
//! // Two machines measure one fold each of the configuration "lr 0.1".
//! let measured = |fold: &str, values: &[f64]| -> Result<Accumulator<Training>> {
//!     let samples = Sample::series(values);
//!     let curve = Curve::new("lr 0.1", fold, &samples);
//!     let mut runs = Accumulator::new(Training { threshold: 0.9, ..Training::default() });
//!     runs.update(curve.name(), curve)?;
//!     Ok(runs)
//! };
//! let mut runs = measured("0", &[0.5, 0.95, 0.93])?;
//! runs.merge(measured("1", &[0.2, 0.4, 0.91])?)?;
//!
//! // The first fold saturates at its second evaluation, the other one at its third.
//! let velocity = runs.finish().get("training.velocity_wise").cloned();
//! assert_eq!(velocity, Some(Value::PerLabel(vec![("lr 0.1".into(), Value::Number(2.5))])));
//! # Ok::<(), calipers_core::Error>(())
//! ```

mod check;
mod columns;
mod curve;
mod group;
mod intervals;
mod metrics;
mod protocol;
mod row;
pub mod saturation;
pub mod survival;
mod unit;
mod warnings;

pub use curve::points::Point;
pub use protocol::Training;
pub use protocol::parameters::{
    Direction, Duplicates, Index, Nan, Precision, Preset, Restarts, StabilityReading,
};
pub use row::{Doubts, Row};
pub use saturation::aftermath::{Aftermath, Break};
pub use saturation::first::Saturation;
pub use unit::{Curve, Sample, unit_name};
