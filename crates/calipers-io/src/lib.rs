//! Bytes into owned buffers: one file per format, one table of formats per kind of data.
//!
//! **Architecture invariant:** every parser takes `&[u8]` or positioned reads, never executes
//! anything it reads, allocates nothing before a length has been checked against the bytes at
//! hand, and says in every error where it stopped.

pub mod archive;
pub mod array;
pub mod column;
pub mod compress;
pub mod file;
pub mod format;
pub mod graph;
pub mod history;
pub mod http_request;
pub mod image;
pub mod limits;
pub mod memory;
pub mod pickle;
pub mod place;
#[cfg(feature = "remote")]
pub mod remote;
pub mod score;
mod text;
mod visitors;
