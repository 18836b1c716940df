//! The metric families: pure functions from units to rows and from rows to numbers.
//!
//! One folder per family, one file per idea. Nothing here opens a file, prints or starts a thread.

pub mod explanation;
pub mod independent_set;
mod line;
mod reading;
pub mod robustness;
pub mod segmentation;
pub mod training;
mod warnings;
