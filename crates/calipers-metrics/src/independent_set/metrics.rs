//! The metric table: every number of the family in report order, and what its lines share.

use calipers_core::{Better, Column, Doc, Metric, Number, Range, Value};

use super::certificate;
use super::evidence::counts;
use super::graph::storage;
use super::losses::{confidence, loss};
use super::protocol::{IndependentSet, Preset};
use super::row::{Counts, Row};
use super::search::{baseline, decode, decoders};
use super::solution::{classification, feasibility, labels, set_size};
use super::steps::{curves, samples, solved};

pub(super) type Line = Metric<IndependentSet>;

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

/// A number of each graph and of the published code.
pub(super) const PUBLISHED: Line = Line { per_unit: true, ..Line::DEFAULTS };

/// A number that the published code does not have.
pub(super) const STRICT: Line =
    Line { presets: |protocol| protocol.preset == Preset::Strict, ..Line::DEFAULTS };

/// A number of each graph, reported as their mean.
pub(super) const PER_GRAPH: Line = Line { per_unit: true, ..STRICT };

/// A quotient of sums over all graphs.
pub(super) const POOLED: Line = Line { group: "pooled", ..STRICT };

/// A whole number summed over all graphs.
pub(super) const TOTAL: Line = Line { group: "totals", range: NON_NEGATIVE, ..STRICT };

/// A definition that is not the document's.
pub(super) const OURS: Doc = Doc { reference: "Calipers", ..Line::DEFAULTS.doc };

/// A definition of the document, taken over all graphs at once.
pub(super) const SUMMED: Doc =
    Doc { reference: "Calipers; the formula of the document, summed over graphs", ..Line::DEFAULTS.doc };

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("MIS-TRM Metrics Calculations Reference, ", $section)
    };
}
pub(super) use document;

pub(super) const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
pub(super) const YES_OR_NO: Range =
    Range { low: 0.0, high: 1.0, text: "{0, 1} per graph, [0, 1] over graphs" };
pub(super) const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
pub(super) const UP_TO_NODES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, N]" };
pub(super) const UP_TO_EDGES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, m]" };
pub(super) const UP_TO_REFERENCE: Range =
    Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, R]" };
pub(super) const UP_TO_ONE: Range = Range { low: f64::NEG_INFINITY, high: 1.0, text: "(-inf, 1]" };
pub(super) const UP_TO_HUNDRED: Range = Range { low: f64::NEG_INFINITY, high: 100.0, text: "(-inf, 100]" };
pub(super) const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, inf)" };
pub(super) const STEP: Range = Range { low: 1.0, high: f64::INFINITY, text: "[1, T]" };

pub(super) fn higher(_: &IndependentSet) -> Better {
    Better::Higher
}

pub(super) fn lower(_: &IndependentSet) -> Better {
    Better::Lower
}

/// The mean of a number of each graph, where it has one.
pub(super) const fn mean(of: fn(&IndependentSet, &Row) -> Value) -> Number<IndependentSet> {
    Number::Mean { of, none: None }
}

/// The first number in preset `strict`, the second in the presets of the published code.
pub(super) fn by_preset(
    protocol: &IndependentSet,
    strict: Number<IndependentSet>,
    published: Number<IndependentSet>,
) -> Number<IndependentSet> {
    match protocol.preset {
        Preset::Strict => strict,
        Preset::Document | Preset::TrmMisHead => published,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_published_code_has_the_twenty_numbers_of_the_document() {
        let published = |metric: &&Line| (metric.presets)(&IndependentSet::new(Preset::Document));
        let ids: Vec<_> = METRICS.iter().filter(published).map(|metric| metric.id).collect();
        assert_eq!((ids.len(), ids[0], ids[19]), (20, "loss_bce", "solved"));
        assert!(METRICS.iter().all(|metric| (metric.presets)(&IndependentSet::default())));
    }

    #[test]
    fn no_id_occurs_twice_and_ids_are_snake_case() {
        let ids: BTreeSet<_> = METRICS.iter().map(|metric| metric.id).collect();
        assert_eq!(ids.len(), METRICS.len());
        for id in ids {
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{id}");
        }
    }

    #[test]
    fn every_definition_is_written_out() {
        for Metric { id, doc, .. } in METRICS {
            for (heading, text) in
                [("measures", doc.measures), ("formula", doc.formula), ("reference", doc.reference)]
            {
                assert!(!text.is_empty(), "{id} lacks {heading}");
            }
            assert!(!doc.example.0.is_empty() && !doc.example.1.is_empty(), "{id} lacks an example");
        }
    }
}
