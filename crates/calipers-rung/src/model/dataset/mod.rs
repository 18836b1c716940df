//! What a model is given: a graph, what is known of its nodes, and which of them are for what.

pub mod features;
pub mod graph;
pub mod split;
