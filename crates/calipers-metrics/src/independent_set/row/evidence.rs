//! What a reading asks of a row, and the words said when the row does not have it.

use calipers_core::Value;

use crate::independent_set::protocol::{IndependentSet, Reference};
use crate::independent_set::row::{Counts, LabelRow, LabelSums, Row, ScoreRow, StepRow, Sums};
use crate::reading::{Reason, number};

pub(crate) const NO_UNITS: Reason = Reason::Borrowed("no units given");
pub(crate) const NO_SCORES: Reason = Reason::Borrowed("no scores given");
pub(crate) const A_SET: Reason = Reason::Borrowed("a set was given, not scores");
pub(crate) const NO_STEPS: Reason = Reason::Borrowed("no steps given");
pub(crate) const NO_SAMPLES: Reason = Reason::Borrowed("no samples given");
pub(crate) const NO_LABELS: Reason = Reason::Borrowed("no labels given");
pub(crate) const NO_NODES: Reason = Reason::Borrowed("graph has no nodes");
pub(crate) const NO_EDGES: Reason = Reason::Borrowed("graph has no edges");
pub(crate) const NONE_PREDICTED: Reason = Reason::Borrowed("no node is predicted");
pub(crate) const NONE_LABELLED: Reason = Reason::Borrowed("no node is labelled 1");
pub(crate) const NONE_OF_EITHER: Reason = Reason::Borrowed("no node is predicted or labelled 1");
pub(crate) const NO_REFERENCE: Reason = Reason::Borrowed("no labels or optimum given");
pub(crate) const ZERO_REFERENCE: Reason = Reason::Borrowed("reference size is 0");
pub(crate) const INFINITE: Reason = Reason::Borrowed("infinite: a probability of 0 or 1 contradicts a label");
pub(crate) const NEVER_SOLVED: Reason = Reason::Borrowed("never solved");
pub(crate) const STEPS_DIFFER: Reason = Reason::Borrowed("units have different numbers of steps");

/// What the scores say, of whatever kind they are.
pub(crate) fn scores(row: &Row) -> Result<&ScoreRow, Reason> {
    row.scores.as_ref().ok_or(NO_SCORES)
}

/// Sums of probabilities, which a set does not have.
pub(crate) fn sums(row: &Row) -> Result<&Sums, Reason> {
    scores(row)?.sums.as_ref().ok_or(A_SET)
}

/// The label set.
pub(crate) fn labels(row: &Row) -> Result<&LabelRow, Reason> {
    row.labels.as_ref().ok_or(NO_LABELS)
}

/// Agreement of prediction and labels.
pub(crate) fn counts(row: &Row) -> Result<Counts, Reason> {
    scores(row)?.counts.ok_or(NO_LABELS)
}

/// Sums of probabilities against the labels of a graph with nodes.
pub(crate) fn label_sums(row: &Row) -> Result<&LabelSums, Reason> {
    let sums = sums(row)?.labelled.as_ref().ok_or(NO_LABELS)?;
    nodes(row)?;
    Ok(sums)
}

/// The two loss sums, over labels 1 and over labels 0.
pub(crate) fn loss_sums(row: &Row) -> Result<(f64, f64), Reason> {
    let sums = label_sums(row)?;
    sums.positive.zip(sums.negative).ok_or(INFINITE)
}

/// The number of nodes, where there are any.
pub(crate) fn nodes(row: &Row) -> Result<u64, Reason> {
    some(row.nodes, NO_NODES)
}

/// The number of edges, where there are any.
pub(crate) fn edges(row: &Row) -> Result<u64, Reason> {
    some(row.edges, NO_EDGES)
}

/// The clique-cover bound.
pub(crate) fn bound(row: &Row) -> Result<u64, Reason> {
    row.upper_bound.ok_or(Reason::Borrowed("not requested: --certificate on"))
}

/// The size of the baseline.
pub(crate) fn baseline(row: &Row) -> Result<u64, Reason> {
    row.baseline.ok_or(Reason::Borrowed("not requested: --baseline NAME"))
}

/// The reference size R.
pub(crate) fn reference(protocol: &IndependentSet, row: &Row) -> Result<u64, Reason> {
    let labelled = row.labels.as_ref().map(|labels| labels.ones);
    match protocol.reference {
        Reference::Auto => row.optimum.or(labelled),
        Reference::Labels => labelled,
        Reference::Optimum => row.optimum,
    }
    .ok_or(NO_REFERENCE)
}

/// The first recursion step, from 1, at which the graph is solved; `None` when it never is.
pub(crate) fn first_solved(row: &Row) -> Result<Option<u64>, Reason> {
    let steps = steps(row)?;
    labels(row)?;
    let nodes = nodes(row)?;
    Ok((1..).zip(steps).find(|(_, step)| step.solved(nodes)).map(|(at, _)| at))
}

/// The recursion steps.
pub(crate) fn steps(row: &Row) -> Result<&[StepRow], Reason> {
    let steps = &scores(row)?.steps;
    if steps.is_empty() { Err(NO_STEPS) } else { Ok(steps) }
}

/// The decode size of each sample.
pub(crate) fn samples(row: &Row) -> Result<&[u64], Reason> {
    let samples = &scores(row)?.samples;
    if samples.is_empty() { Err(NO_SAMPLES) } else { Ok(samples) }
}

/// The largest independent set of this run: decoded, predicted, labelled or the baseline's.
pub(crate) fn best_known(row: &Row) -> u64 {
    let labelled = row.labels.iter().filter(|labels| labels.violations == 0).map(|labels| labels.ones);
    let decoded = row.scores.iter().flat_map(|scores| {
        let predicted = (scores.violations == 0).then_some(scores.predicted);
        [Some(scores.decoded), predicted, scores.score_degree, scores.swap, scores.ils]
            .into_iter()
            .flatten()
            .chain(scores.samples.iter().copied())
    });
    row.baseline.into_iter().chain(labelled).chain(decoded).max().unwrap_or(0)
}

/// What a report prints for yes or no: 1 or 0.
pub(crate) fn yes_or_no(answer: Result<bool, Reason>) -> Value {
    number(answer.map(f64::from))
}

fn some(count: u64, reason: Reason) -> Result<u64, Reason> {
    if count == 0 { Err(reason) } else { Ok(count) }
}
