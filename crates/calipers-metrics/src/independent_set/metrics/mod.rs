//! The metric table: every number of the family in report order, with its definition.

mod baseline;
mod certificate;
mod classification;
mod confidence;
mod decode;
mod decoders;
mod feasibility;
mod labels;
mod losses;
mod pooled;
mod prediction;
mod recursion;
mod samples;
mod set_size;
mod steps;
mod totals;

use calipers_core::{Better, Column, Metric, Range, Rows, Value};

use super::aggregate::{count, mean, number};
use super::evidence::{Reading, Reason, counts};
use super::protocol::{IndependentSet, Preset};
use super::published::Batch;
use super::row::{Counts, Row};

type Line = Metric<IndependentSet>;

/// Every metric in report order.
pub(crate) const METRICS: &[Line] = &[
    losses::LOSS_BCE,
    losses::LOSS_FEASIBILITY,
    losses::LOSS_TOTAL,
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
    recursion::STEPS_TO_SOLVE,
    recursion::SOLVED,
    pooled::LOSS_BCE_MICRO,
    pooled::LOSS_FEASIBILITY_MICRO,
    pooled::LOSS_TOTAL_MICRO,
    pooled::FEASIBILITY_MICRO,
    pooled::ACCURACY_MICRO,
    pooled::PRECISION_MICRO,
    pooled::RECALL_MICRO,
    pooled::F1_MICRO,
    pooled::SET_SIZE_RATIO_MICRO,
    pooled::APPROX_RATIO_RAW_MICRO,
    pooled::GAP_RATIO_MICRO,
    pooled::APPROX_RATIO_POSTPROCESSED_MICRO,
    pooled::Q_HAT_MICRO,
    totals::NUM_VIOLATIONS_TOTAL,
    totals::NUM_PRED_1S_TOTAL,
    totals::NUM_TRUE_1S_TOTAL,
    totals::POSTPROCESSED_SIZE_TOTAL,
    totals::GAP_TOTAL,
    totals::TP_TOTAL,
    totals::FP_TOTAL,
    totals::FN_TOTAL,
    totals::TN_TOTAL,
    totals::NODES_TOTAL,
    totals::EDGES_TOTAL,
    totals::SELF_LOOPS_TOTAL,
    totals::DUPLICATE_EDGES_TOTAL,
    totals::ONE_DIRECTIONAL_EDGES_TOTAL,
    totals::ISOLATED_NODES_TOTAL,
    losses::LOSS_BCE_UNWEIGHTED,
    prediction::OPTIMAL_SIZE,
    prediction::IS_INDEPENDENT,
    prediction::IS_MAXIMAL,
    prediction::CONFLICT_RATE,
    prediction::SOLVED_ANY_OPTIMUM,
    prediction::OPTIMAL_RATE,
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
    steps::SOLVED_RATE,
    steps::STEPS_TO_SOLVE_MEDIAN,
    steps::ACCURACY_BY_STEP,
    steps::NUM_VIOLATIONS_BY_STEP,
    steps::POSTPROCESSED_SIZE_BY_STEP,
    steps::SOLVED_BY_STEP,
    decode::DROP_MEAN_OF_RATIOS,
    decode::DROP_RATIO_OF_MEANS,
];

/// How many of [`METRICS`], from the first, the published code has too.
const PUBLISHED: usize = 20;

/// Whether the published code has the metric.
pub(crate) fn is_published(id: &str) -> bool {
    METRICS[..PUBLISHED].iter().any(|metric| metric.id == id)
}

/// The first columns of the per-unit table.
pub(crate) const COLUMNS: &[Column<IndependentSet>] = &[
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
    count(counts(row).map(|counts| cell(&counts).into()))
}

/// The reference of the numbers that the document defines.
macro_rules! document {
    ($section:literal) => {
        concat!("MIS-TRM Metrics Calculations Reference, ", $section)
    };
}
use document;

const SHARE: Range = Range { low: 0.0, high: 1.0, text: "[0, 1]" };
const YES_OR_NO: Range = Range { low: 0.0, high: 1.0, text: "{0, 1} per graph, [0, 1] over graphs" };
const NON_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, inf)" };
const UP_TO_NODES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, N]" };
const UP_TO_EDGES: Range = Range { low: 0.0, high: f64::INFINITY, text: "[0, m]" };
const UP_TO_REFERENCE: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, R]" };
const UP_TO_ONE: Range = Range { low: f64::NEG_INFINITY, high: 1.0, text: "(-inf, 1]" };
const UP_TO_HUNDRED: Range = Range { low: f64::NEG_INFINITY, high: 100.0, text: "(-inf, 100]" };
const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "(-inf, inf)" };
const STEP: Range = Range { low: 1.0, high: f64::INFINITY, text: "[1, T]" };

fn higher(_: &IndependentSet) -> Better {
    Better::Higher
}

fn lower(_: &IndependentSet) -> Better {
    Better::Lower
}

fn neither(_: &IndependentSet) -> Better {
    Better::Neither
}

/// The mean of a per-graph value.
fn over_graphs(
    protocol: &IndependentSet,
    rows: &Rows<'_, Row>,
    per_graph: fn(&IndependentSet, &Row) -> Reading,
) -> Value {
    number(each(per_graph)(protocol, rows))
}

/// The mean of a per-graph value, before it is printed.
fn each(
    per_graph: fn(&IndependentSet, &Row) -> Reading,
) -> impl Fn(&IndependentSet, &Rows<'_, Row>) -> Reading {
    move |protocol, rows| mean(rows, |row| per_graph(protocol, row))
}

/// The first reading in preset `strict`, else what the published code gives.
fn by_preset<'r, 'a>(
    protocol: &'r IndependentSet,
    rows: &'r Rows<'a, Row>,
    strict: impl Fn(&IndependentSet, &Rows<'_, Row>) -> Reading,
    published: impl Fn(&Batch<'r, 'a>) -> Result<Value, Reason>,
) -> Value {
    match protocol.preset {
        Preset::Strict => number(strict(protocol, rows)),
        Preset::Document | Preset::TrmMisHead => {
            published(&Batch::new(protocol, rows)).unwrap_or_else(Value::undefined)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_published_ids_end_with_solved() {
        assert_eq!(METRICS[PUBLISHED - 1].id, "solved");
        assert!(is_published("loss_bce") && !is_published("loss_bce_micro"));
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
