//! Calipers as a library: the table of families, files paired into units, and the only threads.
//!
//! ```text
//! sources   files -> units            (one folder a family)
//! run       units -> accumulator      (the only threads)
//! resample  accumulators -> intervals
//! compare   models over the same units
//! states    accumulators <-> files
//! registry  every family, once
//! replay    recorded inputs, read again
//! output    whole files or none
//! pictures  what a page draws of a family
//! pages     reports -> sections of a page
//! demo      data sets made from a seed
//! tables    reports joined with what else is known
//! ```

pub mod compare;
pub mod demo;
pub mod hashing;
pub mod inputs;
pub mod output;
pub mod pages;
pub mod pictures;
pub mod registry;
pub mod replay;
pub mod reproduce;
pub mod resample;
pub mod run;
pub mod sources;
pub mod states;
pub mod tables;

pub use calipers_core as core;
pub use calipers_io as io;
pub use calipers_metrics as metrics;
pub use calipers_models as models;
pub use calipers_report as report;

pub use calipers_core::{Accumulator, Error, ErrorKind, Ledger, Report, Result, Value};
