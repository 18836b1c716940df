//! Probabilities: the pass over the scores of an image, what is summed there, and what is read from the
//! sums.

mod bin_rule;
mod bin_table;
mod bins;
pub(crate) mod block;
mod block_source;
pub(crate) mod calibration;
pub(crate) mod classwise;
mod fast;
#[cfg(test)]
mod oracle;
mod pixel_blocks;
mod pixel_reader;
#[cfg(test)]
mod plain;
pub(crate) mod reliability;
mod scores;
mod sums;
pub(crate) mod temperature;

pub use calibration::ECE;
pub use reliability::{RELIABILITY_ACCURACY, RELIABILITY_CONFIDENCE, RELIABILITY_COUNT};
pub(crate) use scores::{ScoreOutcome, measure_scores};
