//! Confusion matrices: counting pairs of classes, and what is read from the counts.

pub mod confusion;
pub(crate) mod count;
pub(crate) mod given;
