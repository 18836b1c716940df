//! The explanation family from units to reports: golden cases, worked examples, the published code
//! and properties.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod cases;
mod examples;
mod properties;
mod published;
mod run;
