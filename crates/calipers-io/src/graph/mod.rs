//! Graph files: text and pickle formats into stored entries, exactly as the file has them.

pub mod dimacs;
pub mod edgelist;
mod format;
pub mod gpickle;
pub mod graph6;
mod lines;
pub mod metis;
pub mod ml4co;
pub mod named;
mod six_bit;
pub mod sparse;
pub mod sparse6;
pub mod tu;

use calipers_core::{Error, Result};

pub use format::{FORMATS, Format, Reader};
pub use lines::lines;

/// Most nodes of a graph: their numbers fit 32 bits.
pub const MAX_NODES: u64 = u32::MAX as u64;

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
    /// Why values that are stored as labels are none.
    pub no_labels: Option<String>,
    /// The number of edges that the file's head announces, where it may differ from the lines.
    pub declared_edges: Option<u64>,
    /// How many entries are stored with the value zero and are no edges.
    pub zeros: u64,
    /// The first names of nodes that are not their numbers.
    pub renumbered: Option<String>,
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
    /// The number of nodes that the user gives (`--num-nodes`).
    pub nodes: Option<u64>,
    /// The number of nodes by scores or labels. Only edge lists take it: other formats say their size.
    pub scored: Option<u64>,
    /// The number of the first node in edge lists: 0 or 1.
    pub index_base: u32,
}

/// Refuses more nodes than can be numbered.
fn check_nodes(nodes: u64) -> Result<u64> {
    if nodes <= MAX_NODES {
        return Ok(nodes);
    }
    Err(Error::value("too many nodes")
        .found(nodes)
        .allowed(format_args!("at most {MAX_NODES}"))
        .advice("correct the number of nodes, or split the graph"))
}
