//! Heads: their scores fused into one distribution over the classes, and each head in its own channels.

mod fusion;
mod groups;
pub(crate) mod kernel;
pub(crate) mod metrics;
mod separability;

pub use fusion::fuse;

pub(crate) use fusion::Fusion;
pub(crate) use groups::plain_channels;
pub(crate) use separability::{finer_than_global, inseparable, straddles};
