//! placeholder
/// placeholder
pub struct ExactSum;
