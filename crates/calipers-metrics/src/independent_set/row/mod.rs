//! What is kept of one graph: counts and exact sums, about 200 bytes, never the arrays.

mod check;
pub(super) mod evidence;
pub(super) mod measure;
pub(super) mod pooled;
pub(super) mod published;

use serde::{Deserialize, Serialize};

/// One measured graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Nodes N.
    pub nodes: u64,
    /// Undirected edges m of the simple graph.
    pub edges: u64,
    /// Stored entries M, loops and repeats included.
    pub entries: u64,
    /// Stored entries u = v.
    pub self_loops: u64,
    /// Proper entries that repeat another one.
    pub duplicate_edges: u64,
    /// Edges stored in exactly one direction where both are expected.
    pub one_directional_edges: u64,
    /// Nodes without a proper edge.
    pub isolated_nodes: u64,
    /// The label set, when the graph is labelled.
    pub labels: Option<LabelRow>,
    /// The declared optimum.
    pub optimum: Option<u64>,
    /// Size of the decoder-only baseline, when asked for.
    pub baseline: Option<u64>,
    /// Size of the smallest clique cover found, when asked for.
    pub upper_bound: Option<u64>,
    /// What the scores say, when there are any.
    pub scores: Option<ScoreRow>,
}

/// The label set checked on the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelRow {
    /// Labels 1, written Y.
    pub ones: u64,
    /// Edges inside the label set.
    pub violations: u64,
    /// Whether it is independent and no node can be added.
    pub maximal: bool,
}

/// The prediction and what is decoded from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreRow {
    /// Predicted nodes.
    pub predicted: u64,
    /// Agreement with the labels, when the graph is labelled.
    pub counts: Option<Counts>,
    /// Edges of the simple graph with both ends predicted.
    pub violations: u64,
    /// Stored entries with both ends predicted (a loop at a predicted node counts).
    pub stored_violations: u64,
    /// Predicted nodes with a predicted neighbour.
    pub conflicted: u64,
    /// Whether the prediction is independent and no node can be added.
    pub maximal: bool,
    /// Size K of the greedy decode of the preset.
    pub decoded: u64,
    /// Nodes that share their ranking key with another node.
    pub tied: u64,
    /// Smallest score; 0 for a graph without nodes.
    pub lowest: f64,
    /// Largest score; 0 for a graph without nodes.
    pub highest: f64,
    /// Sums over nodes and edges; `None` for a set.
    pub sums: Option<Sums>,
    /// Size of the score-degree decode, when asked for.
    pub score_degree: Option<u64>,
    /// Size after the swap search, when asked for.
    pub swap: Option<u64>,
    /// Size after the iterated local search, when asked for.
    pub ils: Option<u64>,
    /// Decode size of each sample; empty without a sample axis.
    pub samples: Vec<u64>,
    /// Each recursion step; empty without a step axis.
    pub steps: Vec<StepRow>,
}

/// Node counts of prediction against labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Predicted and labelled 1.
    pub tp: u64,
    /// Predicted, labelled 0.
    pub fp: u64,
    /// Not predicted, labelled 1.
    pub fn_: u64,
    /// Not predicted, labelled 0.
    pub tn: u64,
}

/// Sums of one graph, each the exact sum of its terms rounded once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// Sum over edges of p_u p_v.
    pub edge: f64,
    /// The same over stored entries.
    pub edge_stored: f64,
    /// Sums against the labels, when the graph is labelled.
    pub labelled: Option<LabelSums>,
}

/// Sums of one labelled graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelSums {
    /// Sum over labels 1 of -ln p; `None` when a term of either loss sum is infinite.
    pub positive: Option<f64>,
    /// Sum over labels 0 of -ln(1 - p); `None` when a term of either loss sum is infinite.
    pub negative: Option<f64>,
    /// Sum over correct nodes of |2p - 1|.
    pub confidence: f64,
}

/// One recursion step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// Nodes whose prediction equals the label, when the graph is labelled.
    pub correct: Option<u64>,
    /// Edges of the simple graph with both ends predicted.
    pub violations: u64,
    /// Size of the greedy decode.
    pub decoded: u64,
}

impl StepRow {
    /// Whether every node is right and no edge is violated.
    pub fn solved(&self, nodes: u64) -> bool {
        self.correct == Some(nodes) && self.violations == 0
    }
}
