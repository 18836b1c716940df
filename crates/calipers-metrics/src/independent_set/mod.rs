//! Predicted independent sets of graphs.
//!
//! ```text
//! stored entries --graph--> simple graph (CSR)          graph
//! scores, labels --unit---> checked view                unit
//! decode, adaptive, swap, ils: independent sets         one file a decoder
//! certificate: upper bound                              certificate
//! solution: prediction against graph and labels         solution
//! trajectory: samples and recursion steps               trajectory
//! measure: all of it into one row                       measure, row
//! strict, beyond: a row into numbers or reasons         strict, beyond, evidence
//! curves, pooled, drop: all rows into numbers           aggregate
//! published: all rows as one batch of published code    published
//! protocol: parameters; metrics: the table; audit: the warnings
//! loss: the training loss and its gradient
//! ```

pub mod adaptive;
mod adjacency;
mod aggregate;
mod audit;
mod batches;
mod beyond;
pub mod certificate;
pub mod chosen;
mod curves;
pub mod decode;
mod degree_queue;
mod drop;
mod edge_products;
mod edge_source;
mod edge_walk;
mod entry_group;
mod evidence;
pub mod graph;
pub mod ils;
pub mod loss;
pub mod measure;
mod metrics;
mod node_heap;
mod node_set;
mod pooled;
pub mod protocol;
mod published;
mod ranking;
mod reading;
pub mod row;
mod short_edges;
pub mod solution;
mod sorted_entries;
mod strict;
mod sums;
pub mod swap;
mod trajectory;
pub mod unit;

pub use protocol::{Axis, Baseline, Decoder, IndependentSet, Kind, PosWeight, Preset, Reference};
pub use row::Row;
