//! Losses and the confidence of the scores: sums over nodes and edges, and what is read from them.

mod beliefs;
pub(super) mod confidence;
mod edge_products;
mod gradient;
pub(super) mod loss;

use calipers_core::exact::rounded_quotient;
use calipers_core::{Number, Rows, Sums, Terms, Value};

use super::metrics::Line;
use super::protocol::{IndependentSet, PosWeight};
use super::row::Row;
use crate::independent_set::row::evidence::{edges, label_sums, labels, loss_sums, sums as score_sums};
use crate::independent_set::row::pooled::some;
use crate::reading::{Reading, Reason};

pub use gradient::{Batch, LossAndGrad, loss_and_grad};

pub(super) use beliefs::{node_sums, probabilities, stored_sum};
pub(super) use edge_products::{Products, products};

/// Columns of [`add_losses`]: sums over graphs of numerators and divisors, of quotients and graphs.
const LOSS: usize = 0;
const NODES: usize = 1;
const BCE: usize = 2;
const LABELLED: usize = 3;
const EDGE: usize = 4;
const EDGES: usize = 5;
const FEASIBILITY: usize = 6;
const CONNECTED: usize = 7;
const CONFIDENCE: usize = 8;
const CONFIDENT_NODES: usize = 9;

fn add_losses(protocol: &IndependentSet, row: &Row, terms: &mut Terms<'_>) {
    if let Ok([positive, negative]) = weighted(protocol, row) {
        terms.number(LOSS, positive);
        terms.number(LOSS, negative);
        terms.whole(NODES, row.nodes);
        terms.number(BCE, (positive + negative) / row.nodes as f64);
        terms.whole(LABELLED, 1);
    }
    if let Ok((edge, edges)) = edge_sum(row) {
        terms.number(EDGE, edge);
        terms.whole(EDGES, edges);
        terms.number(FEASIBILITY, edge / edges as f64);
        terms.whole(CONNECTED, 1);
    }
    if let Ok(sums) = label_sums(row) {
        terms.number(CONFIDENCE, sums.confidence);
        terms.whole(CONFIDENT_NODES, row.nodes);
    }
}

const fn from_sums(read: fn(&IndependentSet, &Sums<'_, Row>) -> Value) -> Number<IndependentSet> {
    Number::pooled(add_losses, read)
}

/// The two weighted sums of the cross-entropy of one graph with nodes, labels 1 first. Without a
/// label 1 the weight multiplies nothing.
fn weighted(protocol: &IndependentSet, row: &Row) -> Result<[f64; 2], Reason> {
    let (positive, negative) = loss_sums(row)?;
    let ones = labels(row)?.ones;
    let weight = match protocol.pos_weight {
        PosWeight::Fixed(weight) => weight,
        PosWeight::Rule(_) if ones == 0 => 0.0,
        PosWeight::Rule(_) => rounded_quotient((row.nodes - ones).into(), ones.into()),
    };
    Ok([weight * positive, negative])
}

/// The weighted cross-entropy per node of one graph.
fn bce(protocol: &IndependentSet, row: &Row) -> Reading {
    weighted(protocol, row).map(|[positive, negative]| (positive + negative) / row.nodes as f64)
}

fn edge_sum(row: &Row) -> Result<(f64, u64), Reason> {
    Ok((score_sums(row)?.edge, edges(row)?))
}

/// The feasibility loss of one graph.
fn feasibility(row: &Row) -> Reading {
    edge_sum(row).map(|(edge, edges)| edge / edges as f64)
}

fn total(protocol: &IndependentSet, sums: &Sums<'_, Row>) -> Reading {
    let graphs = some(sums, sums.whole(LABELLED), |row| weighted(protocol, row))?;
    let feasibility = || {
        let graphs = some(sums, sums.whole(CONNECTED), edge_sum)?;
        Ok(sums.number_over(FEASIBILITY, graphs))
    };
    added(protocol, sums.number_over(BCE, graphs), feasibility)
}

fn bce_micro(protocol: &IndependentSet, sums: &Sums<'_, Row>) -> Reading {
    let nodes = some(sums, sums.whole(NODES), |row| weighted(protocol, row))?;
    Ok(sums.number_over(LOSS, nodes))
}

fn feasibility_micro(sums: &Sums<'_, Row>) -> Reading {
    let edges = some(sums, sums.whole(EDGES), edge_sum)?;
    Ok(sums.number_over(EDGE, edges))
}

fn total_micro(protocol: &IndependentSet, sums: &Sums<'_, Row>) -> Reading {
    added(protocol, bce_micro(protocol, sums)?, || feasibility_micro(sums))
}

fn confidence_micro(sums: &Sums<'_, Row>) -> Reading {
    let nodes = some(sums, sums.whole(CONFIDENT_NODES), label_sums)?;
    Ok(sums.number_over(CONFIDENCE, nodes))
}

/// The cross-entropy plus lambda times the feasibility loss, which lambda 0 does not ask for.
fn added(protocol: &IndependentSet, bce: f64, feasibility: impl FnOnce() -> Reading) -> Reading {
    let lambda = protocol.feasibility_weight;
    if lambda == 0.0 { Ok(bce) } else { Ok(bce + lambda * feasibility()?) }
}

/// Reads a loss with the weight of labels 1 that all graphs give together.
fn with_weight(protocol: &IndependentSet, rows: &Rows<'_, Row>, line: &Line) -> Value {
    let pos_weight = PosWeight::Fixed(pooled_weight(rows));
    line.read(&IndependentSet { pos_weight, ..protocol.clone() }, rows)
}

/// The weight (N - Y)/Y over all labelled graphs together; without a label 1 it multiplies nothing.
pub(super) fn pooled_weight(rows: &Rows<'_, Row>) -> f64 {
    let labelled = || rows.iter().filter_map(|row| Some((row.nodes, row.labels.as_ref()?.ones)));
    let ones: i128 = labelled().map(|(_, ones)| i128::from(ones)).sum();
    let zeros: i128 = labelled().map(|(nodes, ones)| i128::from(nodes - ones)).sum();
    if ones == 0 { 0.0 } else { rounded_quotient(zeros, ones) }
}
