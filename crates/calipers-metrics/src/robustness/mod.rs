//! How far an attack moves a graph model: estimation bias, edge differences, robust accuracy.
//!
//! A unit is a pair of feature arrays of one run: on the clean graph, and on the graph that an attack of
//! some budget changed. Pairs of one attack and budget are repetitions.
//!
//! ```
//! use calipers_core::{Accumulator, Value};
//! use calipers_metrics::robustness::{Budget, Matrix, NumberSlice, Pair, Robustness};
//!
//! let clean = [3.0, 0.0, 1.0, 4.0];
//! let attacked = [3.0, 2.0, 1.0, 4.0];
//! let features = |values| Matrix::new(2, 2, NumberSlice::F64(values));
//! let pair = Pair::new("seed 0", Budget::parse("0.05")?, features(&clean)?, features(&attacked)?);
//! let mut whole = Accumulator::new(Robustness::default());
//! whole.update(pair.name(), pair)?;
//! let mut shard = Accumulator::new(Robustness::default());
//! let pair = Pair::new("seed 1", Budget::parse("0.05")?, features(&clean)?, features(&clean)?);
//! shard.update(pair.name(), pair)?;
//! whole.merge(shard)?;
//! assert_eq!(whole.finish().get("robustness.bias_total"), Some(&Value::Number(2.0)));
//! # Ok::<(), calipers_core::Error>(())
//! ```

mod accuracy;
mod bias;
mod budget;
mod difference;
mod metrics;
mod protocol;
mod row;
mod unit;
mod warnings;

pub use accuracy::{CLEAN_ACCURACY, ROBUST_ACCURACY};
pub use bias::per_node::NodeLines;
pub use bias::{BIAS_MEAN, BIAS_RELATIVE, BIAS_TOTAL};
pub use budget::BIAS_LINEARITY;
pub use budget::curve::{CURVE, CURVE_STD};
pub use budget::fraction::Budget;
pub use calipers_core::NumberSlice;
pub use difference::flips::{FLIPS_ADDED, FLIPS_REMOVED};
pub use difference::{DIFF_RATIO, figures};
pub use protocol::{Features, ModelSettings, Nodes, Options, Prepare, Preset, Robustness, is_model_name};
pub use row::Row;
pub use unit::edges::{Edge, Pairs, edges_both_ways, edges_once, entries, toggled};
pub use unit::matrix::Matrix;
pub use unit::nodes::{Repeats, labels, nodes_of_index, nodes_of_mask, same_nodes};
pub use unit::{Pair, unit_name};
