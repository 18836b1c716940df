//! Sums and quotients that are rounded once, when they are read.

mod compact_sum;
pub mod floors;
mod quotient;
pub mod rational;
mod stored;
mod sum;

pub use compact_sum::CompactSum;
pub use quotient::rounded_quotient;
pub use rational::Rational;
pub use stored::Stored;
pub(crate) use sum::fixed_point;
pub use sum::{ExactSum, exact_mean, exact_sum};
