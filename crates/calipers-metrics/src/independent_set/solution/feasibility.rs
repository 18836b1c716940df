//! Feasibility: edges with both ends predicted, and nodes that could be added.

use crate::independent_set::metrics::*;
use crate::independent_set::row::evidence::{NO_EDGES, NONE_PREDICTED, edges, scores, yes_or_no};
use crate::independent_set::row::pooled::{EDGES, VIOLATIONS, pooled, ratio, scored, some, total};
use crate::independent_set::row::published;

/// The heading, and the id of its first number.
const FEASIBLE: &str = "feasibility";

pub(crate) const FEASIBILITY: Line = Line {
    id: FEASIBLE,
    group: FEASIBLE,
    better: higher,
    range: SHARE,
    headline: Some(1),
    measures: "The share of edges that the prediction respects. Whether the set is independent is is_independent.",
    formula: "(m - viol) / m with viol = edges that have both ends predicted.",
    undefined: "\"no scores given\"; \"graph has no edges\".",
    differs: "The published code divides raw violations by stored entries, cuts the quotient at 1 and gives \
              1 without edges or without a predicted node. On a simple graph stored in both directions the \
              two agree.",
    reference: document!("Feasibility Metrics 2"),
    example: ("star", "1.0"),
    number: Number::Chosen(|protocol| by_preset(protocol, feasibility, published::feasibility)),
    ..PUBLISHED
};

pub(crate) const NUM_VIOLATIONS: Line = Line {
    id: "num_violations",
    group: FEASIBLE,
    better: lower,
    range: UP_TO_EDGES,
    measures: "Edges with both ends predicted; 0 when the prediction is an independent set.",
    formula: "viol, each edge of the simple graph once; over several graphs the mean.",
    undefined: "\"no scores given\".",
    differs: "The published code halves the raw count over stored entries and rounds up, which is the same \
              only when every edge is stored in both directions and no node has a loop.",
    reference: document!("Feasibility Metrics 1"),
    example: ("path3", "2.0"),
    number: Number::Chosen(|protocol| by_preset(protocol, num_violations, published::num_violations)),
    ..PUBLISHED
};

pub(crate) const FEASIBILITY_MICRO: Line = Line {
    id: "feasibility_micro",
    better: higher,
    range: SHARE,
    measures: "The share of all edges that the predictions respect.",
    formula: "sum(m - viol) / sum m.",
    undefined: "\"no scores given\"; \"graph has no edges\".",
    example: ("batch", "0.8"),
    number: pooled(|_, sums| {
        let edges = some(sums, sums.whole(EDGES), |row| scores(row).and_then(|_| edges(row)));
        ratio(edges, sums.whole(EDGES) - sums.whole(VIOLATIONS), sums.whole(EDGES), NO_EDGES)
    }),
    ..POOLED
};

pub(crate) const NUM_VIOLATIONS_TOTAL: Line = Line {
    id: "num_violations_total",
    better: lower,
    range: UP_TO_EDGES,
    measures: "Violated edges of all graphs.",
    formula: "sum viol.",
    example: ("batch", "1"),
    undefined: NO_SCORES,
    number: pooled(|_, sums| total(scored(sums), sums.whole(VIOLATIONS))),
    ..TOTAL
};

const WHETHER: Line =
    Line { group: FEASIBLE, better: higher, range: YES_OR_NO, undefined: NO_SCORES, ..PER_GRAPH };

pub(crate) const IS_INDEPENDENT: Line = Line {
    id: "is_independent",
    measures: "Whether the prediction is an independent set.",
    formula: "1 if viol = 0, else 0; over several graphs the share.",
    differs: "feasibility is a share of edges and can be 0.997 for a set that is not independent in any \
              graph.",
    example: ("set", "0.6666666666666666"),
    number: Number::mean(|_, row| yes_or_no(scores(row).map(|scores| scores.violations == 0))),
    ..WHETHER
};

pub(crate) const IS_MAXIMAL: Line = Line {
    id: "is_maximal",
    measures: "Whether the prediction is independent and no node can be added.",
    formula: "1 if viol = 0 and every unpredicted node has a predicted neighbour, else 0.",
    example: ("set", "0.3333333333333333"),
    number: Number::mean(|_, row| yes_or_no(scores(row).map(|scores| scores.maximal))),
    ..WHETHER
};

pub(crate) const CONFLICT_RATE: Line = Line {
    id: "conflict_rate",
    group: FEASIBLE,
    better: lower,
    range: SHARE,
    measures: "The share of predicted nodes that have a predicted neighbour.",
    formula: "Predicted nodes with a predicted neighbour / num_pred_1s.",
    undefined: "\"no scores given\"; \"no node is predicted\".",
    differs: "Counts nodes, not edges: it cannot be made small by adding edges elsewhere.",
    example: ("set", "0.3333333333333333"),
    number: Number::mean(|_, row| {
        number(scores(row).and_then(|of| quotient(of.conflicted, of.predicted, NONE_PREDICTED)))
    }),
    ..PER_GRAPH
};

fn feasibility(_: &IndependentSet, row: &Row) -> Value {
    number(scores(row).and_then(|scores| quotient(row.edges - scores.violations, row.edges, NO_EDGES)))
}

fn num_violations(_: &IndependentSet, row: &Row) -> Value {
    number(scores(row).map(|scores| scores.violations as f64))
}
