//! The metric table: every number of the family in report order, and what its lines share.

use calipers_core::{Column, Metric, Range};

use super::certificate;
use super::graph::storage;
use super::losses::{confidence, loss};
pub(super) use super::protocol::IndependentSet;
use super::protocol::Preset;
use super::row::Counts;
pub(super) use super::row::Row;
use super::row::evidence::counts;
use super::row::published::batch;
use super::search::{baseline, decode, decoders};
use super::solution::{classification, feasibility, labels, set_size};
use super::steps::{curves, samples, solved};

pub(super) use crate::line::*;

pub(super) type Line = Metric<IndependentSet>;

/// A number of each graph and of the published code.
pub(super) const PUBLISHED: Line = Line { per_unit: true, ..Line::DEFAULTS };

/// A number that the published code does not have.
pub(super) const STRICT: Line =
    Line { presets: |protocol| protocol.preset == Preset::Strict, ..Line::DEFAULTS };

/// A number of each graph, reported as their mean.
pub(super) const PER_GRAPH: Line = Line { per_unit: true, ..STRICT };

/// A quotient of sums over all graphs: a formula of the document, taken over all graphs at once.
pub(super) const POOLED: Line = Line {
    group: "pooled",
    reference: "Calipers; the formula of the document, summed over graphs",
    ..STRICT
};

/// A whole number summed over all graphs.
pub(super) const TOTAL: Line = Line { group: "totals", range: NON_NEGATIVE, ..STRICT };

/// When numbers are undefined that need scores, or scores and a reference, and nothing else.
pub(super) const NO_SCORES: &str = "\"no scores given\".";
pub(super) const NO_REFERENCE: &str = "\"no scores given\"; \"no labels or optimum given\".";

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("MIS-TRM Metrics Calculations Reference, ", $section)
    };
}
pub(super) use document;

pub(super) const YES_OR_NO: Range =
    Range { low: 0.0, high: 1.0, text: "{0, 1} per graph, [0, 1] over graphs" };
pub(super) const UP_TO_NODES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, N]" };
pub(super) const UP_TO_EDGES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, m]" };
pub(super) const UP_TO_REFERENCE: Range =
    Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, R]" };
pub(super) const UP_TO_HUNDRED: Range = Range { low: f64::NEG_INFINITY, high: 100.0, text: "(-inf, 100]" };
pub(super) const STEP: Range = Range { low: 1.0, high: f64::INFINITY, text: "[1, T]" };

/// The mean of a number of each graph in preset `strict`; in the presets of the published code, a number
/// of the batch that all graphs make.
pub(super) fn by_preset(
    protocol: &IndependentSet,
    of: fn(&IndependentSet, &Row) -> Value,
    published: fn(&IndependentSet, &Sums<'_, Row>) -> Value,
) -> Number<IndependentSet> {
    if protocol.preset == Preset::Strict { Number::mean(of) } else { batch(published) }
}

/// Every metric in report order.
pub(super) const METRICS: &[Line] = &[
    loss::LOSS_BCE,
    loss::LOSS_FEASIBILITY,
    loss::LOSS_TOTAL,
    feasibility::FEASIBILITY,
    feasibility::NUM_VIOLATIONS,
    classification::ACCURACY,
    classification::PRECISION,
    classification::RECALL,
    classification::F1,
    set_size::NUM_PRED_1S,
    set_size::NUM_TRUE_1S,
    set_size::SET_SIZE_RATIO,
    set_size::APPROX_RATIO_RAW,
    decode::POSTPROCESSED_SIZE,
    decode::GAP,
    decode::GAP_RATIO,
    decode::APPROX_RATIO_POSTPROCESSED,
    confidence::Q_HAT,
    solved::STEPS_TO_SOLVE,
    solved::SOLVED,
    loss::LOSS_BCE_MICRO,
    loss::LOSS_FEASIBILITY_MICRO,
    loss::LOSS_TOTAL_MICRO,
    feasibility::FEASIBILITY_MICRO,
    classification::ACCURACY_MICRO,
    classification::PRECISION_MICRO,
    classification::RECALL_MICRO,
    classification::F1_MICRO,
    set_size::SET_SIZE_RATIO_MICRO,
    set_size::APPROX_RATIO_RAW_MICRO,
    decode::GAP_RATIO_MICRO,
    decode::APPROX_RATIO_POSTPROCESSED_MICRO,
    confidence::Q_HAT_MICRO,
    feasibility::NUM_VIOLATIONS_TOTAL,
    set_size::NUM_PRED_1S_TOTAL,
    set_size::NUM_TRUE_1S_TOTAL,
    decode::POSTPROCESSED_SIZE_TOTAL,
    decode::GAP_TOTAL,
    classification::TP_TOTAL,
    classification::FP_TOTAL,
    classification::FN_TOTAL,
    classification::TN_TOTAL,
    storage::NODES_TOTAL,
    storage::EDGES_TOTAL,
    storage::SELF_LOOPS_TOTAL,
    storage::DUPLICATE_EDGES_TOTAL,
    storage::ONE_DIRECTIONAL_EDGES_TOTAL,
    storage::ISOLATED_NODES_TOTAL,
    loss::LOSS_BCE_UNWEIGHTED,
    set_size::OPTIMAL_SIZE,
    feasibility::IS_INDEPENDENT,
    feasibility::IS_MAXIMAL,
    feasibility::CONFLICT_RATE,
    set_size::SOLVED_ANY_OPTIMUM,
    decode::OPTIMAL_RATE,
    labels::LABEL_IS_INDEPENDENT,
    labels::LABEL_IS_MAXIMAL,
    labels::LABEL_BEATEN,
    labels::LABEL_CERTIFIED_OPTIMAL,
    certificate::UPPER_BOUND,
    certificate::CERTIFIED_GAP,
    certificate::CERTIFIED_RATIO,
    certificate::CERTIFIED_OPTIMAL,
    baseline::BASELINE_SIZE,
    baseline::BASELINE_APPROX_RATIO,
    baseline::MODEL_LIFT,
    decoders::SCORE_DEGREE_SIZE,
    decoders::SWAP_SIZE,
    decoders::ILS_SIZE,
    samples::BEST_OF_SIZE,
    samples::BEST_OF_APPROX_RATIO,
    samples::BEST_OF_CURVE,
    solved::SOLVED_RATE,
    solved::STEPS_TO_SOLVE_MEDIAN,
    curves::ACCURACY_BY_STEP,
    curves::NUM_VIOLATIONS_BY_STEP,
    curves::POSTPROCESSED_SIZE_BY_STEP,
    curves::SOLVED_BY_STEP,
    decode::DROP_MEAN_OF_RATIOS,
    decode::DROP_RATIO_OF_MEANS,
];

/// The first columns of the per-unit table.
pub(super) const COLUMNS: &[Column<IndependentSet>] = &[
    Column { name: "nodes", read: |_, row| Value::Count(row.nodes.into()) },
    Column { name: "edges", read: |_, row| Value::Count(row.edges.into()) },
    Column { name: "self_loops", read: |_, row| Value::Count(row.self_loops.into()) },
    Column { name: "duplicate_edges", read: |_, row| Value::Count(row.duplicate_edges.into()) },
    Column { name: "one_directional_edges", read: |_, row| Value::Count(row.one_directional_edges.into()) },
    Column { name: "isolated_nodes", read: |_, row| Value::Count(row.isolated_nodes.into()) },
    Column { name: "tp", read: |_, row| agreement(row, |counts| counts.tp) },
    Column { name: "fp", read: |_, row| agreement(row, |counts| counts.fp) },
    Column { name: "fn", read: |_, row| agreement(row, |counts| counts.fn_) },
    Column { name: "tn", read: |_, row| agreement(row, |counts| counts.tn) },
];

fn agreement(row: &Row, cell: fn(&Counts) -> u64) -> Value {
    counts(row).map_or_else(Value::Undefined, |counts| Value::Count(cell(&counts).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_code_has_the_twenty_numbers_of_the_document() {
        let published = |metric: &&Line| (metric.presets)(&IndependentSet::new(Preset::Document));
        let ids: Vec<_> = METRICS.iter().filter(published).map(|metric| metric.id).collect();
        assert_eq!((ids.len(), ids[0], ids[19]), (20, "loss_bce", "solved"));
        assert!(METRICS.iter().all(|metric| (metric.presets)(&IndependentSet::default())));
    }
}
