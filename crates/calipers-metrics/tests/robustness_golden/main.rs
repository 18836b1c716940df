//! The robustness family from pairs to reports: golden cases, worked examples, warnings and
//! properties.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod cases;
mod examples;
mod properties;
mod run;
mod warnings;
