//! The segmentation family from units to reports: golden cases, worked examples, warnings and
//! properties.

mod cases;
mod examples;
mod properties;
mod run;
mod warnings;
