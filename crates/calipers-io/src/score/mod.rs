//! Scores, labels and optima of units.

pub mod cover;
mod format;
pub mod json;
pub mod lines;
pub mod names;
pub mod node_list;
pub mod optimum;
mod records;
pub mod table;

pub use format::{
    CONFUSIONS, ConfusionReader, FORMATS, Format, OPTIMA, OptimumReader, RECORDS, Reader, Records,
};

/// What one unit of a table or of JSON lines holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitColumns {
    /// The unit's name; a table of one graph may leave it out.
    pub unit: Option<String>,
    /// The line where the unit first occurs, from 1.
    pub line: u64,
    /// The line of each node, where nodes have lines of their own.
    pub lines: Vec<u64>,
    /// A logit per node.
    pub logits: Option<Vec<f64>>,
    /// A probability per node.
    pub probs: Option<Vec<f64>>,
    /// The chosen nodes.
    pub set: Option<NodeSet>,
    /// A label per node.
    pub labels: Option<Vec<f64>>,
    /// The known optimum.
    pub optimum: Option<f64>,
}

/// A set of nodes as a file writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeSet {
    /// The numbers of the chosen nodes, from 0, none twice.
    Listed(Vec<u64>),
    /// One value per node.
    Values(Vec<f64>),
}
