//! Calipers as a library: the table of families, files paired into units, and the only threads.
//!
//! ```text
//! sources   files -> units            (one folder a family)
//! run       units -> accumulator      (the only threads)
//! states    accumulators <-> files
//! registry  every family, once
//! output    whole files or none
//! demo      data sets made from a seed
//! tables    reports joined with what else is known
//! ```

pub mod demo;
pub mod inputs;
pub mod output;
pub mod registry;
pub mod run;
pub mod sources;
pub mod states;
pub mod tables;

pub use calipers_core as core;
pub use calipers_io as io;
pub use calipers_metrics as metrics;
pub use calipers_report as report;

pub use calipers_core::{Accumulator, Error, ErrorKind, Ledger, Report, Result, Value};
