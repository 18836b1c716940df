//! The RUNG network: a small perceptron whose class scores are propagated over a graph, its
//! training, and an attack on the graph.
//!
//! ```text
//! Features --mlp--> F0 --propagation over Graph--> F (class scores = aggregated features)
//!             ^                |
//!          train <--backward---+---backward + pairs--> attack --> flips
//! ```
//!
//! **Architecture invariant:** nothing here prints or opens a file, and no bit of a result depends on the
//! number of threads: every sum belongs to one node, layer or pair and is added up in a fixed order.

pub mod attack;
mod dataset;
#[cfg(test)]
mod golden;
mod loss;
mod matrix;
mod network;
mod parallel;
mod propagation;
pub mod random;
pub mod train;
pub mod watch;

pub use dataset::{features, graph, split};
pub use network::{rung, settings};
pub use propagation::penalty;

pub use attack::{Attack, Attacked, BLOCK_SIZE, Gradient, Method, attack};
pub use features::Features;
pub use graph::Graph;
pub use penalty::{Kind, Penalty, ScadScale, Weights};
pub use rung::{Forward, Rung, Tensor};
pub use settings::Settings;
pub use split::{Split, stratified};
pub use train::{Training, train};
pub use watch::{Accuracy, Status, Unwatched, Watch};
