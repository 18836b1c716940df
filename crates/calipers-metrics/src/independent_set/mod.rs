//! Predicted independent sets of graphs.
//!
//! ```text
//! stored entries --> simple graph                                graph
//! scores, labels --> checked view                                unit
//! view --> row: prediction, decode, losses, steps, bound         row
//! row --> numbers of one graph or reasons; their means           solution, losses, search, certificate, steps
//! rows --> sums over all graphs                                  row::pooled; in published presets row::published
//! ```
//!
//! A unit is a graph with scores, labels and a known optimum, as far as these are given:
//!
//! ```
//! use calipers_core::{Accumulator, Value};
//! use calipers_metrics::independent_set::{Graph, IndependentSet, Kind, Scores, Storage, Unit};
//!
//! let path: &[(u32, u32)] = &[(0, 1), (1, 2)];
//! let graph = Graph::build(3, Storage::Once, &path)?;
//! let (logits, labels) = ([2.0, -1.0, 3.0], [true, false, true]);
//! let scores = Scores::new(Kind::Logits, None, &logits, 3)?;
//! let unit = Unit::new(&graph, Some(scores), Some(&labels), None)?;
//!
//! let mut first = Accumulator::new(IndependentSet { scores: Some(Kind::Logits), ..Default::default() });
//! let mut second = first.clone();
//! first.update("path", unit)?;
//! second.update("the same path", unit)?;
//! first.merge(second)?;
//! let report = first.finish();
//! assert_eq!(report.get("independent_set.approx_ratio_postprocessed"), Some(&Value::Number(1.0)));
//! assert_eq!(report.get("independent_set.nodes_total"), Some(&Value::Count(6)));
//! # Ok::<(), calipers_core::Error>(())
//! ```

pub mod certificate;
pub mod graph;
pub mod losses;
mod metrics;
pub mod protocol;
pub mod row;
pub mod search;
pub mod solution;
pub mod steps;
pub mod unit;
mod warnings;

pub use graph::{EdgeSource, Graph, PackedEntries, Storage};
pub use protocol::{
    Axis, Baseline, Decoder, IndependentSet, Kind, PosWeight, Preset, Reference, Switch, WeightRule,
};
pub use row::Row;
pub use unit::{Scores, Unit};
