//! Several predictions of one graph: the steps of a recursion, or independent samples.

pub(super) mod curves;
pub(super) mod samples;
pub(super) mod solved;
mod trajectory;

pub use curves::{ACCURACY_BY_STEP, NUM_VIOLATIONS_BY_STEP, SOLVED_BY_STEP};

pub(super) use trajectory::{Predicted, predict, samples, steps};
