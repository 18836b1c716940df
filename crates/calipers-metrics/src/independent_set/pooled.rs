//! Preset `strict` over all graphs together: numerators and denominators are added before the one
//! division, so that large graphs weigh more.

use calipers_core::Rows;

use super::aggregate::{pooled, pooled_sum};
use super::evidence::{
    NO_EDGES, NO_NODES, NONE_LABELLED, NONE_OF_EITHER, NONE_PREDICTED, Reading, Reason, ZERO_REFERENCE,
    counts, edges, label_sums, labels, nodes, reference, scores, sums,
};
use super::protocol::IndependentSet;
use super::row::{Row, ScoreRow};
use super::strict::{add_losses, pooled_weight, weighted_losses};

type All<'r, 'a> = &'r Rows<'a, Row>;

pub(crate) fn loss_bce(protocol: &IndependentSet, rows: All<'_, '_>) -> Reading {
    let weight = pooled_weight(rows);
    pooled_sum(rows, |row| Ok((weighted_losses(protocol, row, weight)?, row.nodes)))
}

pub(crate) fn loss_feasibility(rows: All<'_, '_>) -> Reading {
    pooled_sum(rows, |row| Ok(([sums(row)?.edge], edges(row)?)))
}

pub(crate) fn loss_total(protocol: &IndependentSet, rows: All<'_, '_>) -> Reading {
    add_losses(protocol, loss_bce(protocol, rows), loss_feasibility(rows))
}

pub(crate) fn feasibility(rows: All<'_, '_>) -> Reading {
    let kept = |row: &Row| {
        let violations = scores(row)?.violations;
        let edges = edges(row)?;
        Ok((i128::from(edges - violations), edges))
    };
    pooled(rows, kept, NO_EDGES)
}

pub(crate) fn accuracy(rows: All<'_, '_>) -> Reading {
    let right = |row: &Row| {
        let counts = counts(row)?;
        Ok((i128::from(counts.tp + counts.tn), nodes(row)?))
    };
    pooled(rows, right, NO_NODES)
}

pub(crate) fn precision(rows: All<'_, '_>) -> Reading {
    let parts = |row: &Row| counts(row).map(|c| (c.tp.into(), c.tp + c.fp));
    pooled(rows, parts, NONE_PREDICTED)
}

pub(crate) fn recall(rows: All<'_, '_>) -> Reading {
    let parts = |row: &Row| counts(row).map(|c| (c.tp.into(), c.tp + c.fn_));
    pooled(rows, parts, NONE_LABELLED)
}

pub(crate) fn f1(rows: All<'_, '_>) -> Reading {
    let parts = |row: &Row| counts(row).map(|c| ((2 * c.tp).into(), 2 * c.tp + c.fp + c.fn_));
    pooled(rows, parts, NONE_OF_EITHER)
}

pub(crate) fn set_size_ratio(rows: All<'_, '_>) -> Reading {
    let parts = |row: &Row| {
        let predicted = scores(row)?.predicted;
        Ok((predicted.into(), labels(row)?.ones))
    };
    pooled(rows, parts, NONE_LABELLED)
}

pub(crate) fn approx_ratio_raw(protocol: &IndependentSet, rows: All<'_, '_>) -> Reading {
    against_reference(protocol, rows, |scores, _| scores.predicted.into())
}

pub(crate) fn gap_ratio(protocol: &IndependentSet, rows: All<'_, '_>) -> Reading {
    against_reference(protocol, rows, gap)
}

pub(crate) fn approx_ratio_postprocessed(protocol: &IndependentSet, rows: All<'_, '_>) -> Reading {
    against_reference(protocol, rows, |scores, _| scores.decoded.into())
}

pub(crate) fn q_hat(rows: All<'_, '_>) -> Reading {
    pooled_sum(rows, |row| Ok(([label_sums(row)?.confidence], row.nodes)))
}

/// R - K of one graph.
pub(crate) fn gap_of(protocol: &IndependentSet, row: &Row) -> Result<i128, Reason> {
    let scores = scores(row)?;
    Ok(gap(scores, reference(protocol, row)?))
}

fn gap(scores: &ScoreRow, reference: u64) -> i128 {
    i128::from(reference) - i128::from(scores.decoded)
}

fn against_reference(
    protocol: &IndependentSet,
    rows: All<'_, '_>,
    numerator: fn(&ScoreRow, u64) -> i128,
) -> Reading {
    let parts = |row: &Row| {
        let scores = scores(row)?;
        let reference = reference(protocol, row)?;
        Ok((numerator(scores, reference), reference))
    };
    pooled(rows, parts, ZERO_REFERENCE)
}
