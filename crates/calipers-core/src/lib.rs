//! The vocabulary of Calipers: protocols, rows, accumulators, reports, and exact arithmetic.
//!
//! ```text
//! unit --measure--> row --update--> Accumulator --finish--> Report
//!                                       |  ^
//!                                     merge (any order, any number of times)
//! ```
//!
//! * [`contract`]: what a family defines and what is made of it;
//! * [`reading`]: how a metric's line is read from rows, for a report, a unit or a resample;
//! * [`resample`]: intervals by drawing sampling units again;
//! * [`exact`]: sums and quotients that are rounded once;
//! * [`NumberSlice`]: the numbers of an array in their own type;
//! * [`functions`]: exponentials and logarithms with the same bits on every machine.
//!
//! **Architecture invariant:** this crate never prints, opens a file, spawns a thread or formats a
//! float. What it computes depends on its arguments alone, so every front end gives the same bits.

pub mod contract;
pub mod exact;
pub mod functions;
mod number_slice;
pub mod reading;
pub mod resample;

pub use contract::provenance::{input_files, ledger, listings};
pub use contract::{
    accumulator, check, differences, error, fault, metric, protocol, provenance, report, spelling, state,
    stop, unit_id, value, workers,
};

pub use contract::accumulator::Accumulator;
pub use contract::error::{Error, ErrorKind, Result};
pub use contract::metric::{Better, Column, Form, IntervalRule, Metric, MetricInfo, Need, Number, Range};
pub use contract::protocol::Protocol;
pub use contract::provenance::listings::{Listing, Listings};
pub use contract::provenance::{Content, Fact, Provenance, Reading};
pub use contract::report::{Report, Table, Warning};
pub use contract::retry::Retry;
pub use contract::unit_id::UnitId;
pub use contract::value::Value;
pub use contract::workers::{Alone, Workers};
pub use exact::{CompactSum, ExactSum, Stored};
pub use input_files::{Digest, Input, InputFiles, Notes};
pub use ledger::Ledger;
pub use number_slice::{NumberSlice, Wide, shown};
pub use reading::{End, Rows, Sums, Terms};
pub use resample::SplitMix64;
