//! The vocabulary of Calipers: protocols, rows, accumulators, reports, and exact arithmetic.
//!
//! ```text
//! unit --measure--> row --update--> Accumulator --finish--> Report
//!                                       |  ^
//!                                     merge (any order, any number of times)
//! ```
//!
//! **Architecture invariant:** this crate never prints, opens a file, spawns a thread or formats a
//! float. Whatever it computes depends on its arguments alone, so that every front end gives the
//! same bits.

pub mod accumulator;
pub mod bootstrap;
pub mod compact_sum;
pub mod error;
pub mod exact_sum;
pub mod hands;
pub mod input_files;
pub mod ledger;
pub mod math;
pub mod pooling;
pub mod protocol;
pub mod provenance;
pub mod report;
pub mod spelling;
pub mod splitmix;
pub mod state;
pub mod stop;
pub mod value;
pub mod weighted_sum;

pub use accumulator::{Accumulator, UnitId};
pub use compact_sum::CompactSum;
pub use error::{Error, ErrorKind, Result};
pub use exact_sum::ExactSum;
pub use hands::{Alone, Hands};
pub use input_files::{Digest, Input, InputFiles, Notes};
pub use ledger::Ledger;
pub use pooling::{
    Bounds, Condition, Conditions, Counts, Grouping, Groups, Largest, PerRow, Pooling, Scaled, Sum, Tally,
    Term,
};
pub use protocol::{Better, Column, Doc, Metric, Protocol, Range, Rows};
pub use provenance::{Content, Fact, Provenance, Reading};
pub use report::{Report, Table, Warning};
pub use splitmix::SplitMix64;
pub use value::Value;
