//! Presets `document` and `trm-mis-head`: the published code with its epsilons and constants.
//!
//! All graphs are one batch and stored entries count as they are. Expressions are evaluated in f64
//! as the code writes them, left to right; sums over graphs are exact and rounded once.

use calipers_core::exact::rounded_quotient;
use calipers_core::{Number, Sums, Terms, Value};

use super::evidence::{A_SET, INFINITE, NO_LABELS, NO_NODES, NO_SCORES, NO_STEPS, NO_UNITS, STEPS_DIFFER};
use crate::independent_set::protocol::{IndependentSet, PosWeight, Preset};
use crate::independent_set::row::Row;
use crate::reading::{Reading, Reason};

const EPSILON: f64 = 1e-8;

/// Columns: graphs that lack something. One of them, and the batch lacks it.
const UNSCORED: usize = 0;
const SETS: usize = 1;
const UNLABELLED: usize = 2;
const INFINITE_LOSSES: usize = 3;
/// The reason in each of these columns.
const LACKS: [Reason; 4] = [NO_SCORES, A_SET, NO_LABELS, INFINITE];

/// Columns of [`add_graph`]: sums over all graphs.
const NODES: usize = 4;
const ENTRIES: usize = 5;
const ONES: usize = 6;
const PREDICTED: usize = 7;
const VIOLATIONS: usize = 8;
const TP: usize = 9;
const FP: usize = 10;
const FN: usize = 11;
const TN: usize = 12;
const EDGE: usize = 13;
const POSITIVE: usize = 14;
const NEGATIVE: usize = 15;
const CONFIDENCE: usize = 16;
/// Sums over the graphs with a label 1.
const DECODED: usize = 17;
const GAPS: usize = 18;
const RAW_RATIOS: usize = 19;
const GAP_RATIOS: usize = 20;
const RATIOS: usize = 21;

fn add_graph(protocol: &IndependentSet, row: &Row, terms: &mut Terms<'_>) {
    terms.whole(NODES, row.nodes);
    terms.whole(ENTRIES, row.entries);
    let ones = row.labels.as_ref().map_or(0, |labels| labels.ones);
    terms.whole(UNLABELLED, i128::from(row.labels.is_none()));
    terms.whole(ONES, ones);
    let Some(scores) = &row.scores else { return terms.whole(UNSCORED, 1) };
    terms.whole(PREDICTED, scores.predicted);
    terms.whole(VIOLATIONS, scores.stored_violations);
    if let Some(counts) = scores.counts {
        terms.whole(TP, counts.tp);
        terms.whole(FP, counts.fp);
        terms.whole(FN, counts.fn_);
        terms.whole(TN, counts.tn);
    }
    terms.whole(SETS, i128::from(scores.sums.is_none()));
    if let Some(sums) = &scores.sums {
        terms.number(EDGE, sums.edge_stored);
        if let Some(labelled) = &sums.labelled {
            terms.number(POSITIVE, labelled.positive.unwrap_or(0.0));
            terms.number(NEGATIVE, labelled.negative.unwrap_or(0.0));
            terms.number(CONFIDENCE, labelled.confidence);
            let infinite = labelled.positive.is_none() || labelled.negative.is_none();
            terms.whole(INFINITE_LOSSES, i128::from(infinite));
        }
    }
    if ones > 0 {
        let gap = i128::from(ones) - i128::from(scores.decoded);
        let epsilon = if protocol.preset == Preset::TrmMisHead { 0.0 } else { EPSILON };
        terms.whole(DECODED, scores.decoded);
        terms.whole(GAPS, gap);
        terms.number(RAW_RATIOS, rounded_quotient(scores.predicted.into(), ones.into()));
        terms.number(GAP_RATIOS, gap as f64 / (ones as f64 + epsilon));
        terms.number(RATIOS, scores.decoded as f64 / (ones as f64 + epsilon));
    }
}

type Batch<'a> = Sums<'a, Row>;
type Protocol = IndependentSet;

/// A number of the batch that all graphs make.
pub(crate) const fn batch(read: fn(&Protocol, &Batch<'_>) -> Value) -> Number<Protocol> {
    Number::pooled(add_graph, read)
}

const SCORES: &[usize] = &[UNSCORED];
const LABELS: &[usize] = &[UNLABELLED];
const COUNTS: &[usize] = &[UNSCORED, UNLABELLED];
const SCORE_SUMS: &[usize] = &[UNSCORED, SETS];
const LABEL_SUMS: &[usize] = &[UNSCORED, SETS, UNLABELLED];

/// What is read where no graph lacks any of these.
fn given<T>(
    batch: &Batch<'_>,
    lacks: &[usize],
    read: impl FnOnce() -> Result<T, Reason>,
) -> Result<T, Reason> {
    if batch.count() == 0 {
        return Err(NO_UNITS);
    }
    match lacks.iter().find(|column| batch.whole(**column) > 0) {
        Some(column) => Err(LACKS[*column].clone()),
        None => read(),
    }
}

fn number(batch: &Batch<'_>, lacks: &[usize], read: impl FnOnce() -> f64) -> Value {
    crate::reading::number(given(batch, lacks, || Ok(read())))
}

fn count(batch: &Batch<'_>, lacks: &[usize], read: impl FnOnce() -> Result<i128, Reason>) -> Value {
    given(batch, lacks, read).map_or_else(Value::Undefined, Value::Count)
}

fn nodes(batch: &Batch<'_>) -> Result<i128, Reason> {
    Some(batch.whole(NODES)).filter(|nodes| *nodes > 0).ok_or(NO_NODES)
}

pub(crate) fn loss_bce(protocol: &Protocol, batch: &Batch<'_>) -> Value {
    crate::reading::number(bce(protocol, batch))
}

pub(crate) fn loss_feasibility(_: &Protocol, batch: &Batch<'_>) -> Value {
    crate::reading::number(edge_loss(batch))
}

pub(crate) fn loss_total(protocol: &Protocol, batch: &Batch<'_>) -> Value {
    let total =
        bce(protocol, batch).and_then(|bce| Ok(bce + protocol.feasibility_weight * edge_loss(batch)?));
    crate::reading::number(total)
}

fn bce(protocol: &Protocol, batch: &Batch<'_>) -> Reading {
    let nodes = given(batch, LABEL_SUMS, || nodes(batch))?;
    given(batch, &[INFINITE_LOSSES], || {
        let weight = match protocol.pos_weight {
            PosWeight::Fixed(weight) => weight,
            PosWeight::Rule(_) => {
                let ones = batch.whole(ONES);
                rounded_quotient((nodes - ones).max(1), ones.max(1))
            }
        };
        Ok((batch.number(NEGATIVE) + weight * batch.number(POSITIVE)) / nodes as f64)
    })
}

fn edge_loss(batch: &Batch<'_>) -> Reading {
    given(batch, SCORE_SUMS, || match batch.whole(ENTRIES) {
        0 => Ok(0.0),
        entries => Ok(batch.number(EDGE) / entries as f64),
    })
}

pub(crate) fn feasibility(_: &Protocol, batch: &Batch<'_>) -> Value {
    number(batch, SCORES, || match batch.whole(ENTRIES) {
        entries if entries > 0 && batch.whole(PREDICTED) > 0 => {
            1.0 - rounded_quotient(batch.whole(VIOLATIONS), entries).min(1.0)
        }
        _ => 1.0,
    })
}

pub(crate) fn num_violations(_: &Protocol, batch: &Batch<'_>) -> Value {
    count(batch, SCORES, || Ok((batch.whole(VIOLATIONS) + 1) / 2))
}

pub(crate) fn accuracy(_: &Protocol, batch: &Batch<'_>) -> Value {
    let right = batch.whole(TP) + batch.whole(TN);
    crate::reading::number(given(batch, COUNTS, || Ok(rounded_quotient(right, nodes(batch)?))))
}

pub(crate) fn precision(protocol: &Protocol, batch: &Batch<'_>) -> Value {
    number(batch, COUNTS, || share_of_hits(protocol, batch, FP))
}

pub(crate) fn recall(protocol: &Protocol, batch: &Batch<'_>) -> Value {
    number(batch, COUNTS, || share_of_hits(protocol, batch, FN))
}

pub(crate) fn f1(protocol: &Protocol, batch: &Batch<'_>) -> Value {
    number(batch, COUNTS, || {
        if protocol.preset == Preset::TrmMisHead {
            let twice = 2 * batch.whole(TP);
            return guarded(protocol, twice, twice + batch.whole(FP) + batch.whole(FN));
        }
        let (precision, recall) = (share_of_hits(protocol, batch, FP), share_of_hits(protocol, batch, FN));
        2.0 * (precision * recall) / (precision + recall + EPSILON)
    })
}

/// tp / (tp + misses).
fn share_of_hits(protocol: &Protocol, batch: &Batch<'_>, misses: usize) -> f64 {
    guarded(protocol, batch.whole(TP), batch.whole(TP) + batch.whole(misses))
}

/// The quotient with the preset's guard against a divisor of 0.
fn guarded(protocol: &Protocol, numerator: i128, divisor: i128) -> f64 {
    let divisor = divisor as f64;
    let head = protocol.preset == Preset::TrmMisHead;
    numerator as f64 / if head { divisor.max(EPSILON) } else { divisor + EPSILON }
}

pub(crate) fn num_pred_1s(_: &Protocol, batch: &Batch<'_>) -> Value {
    count(batch, SCORES, || Ok(batch.whole(PREDICTED)))
}

pub(crate) fn num_true_1s(_: &Protocol, batch: &Batch<'_>) -> Value {
    count(batch, LABELS, || Ok(batch.whole(ONES)))
}

pub(crate) fn set_size_ratio(_: &Protocol, batch: &Batch<'_>) -> Value {
    number(batch, COUNTS, || batch.whole(PREDICTED) as f64 / (batch.whole(ONES) as f64 + EPSILON))
}

pub(crate) fn approx_ratio_raw(protocol: &Protocol, batch: &Batch<'_>) -> Value {
    if protocol.preset == Preset::TrmMisHead {
        over_graphs(batch, batch.number(RAW_RATIOS))
    } else {
        set_size_ratio(protocol, batch)
    }
}

pub(crate) fn postprocessed_size(_: &Protocol, batch: &Batch<'_>) -> Value {
    over_graphs(batch, batch.whole(DECODED) as f64)
}

pub(crate) fn gap(_: &Protocol, batch: &Batch<'_>) -> Value {
    over_graphs(batch, batch.whole(GAPS) as f64)
}

pub(crate) fn gap_ratio(_: &Protocol, batch: &Batch<'_>) -> Value {
    over_graphs(batch, batch.number(GAP_RATIOS))
}

pub(crate) fn approx_ratio_postprocessed(_: &Protocol, batch: &Batch<'_>) -> Value {
    over_graphs(batch, batch.number(RATIOS))
}

/// A sum over the graphs with a label 1, divided by the number of all graphs.
fn over_graphs(batch: &Batch<'_>, sum: f64) -> Value {
    number(batch, COUNTS, || sum / batch.count() as f64)
}

pub(crate) fn q_hat(_: &Protocol, batch: &Batch<'_>) -> Value {
    let confidence = || Ok(batch.number(CONFIDENCE) / nodes(batch)? as f64);
    crate::reading::number(given(batch, LABEL_SUMS, confidence))
}

pub(crate) fn solved(_: &Protocol, batch: &Batch<'_>) -> Value {
    count(batch, COUNTS, || {
        let right = batch.whole(TP) + batch.whole(TN) == nodes(batch)?;
        Ok(i128::from(right && batch.whole(VIOLATIONS) == 0))
    })
}

/// The first step at which every graph is solved.
pub(crate) const STEPS_TO_SOLVE: Number<Protocol> =
    Number::pooled(add_steps, |_, batch| count(batch, SCORES, || first_solved(batch)));

/// Columns of [`add_steps`], behind those of what graphs lack: how many steps a graph has, and from
/// there on, for each step, the graphs that are solved at it.
const STEPS: usize = 4;
const SOLVED: usize = 5;

fn add_steps(_: &Protocol, row: &Row, terms: &mut Terms<'_>) {
    terms.whole(UNLABELLED, i128::from(row.labels.is_none()));
    let Some(scores) = &row.scores else { return terms.whole(UNSCORED, 1) };
    terms.value(STEPS, scores.steps.len() as u64);
    for (t, step) in scores.steps.iter().enumerate() {
        terms.whole(SOLVED + t, i128::from(step.solved(row.nodes)));
    }
}

fn first_solved(batch: &Batch<'_>) -> Result<i128, Reason> {
    let mut lengths = batch.values(STEPS).iter().filter(|(_, graphs)| *graphs > 0).map(|(steps, _)| *steps);
    // Lengths ascend: a graph without steps comes first.
    let steps = lengths.next().filter(|steps| *steps > 0).ok_or(NO_STEPS)?;
    given(batch, LABELS, || {
        if lengths.next().is_some() {
            return Err(STEPS_DIFFER);
        }
        let all = batch.count() as i128;
        let first = (0..steps as usize).find(|t| batch.whole(SOLVED + t) == all);
        Ok(first.map_or(steps.into(), |t| t as i128 + 1))
    })
}
