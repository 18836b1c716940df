//! What a run over the model reads and writes.
//!
//! ```text
//! dataset     --graph             -> prepared graph, features, labels     graph_file, csr, stored, prepare
//! splits      --splits, --split   -> train, val and test nodes            split_file
//! checkpoint  --model             <-> weights and settings
//! attacked    --attacked, --flips -> the graph of one attack
//! run_arrays  a run               -> an array file of its features
//! ```

pub mod attacked;
pub mod checkpoint;
mod csr;
pub mod dataset;
mod graph_file;
mod prepare;
pub mod run_arrays;
pub(crate) mod split_file;
pub mod splits;
mod stored;
