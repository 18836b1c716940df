//! How training runs behave over epochs and folds: velocity, stability, divergence.
//!
//! ```text
//! Curve --points--> Points --measure--> Row --groups--> one value per group and id
//! ```

mod audit;
mod breaks;
mod explain;
mod family;
mod measure;
mod metrics;
mod natural;
mod points;
mod presets;
pub mod protocol;
mod reading;
mod resample;
pub mod row;
mod survival;
pub mod survival_curve;
pub mod unit;
