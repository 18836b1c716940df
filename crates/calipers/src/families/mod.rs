//! One file per family: what the library does with it beside reading its metrics.

pub mod explanation;
pub mod independent_set;
mod robustness;
pub mod segmentation;
pub mod training;
