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

/// What one graph adds to the numerator and the divisor of a pooled quotient.
pub(crate) type Parts = fn(&IndependentSet, &Row) -> Result<(i128, u64), Reason>;

/// A pooled quotient: its parts, and the reason where all divisors are 0.
pub(crate) struct Pooled {
    pub(crate) parts: Parts,
    zero: Reason,
}

impl Pooled {
    pub(crate) fn read(&self, protocol: &IndependentSet, rows: All<'_, '_>) -> Reading {
        pooled(rows, |row| (self.parts)(protocol, row), self.zero)
    }
}

pub(crate) const FEASIBILITY: Pooled = Pooled {
    parts: |_, row| {
        let violations = scores(row)?.violations;
        let edges = edges(row)?;
        Ok((i128::from(edges - violations), edges))
    },
    zero: NO_EDGES,
};

pub(crate) const ACCURACY: Pooled = Pooled {
    parts: |_, row| {
        let counts = counts(row)?;
        Ok((i128::from(counts.tp + counts.tn), nodes(row)?))
    },
    zero: NO_NODES,
};

pub(crate) const PRECISION: Pooled =
    Pooled { parts: |_, row| counts(row).map(|c| (c.tp.into(), c.tp + c.fp)), zero: NONE_PREDICTED };

pub(crate) const RECALL: Pooled =
    Pooled { parts: |_, row| counts(row).map(|c| (c.tp.into(), c.tp + c.fn_)), zero: NONE_LABELLED };

pub(crate) const F1: Pooled = Pooled {
    parts: |_, row| counts(row).map(|c| ((2 * c.tp).into(), 2 * c.tp + c.fp + c.fn_)),
    zero: NONE_OF_EITHER,
};

pub(crate) const SET_SIZE_RATIO: Pooled = Pooled {
    parts: |_, row| {
        let predicted = scores(row)?.predicted;
        Ok((predicted.into(), labels(row)?.ones))
    },
    zero: NONE_LABELLED,
};

pub(crate) const APPROX_RATIO_RAW: Pooled = Pooled {
    parts: |protocol, row| against_reference(protocol, row, |scores, _| scores.predicted.into()),
    zero: ZERO_REFERENCE,
};

pub(crate) const GAP_RATIO: Pooled =
    Pooled { parts: |protocol, row| against_reference(protocol, row, gap), zero: ZERO_REFERENCE };

pub(crate) const APPROX_RATIO_POSTPROCESSED: Pooled = Pooled {
    parts: |protocol, row| against_reference(protocol, row, |scores, _| scores.decoded.into()),
    zero: ZERO_REFERENCE,
};

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
    row: &Row,
    numerator: fn(&ScoreRow, u64) -> i128,
) -> Result<(i128, u64), Reason> {
    let scores = scores(row)?;
    let reference = reference(protocol, row)?;
    Ok((numerator(scores, reference), reference))
}
