//! Calipers as a library: the table of families, and what is done with their reports.
//!
//! ```text
//! registry   every family, once        families  what is done with each
//! run        units -> accumulator      (threads)
//! resample   accumulators -> intervals
//! compare    models over the same units
//! chosen     the metrics of a report that are shown
//! states     accumulators <-> files
//! replay     recorded inputs, read again
//! pictures   what a page draws of a family
//! pages      reports -> sections of a page
//! demo       data sets made from a seed
//! reproduce  the figures of a document
//! tables     reports joined with what else is known
//! ```

pub mod chosen;
pub mod compare;
pub mod demo;
pub mod families;
pub mod pages;
pub mod pictures;
pub mod registry;
pub mod replay;
pub mod reproduce;
pub mod resample;
pub mod states;
pub mod tables;

pub use calipers_core as core;
pub use calipers_io as io;
pub use calipers_metrics as metrics;
pub use calipers_report as report;
pub use calipers_rung as rung;
pub use calipers_sources as sources;

pub use calipers_sources::{inputs, output, run};

pub use calipers_core::{Accumulator, Error, ErrorKind, Ledger, Report, Result, Value};
