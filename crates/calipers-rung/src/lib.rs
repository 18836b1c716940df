//! The RUNG model: training, attack, files, and the figures of its document from one command.
//!
//! ```text
//! model       features and a graph -> class scores; training; an attack on the graph
//! files       graphs, splits, checkpoints and attacked graphs, read and written
//! from_model  a checkpoint and attacked graphs -> pairs of the robustness family
//! reproduce   train, attack and measure every penalty, and judge what was expected
//! ```

pub mod files;
pub mod from_model;
pub mod model;
pub mod reproduce;
