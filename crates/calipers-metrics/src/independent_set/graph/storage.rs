//! How the graphs were stored: nodes, edges and what was dropped, summed over all graphs.

use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::NO_UNITS;

/// A sum that says how large the sample is.
const STORED: Line = Line { interval: IntervalRule::Never, ..TOTAL };

pub(crate) const NODES_TOTAL: Line = Line {
    id: "nodes_total",
    measures: "Nodes of all graphs.",
    formula: "sum N.",
    example: ("batch", "7"),
    number: Number::pooled(add_storage, |_, sums| stored(sums, NODES)),
    ..STORED
};

pub(crate) const EDGES_TOTAL: Line = Line {
    id: "edges_total",
    measures: "Undirected edges of all simple graphs.",
    formula: "sum m.",
    example: ("batch", "5"),
    number: Number::pooled(add_storage, |_, sums| stored(sums, EDGES)),
    ..STORED
};

pub(crate) const SELF_LOOPS_TOTAL: Line = Line {
    id: "self_loops_total",
    measures: "Stored entries that join a node to itself; they are dropped.",
    formula: "Stored entries (u, u).",
    differs: "Some pipelines add a loop to every node. A node with a loop may still be chosen.",
    example: ("storage", "1"),
    number: Number::pooled(add_storage, |_, sums| stored(sums, SELF_LOOPS)),
    ..STORED
};

pub(crate) const DUPLICATE_EDGES_TOTAL: Line = Line {
    id: "duplicate_edges_total",
    measures: "Stored entries that repeat another one; they are dropped.",
    formula: "Proper entries minus distinct ordered pairs where both directions are stored (arrays, METIS, \
              ml4co), minus distinct unordered pairs elsewhere.",
    example: ("storage", "1"),
    number: Number::pooled(add_storage, |_, sums| stored(sums, DUPLICATE_EDGES)),
    ..STORED
};

pub(crate) const ONE_DIRECTIONAL_EDGES_TOTAL: Line = Line {
    id: "one_directional_edges_total",
    measures: "Edges stored in one direction where both are expected; they are read as undirected.",
    formula: "Unordered pairs of which exactly one direction is stored (arrays, METIS, ml4co), else 0.",
    example: ("storage", "1"),
    number: Number::pooled(add_storage, |_, sums| stored(sums, ONE_DIRECTIONAL_EDGES)),
    ..STORED
};

pub(crate) const ISOLATED_NODES_TOTAL: Line = Line {
    id: "isolated_nodes_total",
    measures: "Nodes without a proper edge. They are ordinary nodes and belong to every maximum independent \
               set.",
    formula: "Nodes of degree 0.",
    example: ("storage", "2"),
    number: Number::pooled(add_storage, |_, sums| stored(sums, ISOLATED_NODES)),
    ..STORED
};

/// Columns of [`add_storage`].
const NODES: usize = 0;
const EDGES: usize = 1;
const SELF_LOOPS: usize = 2;
const DUPLICATE_EDGES: usize = 3;
const ONE_DIRECTIONAL_EDGES: usize = 4;
const ISOLATED_NODES: usize = 5;

fn add_storage(_: &IndependentSet, row: &Row, terms: &mut Terms<'_>) {
    terms.whole(NODES, row.nodes);
    terms.whole(EDGES, row.edges);
    terms.whole(SELF_LOOPS, row.self_loops);
    terms.whole(DUPLICATE_EDGES, row.duplicate_edges);
    terms.whole(ONE_DIRECTIONAL_EDGES, row.one_directional_edges);
    terms.whole(ISOLATED_NODES, row.isolated_nodes);
}

fn stored(sums: &Sums<'_, Row>, column: usize) -> Value {
    if sums.count() == 0 { Value::Undefined(NO_UNITS) } else { Value::Count(sums.whole(column)) }
}
