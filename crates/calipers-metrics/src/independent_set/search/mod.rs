//! Independent sets found on a graph: greedy decoding of scores, baselines without, local search.

pub(super) mod baseline;
pub(super) mod decode;
pub(super) mod decoders;
mod degree_queue;
mod greedy;
mod ils;
mod node_heap;
mod node_set;
mod ranking;
mod residual;
mod swap;

pub use baseline::BASELINE_APPROX_RATIO;
pub use decode::{APPROX_RATIO_POSTPROCESSED, GAP};
pub use greedy::greedy;
pub use ils::ils;
pub use residual::{min_degree, score_degree};
pub use swap::swap_search;

pub(super) use greedy::{by_degree, greedy_in_order};
pub(super) use ils::from_swapped;
pub(super) use ranking::{Ranking, extent, rank};
pub(super) use residual::elimination_order;
