//! Which numbers follow from sums over graphs, and how.

use calipers_core::{CompactSum, Metric, Pooling, Sum, Tally, Term, Value};

use super::evidence::{Reading, edges, label_sums, sums};
use super::pooled::{self, Pooled};
use super::protocol::{IndependentSet, PosWeight, Preset};
use super::row::Row;
use super::strict::{self, weighted_losses};

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
        "loss_bce" if !own_weight => Pooling::Rows,
        "loss_total" if !one_loss => Pooling::Rows,
        "loss_bce_micro" if own_weight => Pooling::Average(losses),
        "loss_total_micro" if one_loss => Pooling::Average(losses),
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
        0 => Value::undefined("no graph has a value"),
        count => Value::Number(100.0 * (sum / count as f64)),
    }
}
