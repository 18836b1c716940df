//! What a family defines, and what is made of it: accumulators, states and reports.

pub mod accumulator;
pub mod check;
pub mod differences;
pub mod error;
pub mod fault;
pub mod metric;
mod per_unit;
pub mod protocol;
pub mod provenance;
pub mod report;
pub mod retry;
pub mod spelling;
pub mod state;
pub mod stop;
pub mod unit_id;
pub mod value;
pub mod workers;
