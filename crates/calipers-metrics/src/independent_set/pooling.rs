//! Which numbers follow from sums over graphs, and how.

use calipers_core::value::rounded_quotient;
use calipers_core::{CompactSum, Counts, Grouping, Metric, Pooling, Sum, Tally, Term, Value};

use super::aggregate::number;
use super::evidence::{Reading, edges, first_solved, label_sums, sums};
use super::pooled::{self, Pooled};
use super::protocol::{IndependentSet, PosWeight, Preset};
use super::row::Row;
use super::strict::{self, add_losses, weighted_losses};
use super::{curves, drop};

const NOTHING: &str = "no graph has a value";

/// How the metric over many graphs follows from sums over them.
pub(crate) fn pooling(protocol: &IndependentSet, metric: &Metric<IndependentSet>) -> Pooling<IndependentSet> {
    // The published code reads all graphs as one batch; a pooled weight depends on all of them.
    let strict = protocol.preset == Preset::Strict;
    let own_weight = protocol.pos_weight != PosWeight::Pooled;
    let one_loss = own_weight && protocol.feasibility_weight.abs() <= 0.0;
    if !strict {
        return Pooling::Rows;
    }
    match metric.id {
        "loss_bce" | "loss_bce_micro" | "loss_total" | "loss_total_micro" if !own_weight => Pooling::Rows,
        "loss_total" if !one_loss => Pooling::Tally(Tally {
            name: "both losses",
            terms: both_losses,
            read: |protocol, sums| added_losses(protocol, sums),
        }),
        "loss_bce_micro" => Pooling::Average(losses),
        "loss_total_micro" if one_loss => Pooling::Average(losses),
        "loss_total_micro" => Pooling::Tally(Tally {
            name: "both losses over all graphs",
            terms: both_pooled_losses,
            read: |protocol, sums| added_losses(protocol, sums),
        }),
        "loss_feasibility_micro" => {
            Pooling::Average(|_, row| Some((sums(row).ok()?.edge.into(), edges(row).ok()?)))
        }
        "q_hat_micro" => {
            Pooling::Average(|_, row| Some((label_sums(row).ok()?.confidence.into(), row.nodes)))
        }
        "feasibility_micro" => Pooling::Quotient(|p, row| parts(&pooled::FEASIBILITY, p, row)),
        "accuracy_micro" => Pooling::Quotient(|p, row| parts(&pooled::ACCURACY, p, row)),
        "precision_micro" => Pooling::Quotient(|p, row| parts(&pooled::PRECISION, p, row)),
        "recall_micro" => Pooling::Quotient(|p, row| parts(&pooled::RECALL, p, row)),
        "f1_micro" => Pooling::Quotient(|p, row| parts(&pooled::F1, p, row)),
        "set_size_ratio_micro" => Pooling::Quotient(|p, row| parts(&pooled::SET_SIZE_RATIO, p, row)),
        "approx_ratio_raw_micro" => Pooling::Quotient(|p, row| parts(&pooled::APPROX_RATIO_RAW, p, row)),
        "gap_ratio_micro" => Pooling::Quotient(|p, row| parts(&pooled::GAP_RATIO, p, row)),
        "approx_ratio_postprocessed_micro" => {
            Pooling::Quotient(|p, row| parts(&pooled::APPROX_RATIO_POSTPROCESSED, p, row))
        }
        "drop_mean_of_ratios" => Pooling::Tally(Tally {
            name: "gap_ratio",
            terms: |protocol, row| value_and_presence(strict::gap_ratio(protocol, row)),
            read: |_, sums| percent(sums[0].number(), sums[1]),
        }),
        "drop_ratio_of_means" if protocol.reference_mean.is_some() => Pooling::Tally(Tally {
            name: "postprocessed_size",
            terms: |protocol, row| value_and_presence(strict::postprocessed_size(protocol, row)),
            read: |protocol, sums| {
                let size = mean(sums[0], sums[1]);
                number(size.and_then(|size| drop::from_mean(protocol, size)))
            },
        }),
        "drop_ratio_of_means" => Pooling::Tally(Tally {
            name: "gap and reference",
            terms: |protocol, row| {
                let (part, whole) = parts(&pooled::GAP_RATIO, protocol, row).unwrap_or((0, 0));
                vec![Term::Whole(part), Term::Whole(whole)]
            },
            read: |_, sums| match (sums[0].whole(), sums[1].whole()) {
                (_, 0) => Value::undefined(NOTHING),
                (part, whole) => Value::Number(100.0 * rounded_quotient(part, whole)),
            },
        }),
        "steps_to_solve_median" => Pooling::Counts(Counts {
            grouping: Grouping { label: |_| "", alike: |_| None },
            item: |_, row| first_solved(row).ok().map(|step| step.unwrap_or(u64::MAX)),
            read: |_, steps| number(curves::median_of_counts(steps)),
        }),
        id if id.ends_with("_total") && id != "loss_total" => Pooling::Total,
        _ if metric.per_unit => Pooling::Mean,
        _ => Pooling::Rows,
    }
}

fn parts(pooled: &Pooled, protocol: &IndependentSet, row: &Row) -> Option<(i128, i128)> {
    (pooled.parts)(protocol, row).ok().map(|(part, whole)| (part, whole.into()))
}

fn losses(protocol: &IndependentSet, row: &Row) -> Option<(Term, u64)> {
    let terms = weighted_losses(protocol, row, None).ok()?;
    Some((Term::Exact(terms.into_iter().collect::<CompactSum>()), row.nodes))
}

fn value_and_presence(reading: Reading) -> Vec<Term> {
    vec![Term::Number(reading.unwrap_or(0.0)), Term::Whole(reading.is_ok().into())]
}

fn percent(sum: f64, count: Sum) -> Value {
    match count.whole() {
        0 => Value::undefined(NOTHING),
        count => Value::Number(100.0 * (sum / count as f64)),
    }
}

/// What two losses are added from: the sum and the divisor of each.
fn both_losses(protocol: &IndependentSet, row: &Row) -> Vec<Term> {
    let mut terms = value_and_presence(strict::graph_bce(protocol, row, None));
    terms.extend(value_and_presence(strict::graph_feasibility(row)));
    terms
}

fn both_pooled_losses(protocol: &IndependentSet, row: &Row) -> Vec<Term> {
    let nothing = || Term::Exact(CompactSum::default());
    let (loss, nodes) = losses(protocol, row).unwrap_or_else(|| (nothing(), 0));
    let edge = sums(row).and_then(|sums| Ok((sums.edge, edges(row)?)));
    let (edge, edges) = edge.unwrap_or((0.0, 0));
    vec![loss, nodes.into(), edge.into(), edges.into()]
}

fn added_losses(protocol: &IndependentSet, sums: &[Sum]) -> Value {
    number(add_losses(protocol, mean(sums[0], sums[1]), mean(sums[2], sums[3])))
}

fn mean(sum: Sum, divisor: Sum) -> Reading {
    match divisor.whole() {
        0 => Err(NOTHING),
        divisor => Ok(sum.number() / divisor as f64),
    }
}
