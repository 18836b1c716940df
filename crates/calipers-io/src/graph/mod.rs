//! Graph files: text and pickle formats into stored entries, exactly as the file has them.

use calipers_core::{Error, Result};

/// A graph as a file stores it; nothing is dropped, joined or reordered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredGraph {
    /// The number of nodes, where the file says it or the caller gave it.
    pub nodes: Option<u64>,
    /// The stored entries (u, v), from 0, below `nodes` where that is known.
    pub entries: Vec<(u32, u32)>,
    /// Whether the format stores both directions of an edge.
    pub storage: Storage,
    /// Labels stored in the graph file itself.
    pub labels: Option<Vec<bool>>,
    /// The number of edges that the file's head announces, where it may differ from the lines.
    pub declared_edges: Option<u64>,
}

/// Which directions of an edge a format stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// (u, v) and (v, u) are both expected: arrays, METIS, ml4co.
    Both,
    /// Each edge is listed once, in either direction: all other formats.
    #[default]
    Once,
}

/// What a reader must be told about a graph file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphOptions {
    /// The number of nodes, when it is known from elsewhere (scores, labels, `--num-nodes`).
    pub nodes: Option<u64>,
    /// The number of the first node in edge lists: 0 or 1.
    pub index_base: u32,
}
