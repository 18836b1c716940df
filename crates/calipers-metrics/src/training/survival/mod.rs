//! How long runs take to saturate when those that never do count too.

mod curves;
mod kaplan_meier;
mod lifetimes;
pub(crate) mod spread;
pub(crate) mod times;

pub use curves::{SurvivalCurve, survival_curves};
pub use times::VELOCITY_RMST;
