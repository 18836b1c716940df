//! What all graphs add up to in preset `strict`. Numerators and denominators are added before the one
//! division, so that large graphs weigh more.

use calipers_core::{Number, Sums, Terms, Value};

use super::evidence::{NO_UNITS, counts, reference, scores};
use crate::independent_set::protocol::IndependentSet;
use crate::independent_set::row::Row;
use crate::reading::{Reason, number, quotient};

/// Columns of [`add_counts`]: graphs with labels, and their labels 1.
pub(crate) const LABELLED: usize = 0;
pub(crate) const ONES: usize = 1;
/// Graphs with scores, and what they add up to.
pub(crate) const SCORED: usize = 2;
pub(crate) const EDGES: usize = 3;
pub(crate) const VIOLATIONS: usize = 4;
pub(crate) const PREDICTED: usize = 5;
pub(crate) const DECODED: usize = 6;
/// Graphs with scores and labels, and the agreement of both.
const COUNTED: usize = 7;
pub(crate) const TP: usize = 8;
pub(crate) const FP: usize = 9;
pub(crate) const FN: usize = 10;
pub(crate) const TN: usize = 11;
/// Graphs with scores and a reference size, the sum of these sizes, and the nodes of these graphs.
const COMPARED: usize = 12;
pub(crate) const REFERENCE: usize = 13;
pub(crate) const PREDICTED_OF_REFERENCE: usize = 14;
pub(crate) const DECODED_OF_REFERENCE: usize = 15;

fn add_counts(protocol: &IndependentSet, row: &Row, terms: &mut Terms<'_>) {
    if let Some(labels) = &row.labels {
        terms.whole(LABELLED, 1);
        terms.whole(ONES, labels.ones);
    }
    let Some(scores) = &row.scores else { return };
    terms.whole(SCORED, 1);
    terms.whole(EDGES, row.edges);
    terms.whole(VIOLATIONS, scores.violations);
    terms.whole(PREDICTED, scores.predicted);
    terms.whole(DECODED, scores.decoded);
    if let Some(counts) = scores.counts {
        terms.whole(COUNTED, 1);
        terms.whole(TP, counts.tp);
        terms.whole(FP, counts.fp);
        terms.whole(FN, counts.fn_);
        terms.whole(TN, counts.tn);
    }
    if let Ok(reference) = reference(protocol, row) {
        terms.whole(COMPARED, 1);
        terms.whole(REFERENCE, reference);
        terms.whole(PREDICTED_OF_REFERENCE, scores.predicted);
        terms.whole(DECODED_OF_REFERENCE, scores.decoded);
    }
}

/// A number that follows from the counts of all graphs.
pub(crate) const fn pooled(read: fn(&IndependentSet, &Sums<'_, Row>) -> Value) -> Number<IndependentSet> {
    Number::pooled(add_counts, read)
}

/// How many graphs, nodes or edges have the evidence; if none, the reason of the first graph.
pub(crate) fn some<'r, T>(
    sums: &Sums<'r, Row>,
    count: i128,
    evidence: impl Fn(&'r Row) -> Result<T, Reason>,
) -> Result<i128, Reason> {
    if count > 0 {
        return Ok(count);
    }
    Err(sums.rows().first().and_then(|row| evidence(row).err()).unwrap_or(NO_UNITS))
}

/// How many graphs have scores.
pub(crate) fn scored(sums: &Sums<'_, Row>) -> Result<i128, Reason> {
    some(sums, sums.whole(SCORED), scores)
}

/// How many graphs have scores and labels.
pub(crate) fn counted(sums: &Sums<'_, Row>) -> Result<i128, Reason> {
    some(sums, sums.whole(COUNTED), counts)
}

/// How many graphs have scores and a reference size.
pub(crate) fn compared(protocol: &IndependentSet, sums: &Sums<'_, Row>) -> Result<i128, Reason> {
    some(sums, sums.whole(COMPARED), |row| scores(row).and_then(|_| reference(protocol, row)))
}

/// A sum over the graphs that have the evidence.
pub(crate) fn total(graphs: Result<i128, Reason>, sum: i128) -> Value {
    graphs.map_or_else(Value::Undefined, |_| Value::Count(sum))
}

/// A quotient of sums over the graphs that have the evidence.
pub(crate) fn ratio(graphs: Result<i128, Reason>, numerator: i128, divisor: i128, zero: Reason) -> Value {
    number(graphs.and_then(|_| quotient(numerator, divisor, zero)))
}
