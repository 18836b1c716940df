//! Probabilities.

mod bin_rule;
pub(crate) mod block;
mod block_source;
mod fast;
#[cfg(test)]
mod oracle;
pub mod scores;
mod sums;
