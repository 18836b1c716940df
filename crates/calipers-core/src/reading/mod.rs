//! How a metric's line is read from rows: the same for a report, a group, a unit and a resample.
//!
//! ```text
//! row --terms--> Terms --added up, each row as often as it counts--> Sums --read--> Value
//! ```

mod collect;
mod reader;
mod rows;
mod sums;
mod terms;
mod totals;

pub use rows::Rows;
pub use sums::{End, Sums, settled};
pub use terms::Terms;

pub(crate) use collect::grouped;
pub(crate) use reader::{Order, Reader, undecided};
pub(crate) use sums::{Ratios, Sum};
pub(crate) use terms::Term;
