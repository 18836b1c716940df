//! Heads.

pub mod fusion;
pub(crate) mod kernel;
pub(crate) mod separability;
