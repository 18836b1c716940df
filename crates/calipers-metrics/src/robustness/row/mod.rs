//! What is kept of a unit: counts, exact sums and the bias of every node.

mod check;
pub(super) mod condition;
pub(super) mod measure;
pub(super) mod reading;

use calipers_core::{CompactSum, Digest};
use serde::{Deserialize, Serialize};

use super::bias::dyadic::Dyadic;
use super::budget::fraction::Budget;
use super::unit::unit_name;

/// The row of one clean/attacked pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub(super) run: String,
    pub(super) attack: Option<String>,
    pub(super) budget: Budget,
    pub(super) nodes: u64,
    pub(super) columns: u64,
    pub(super) bias: BiasRow,
    /// Every line of both arrays looks like probabilities.
    pub(super) simplex: bool,
    pub(super) accuracy: AccuracyRow,
    pub(super) flips: Option<FlipRow>,
    /// Differences over the edges of the attacked graph.
    pub(super) all: Option<SpreadRow>,
}

impl Row {
    /// The same under another name of its run, with the name of its unit.
    pub fn of_run(&self, run: impl Into<String>) -> (String, Self) {
        let row = Self { run: run.into(), ..self.clone() };
        (unit_name(&row.run, row.attack.as_deref(), &row.budget), row)
    }

    /// The run.
    pub fn run(&self) -> &str {
        &self.run
    }
}

/// Squared distances over the chosen nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BiasRow {
    pub(super) total: Dyadic,
    /// The squared length of the clean features.
    pub(super) energy: Dyadic,
    /// Rounded, in node order.
    pub(super) per_node: Vec<f64>,
    /// The order statistics of [`crate::robustness::bias::measure::QUANTILES`]; none without nodes.
    pub(super) quantiles: Vec<Dyadic>,
}

/// Class decisions on the test nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AccuracyRow {
    pub(super) labelled: bool,
    pub(super) tested: Option<u64>,
    /// Whether there are class scores.
    pub(super) scored: bool,
    /// Test nodes that are training nodes too.
    pub(super) leak: u64,
    /// Missing where a number above says why.
    pub(super) decisions: Option<Decisions>,
}

/// Counts over the test nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Decisions {
    pub(super) correct_clean: u64,
    pub(super) correct_attacked: u64,
    /// Right on the clean graph, wrong on the attacked one.
    pub(super) broken: u64,
    /// Test nodes whose largest score occurs twice, on either side.
    pub(super) ties: u64,
    /// How many test nodes have the commonest label.
    pub(super) majority: u64,
    /// Whether several test nodes are all given one class: clean, attacked.
    pub(super) constant: [bool; 2],
}

/// What the attack did to the graph, and how the parts of it differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FlipRow {
    pub(super) clean_edges: u64,
    /// Nodes that lost their last neighbour.
    pub(super) isolated: u64,
    /// The bias of chosen nodes at an end of a flip.
    pub(super) touched_bias: Dyadic,
    /// The attacked graph, where it is another than the clean one.
    pub(super) graph: Option<Digest>,
    /// The clean features.
    pub(super) features: Digest,
    pub(super) added: SpreadRow,
    pub(super) kept: SpreadRow,
    pub(super) removed: SpreadRow,
}

impl FlipRow {
    /// How many edges were flipped.
    pub(super) fn flipped(&self) -> u64 {
        self.added.count + self.removed.count
    }
}

/// Edge differences of a set of edges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SpreadRow {
    pub(super) count: u64,
    pub(super) sum: CompactSum,
    /// The ends of the histogram; none without an edge.
    pub(super) range: Option<[f64; 2]>,
    /// Counts by bin; none when the range has no width.
    pub(super) bins: Option<Vec<u64>>,
    /// Values outside the range.
    pub(super) outside: u64,
    /// Values at or above the cut-off, where there is one.
    pub(super) pruned: Option<u64>,
}

impl Row {
    /// Whether both may come from one attacked graph: its condition, size, labels, test nodes and edges.
    pub(super) fn same_truth(&self, other: &Self) -> bool {
        self.known() == other.known() && self.edges() == other.edges()
    }

    fn known(&self) -> impl PartialEq + use<'_> {
        let majority = self.accuracy.decisions.as_ref().map(|decisions| decisions.majority);
        let accuracy = (self.accuracy.labelled, self.accuracy.tested, self.accuracy.leak, majority);
        ((&self.run, &self.attack, &self.budget), (self.nodes, self.columns), accuracy)
    }

    fn edges(&self) -> impl PartialEq + use<'_> {
        let flips = self.flips.as_ref().map(|flips| {
            (flips.clean_edges, flips.isolated, &flips.graph, flips.added.count, flips.removed.count)
        });
        (flips, self.all.as_ref().map(|all| all.count))
    }
}
