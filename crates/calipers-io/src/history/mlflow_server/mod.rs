//! A tracking server of MLflow, asked for its experiments, runs and logged values. Nothing is written.

mod address;
#[cfg(feature = "remote")]
mod answers;
#[cfg(feature = "remote")]
mod server;

pub use address::{Address, Store, store};
#[cfg(feature = "remote")]
pub use server::{ServedRun, ServedTable, Server};
