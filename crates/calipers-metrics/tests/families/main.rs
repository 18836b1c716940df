//! Every family from units to reports: golden cases, worked examples, warnings and properties.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod agreement;
mod case;
mod definitions;
mod examples;
mod explanation;
mod family;
mod golden;
mod independent_set;
mod robustness;
mod segmentation;
mod training;
mod trust;
