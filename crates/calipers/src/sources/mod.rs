//! Files paired into units: one folder a family, and what they share.

pub mod array_file;
pub mod explanation;
pub mod independent_set;
pub mod robustness;
pub mod segmentation;
pub mod shelf;
pub mod stdin;
pub mod training;
pub mod walk;
