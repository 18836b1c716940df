//! What a run is: known by its log, told from others, read or left out, and one unit.
//!
//! ```text
//! known   what a log says about its run     filter  which runs and rows are read
//! rules   where labels come from            split   a table -> its runs
//! called  a function that says labels
//! claims  which run became which unit       resolve one run per identity, one unit per run
//! ```

pub mod called;
pub mod claims;
pub mod filter;
pub mod known;
pub mod resolve;
pub mod rules;
pub mod split;
