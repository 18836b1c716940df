//! A predicted set of nodes against the graph and the labels.

mod chosen;
pub(super) mod classification;
mod edge_walk;
pub(super) mod feasibility;
pub(super) mod labels;
pub(super) mod set_size;
mod sets;

pub use chosen::{Chosen, chosen};
pub use sets::{is_independent, is_maximal};

pub(super) use edge_walk::{Walk, walk};
pub(super) use sets::{
    counts, pinned_probabilities, predicted, ranking_keys, size, stored_violations, violations,
};
