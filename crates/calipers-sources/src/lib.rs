//! Files, folders, archives and addresses, paired into the units that a protocol measures.
//!
//! ```text
//! walk        paths -> files found            inputs      files found -> bytes, recorded and hashed
//! tree        a folder to the bottom, links followed
//! array_file  bytes -> arrays                 file_cache  files that several units share
//! stdin       standard input as a file        output      whole files or none
//! clusters    rules that join sampling units  memory      how much there is
//! config_file TOML, with the line of every complaint
//! run         units -> accumulator            (the only threads of the sources)
//! explanation, independent_set, robustness, segmentation, training
//!             one folder per family: options -> plan -> units -> rows
//! ```

pub mod array_file;
pub mod clusters;
pub mod config_file;
pub mod explanation;
pub mod file_cache;
pub mod hashing;
pub mod independent_set;
pub mod inputs;
pub use calipers_io::memory;
pub mod output;
pub mod robustness;
pub mod run;
pub mod segmentation;
pub mod stdin;
pub mod training;
mod tree;
pub mod walk;
