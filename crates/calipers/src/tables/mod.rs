//! Tables of what a report does not hold: a line per node, and a study joined with its summaries.

pub mod per_node;
pub mod training;
