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
//! strict, published: rows into numbers                  strict, published
//! protocol: parameters; metrics: the table; audit: the warnings
//! loss: the training loss and its gradient
//! ```

pub mod protocol;
pub mod row;

pub use protocol::{Axis, Baseline, Decoder, IndependentSet, Kind, PosWeight, Preset, Reference};
pub use row::Row;
