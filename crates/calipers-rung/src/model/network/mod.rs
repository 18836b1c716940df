//! The trained network: its perceptron, its settings, and both as one model.

pub(super) mod mlp;
pub mod rung;
pub mod settings;
