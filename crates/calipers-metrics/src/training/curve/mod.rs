//! What is logged of a run: its points, its length and its values.

pub(crate) mod points;
pub(crate) mod values;
