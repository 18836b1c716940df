//! The subcommands.

pub mod completions;
pub mod demo;
pub mod explain;
pub mod independent_set;
pub mod list;
pub mod man;
pub mod merge;
pub mod show;
