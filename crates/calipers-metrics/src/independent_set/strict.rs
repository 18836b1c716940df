//! Preset `strict`: each number of one graph, exact, with a reason where the formula is 0/0.

use calipers_core::Rows;
use calipers_core::exact::rounded_quotient;

use super::aggregate::{mean, quotient};
use super::evidence::{
    NEVER_SOLVED, NO_EDGES, NO_NODES, NONE_LABELLED, NONE_OF_EITHER, NONE_PREDICTED, Reading, Reason,
    ZERO_REFERENCE, counts, edges, first_solved, label_sums, labels, loss_sums, nodes, reference, scores,
    sums,
};
use super::protocol::{IndependentSet, PosWeight, WeightRule};
use super::row::Row;

/// The weight (N - Y)/Y over all labelled graphs together; `None` when no node is labelled 1.
pub(crate) fn pooled_weight(rows: &Rows<'_, Row>) -> Option<f64> {
    let (mut ones, mut zeros) = (0i128, 0i128);
    for row in rows.iter() {
        if let Some(labels) = &row.labels {
            ones += i128::from(labels.ones);
            zeros += i128::from(row.nodes - labels.ones);
        }
    }
    (ones != 0).then(|| rounded_quotient(zeros, ones))
}

/// The two weighted sums of the cross-entropy of one graph, labels 1 first. Without a label 1 the
/// weight multiplies nothing.
pub(crate) fn weighted_losses(
    protocol: &IndependentSet,
    row: &Row,
    pooled: Option<f64>,
) -> Result<[f64; 2], Reason> {
    let (positive, negative) = loss_sums(row)?;
    let ones = labels(row)?.ones;
    let weight = match protocol.pos_weight {
        PosWeight::Fixed(weight) => Some(weight),
        PosWeight::Rule(WeightRule::Pooled) => pooled,
        PosWeight::Rule(WeightRule::Graph) => {
            (ones != 0).then(|| rounded_quotient((row.nodes - ones).into(), ones.into()))
        }
    };
    Ok([weight.map_or(0.0, |weight| weight * positive), negative])
}

/// The mean weighted cross-entropy over the graphs.
pub(crate) fn loss_bce(protocol: &IndependentSet, rows: &Rows<'_, Row>) -> Reading {
    let pooled = pooled_weight(rows);
    mean(rows, |row| graph_bce(protocol, row, pooled))
}

/// The mean weighted cross-entropy over the nodes of one graph.
pub(crate) fn graph_bce(protocol: &IndependentSet, row: &Row, pooled: Option<f64>) -> Reading {
    let [positive, negative] = weighted_losses(protocol, row, pooled)?;
    Ok((positive + negative) / nodes(row)? as f64)
}

/// The mean feasibility loss over the graphs.
pub(crate) fn loss_feasibility(_: &IndependentSet, rows: &Rows<'_, Row>) -> Reading {
    mean(rows, graph_feasibility)
}

/// The mean feasibility loss over the edges of one graph.
pub(crate) fn graph_feasibility(row: &Row) -> Reading {
    Ok(sums(row)?.edge / edges(row)? as f64)
}

/// The sum of the two reported losses.
pub(crate) fn loss_total(protocol: &IndependentSet, rows: &Rows<'_, Row>) -> Reading {
    add_losses(protocol, loss_bce(protocol, rows), loss_feasibility(protocol, rows))
}

/// The cross-entropy plus lambda times the feasibility loss; with lambda 0 the second part is not
/// asked for.
pub(crate) fn add_losses(protocol: &IndependentSet, bce: Reading, feasibility: Reading) -> Reading {
    let (bce, weight) = (bce?, protocol.feasibility_weight);
    if weight == 0.0 { Ok(bce) } else { Ok(bce + weight * feasibility?) }
}

pub(crate) fn feasibility(_: &IndependentSet, row: &Row) -> Reading {
    let violations = scores(row)?.violations;
    quotient(row.edges - violations, row.edges, NO_EDGES)
}

pub(crate) fn num_violations(_: &IndependentSet, row: &Row) -> Reading {
    Ok(scores(row)?.violations as f64)
}

pub(crate) fn accuracy(_: &IndependentSet, row: &Row) -> Reading {
    let counts = counts(row)?;
    quotient(counts.tp + counts.tn, row.nodes, NO_NODES)
}

pub(crate) fn precision(_: &IndependentSet, row: &Row) -> Reading {
    let counts = counts(row)?;
    quotient(counts.tp, counts.tp + counts.fp, NONE_PREDICTED)
}

pub(crate) fn recall(_: &IndependentSet, row: &Row) -> Reading {
    let counts = counts(row)?;
    quotient(counts.tp, counts.tp + counts.fn_, NONE_LABELLED)
}

pub(crate) fn f1(_: &IndependentSet, row: &Row) -> Reading {
    let counts = counts(row)?;
    quotient(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn_, NONE_OF_EITHER)
}

pub(crate) fn num_pred_1s(_: &IndependentSet, row: &Row) -> Reading {
    Ok(scores(row)?.predicted as f64)
}

pub(crate) fn num_true_1s(_: &IndependentSet, row: &Row) -> Reading {
    Ok(labels(row)?.ones as f64)
}

pub(crate) fn set_size_ratio(_: &IndependentSet, row: &Row) -> Reading {
    let predicted = scores(row)?.predicted;
    quotient(predicted, labels(row)?.ones, NONE_LABELLED)
}

pub(crate) fn approx_ratio_raw(protocol: &IndependentSet, row: &Row) -> Reading {
    let predicted = scores(row)?.predicted;
    quotient(predicted, reference(protocol, row)?, ZERO_REFERENCE)
}

pub(crate) fn postprocessed_size(_: &IndependentSet, row: &Row) -> Reading {
    Ok(scores(row)?.decoded as f64)
}

pub(crate) fn gap(protocol: &IndependentSet, row: &Row) -> Reading {
    let decoded = i128::from(scores(row)?.decoded);
    Ok((i128::from(reference(protocol, row)?) - decoded) as f64)
}

pub(crate) fn gap_ratio(protocol: &IndependentSet, row: &Row) -> Reading {
    let decoded = i128::from(scores(row)?.decoded);
    let reference = i128::from(reference(protocol, row)?);
    quotient(reference - decoded, reference, ZERO_REFERENCE)
}

pub(crate) fn approx_ratio_postprocessed(protocol: &IndependentSet, row: &Row) -> Reading {
    let decoded = scores(row)?.decoded;
    quotient(decoded, reference(protocol, row)?, ZERO_REFERENCE)
}

pub(crate) fn q_hat(_: &IndependentSet, row: &Row) -> Reading {
    Ok(label_sums(row)?.confidence / nodes(row)? as f64)
}

pub(crate) fn steps_to_solve(_: &IndependentSet, row: &Row) -> Reading {
    first_solved(row)?.map(|step| step as f64).ok_or(NEVER_SOLVED)
}

pub(crate) fn solved(_: &IndependentSet, row: &Row) -> Reading {
    let counts = counts(row)?;
    let right = counts.tp + counts.tn == nodes(row)?;
    Ok(f64::from(right && scores(row)?.violations == 0))
}
