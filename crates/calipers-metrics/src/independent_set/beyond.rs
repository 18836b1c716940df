//! Numbers of one graph that the document does not have: checks of the prediction, the labels and
//! the decode that need no luck with one of many optima.

use super::aggregate::quotient;
use super::evidence::{
    NO_BASELINE, NO_CERTIFICATE, NO_NODES, NONE_PREDICTED, Reading, Reason, ZERO_REFERENCE, best_known,
    first_solved, labels, loss_sums, nodes, reference, samples, scores,
};
use super::protocol::IndependentSet;
use super::row::Row;

pub(crate) fn loss_bce_unweighted(_: &IndependentSet, row: &Row) -> Reading {
    let (positive, negative) = loss_sums(row)?;
    Ok((positive + negative) / nodes(row)? as f64)
}

pub(crate) fn optimal_size(protocol: &IndependentSet, row: &Row) -> Reading {
    Ok(reference(protocol, row)? as f64)
}

pub(crate) fn is_independent(_: &IndependentSet, row: &Row) -> Reading {
    Ok(f64::from(scores(row)?.violations == 0))
}

pub(crate) fn is_maximal(_: &IndependentSet, row: &Row) -> Reading {
    Ok(f64::from(scores(row)?.maximal))
}

pub(crate) fn conflict_rate(_: &IndependentSet, row: &Row) -> Reading {
    let scores = scores(row)?;
    quotient(scores.conflicted, scores.predicted, NONE_PREDICTED)
}

pub(crate) fn solved_any_optimum(protocol: &IndependentSet, row: &Row) -> Reading {
    let scores = scores(row)?;
    let reference = reference(protocol, row)?;
    Ok(f64::from(scores.violations == 0 && scores.predicted >= reference))
}

pub(crate) fn optimal_rate(protocol: &IndependentSet, row: &Row) -> Reading {
    let decoded = scores(row)?.decoded;
    Ok(f64::from(decoded >= reference(protocol, row)?))
}

pub(crate) fn label_is_independent(_: &IndependentSet, row: &Row) -> Reading {
    Ok(f64::from(labels(row)?.violations == 0))
}

pub(crate) fn label_is_maximal(_: &IndependentSet, row: &Row) -> Reading {
    Ok(f64::from(labels(row)?.maximal))
}

pub(crate) fn label_beaten(_: &IndependentSet, row: &Row) -> Reading {
    Ok(f64::from(best_known(row) > labels(row)?.ones))
}

pub(crate) fn label_certified_optimal(_: &IndependentSet, row: &Row) -> Reading {
    let bound = bound(row)?;
    let labels = labels(row)?;
    Ok(f64::from(labels.violations == 0 && labels.ones == bound))
}

pub(crate) fn upper_bound(_: &IndependentSet, row: &Row) -> Reading {
    Ok(bound(row)? as f64)
}

pub(crate) fn certified_gap(_: &IndependentSet, row: &Row) -> Reading {
    let decoded = i128::from(scores(row)?.decoded);
    Ok((i128::from(bound(row)?) - decoded) as f64)
}

pub(crate) fn certified_ratio(_: &IndependentSet, row: &Row) -> Reading {
    let decoded = scores(row)?.decoded;
    quotient(decoded, bound(row)?, NO_NODES)
}

pub(crate) fn certified_optimal(_: &IndependentSet, row: &Row) -> Reading {
    let decoded = scores(row)?.decoded;
    Ok(f64::from(decoded == bound(row)?))
}

pub(crate) fn baseline_size(_: &IndependentSet, row: &Row) -> Reading {
    Ok(baseline(row)? as f64)
}

pub(crate) fn baseline_approx_ratio(protocol: &IndependentSet, row: &Row) -> Reading {
    let baseline = baseline(row)?;
    quotient(baseline, reference(protocol, row)?, ZERO_REFERENCE)
}

pub(crate) fn model_lift(protocol: &IndependentSet, row: &Row) -> Reading {
    let decoded = i128::from(scores(row)?.decoded);
    let lift = decoded - i128::from(baseline(row)?);
    quotient(lift, reference(protocol, row)?, ZERO_REFERENCE)
}

pub(crate) fn score_degree_size(_: &IndependentSet, row: &Row) -> Reading {
    asked_for(scores(row)?.score_degree, "not requested: --decoders score-degree")
}

pub(crate) fn swap_size(_: &IndependentSet, row: &Row) -> Reading {
    asked_for(scores(row)?.swap, "not requested: --decoders swap")
}

pub(crate) fn ils_size(_: &IndependentSet, row: &Row) -> Reading {
    asked_for(scores(row)?.ils, "not requested: --decoders ils")
}

pub(crate) fn best_of_size(_: &IndependentSet, row: &Row) -> Reading {
    Ok(best_sample(row)? as f64)
}

pub(crate) fn best_of_approx_ratio(protocol: &IndependentSet, row: &Row) -> Reading {
    let best = best_sample(row)?;
    quotient(best, reference(protocol, row)?, ZERO_REFERENCE)
}

pub(crate) fn solved_rate(_: &IndependentSet, row: &Row) -> Reading {
    Ok(f64::from(first_solved(row)?.is_some()))
}

fn bound(row: &Row) -> Result<u64, Reason> {
    row.upper_bound.ok_or(NO_CERTIFICATE)
}

fn baseline(row: &Row) -> Result<u64, Reason> {
    row.baseline.ok_or(NO_BASELINE)
}

fn asked_for(size: Option<u64>, otherwise: Reason) -> Reading {
    size.map(|size| size as f64).ok_or(otherwise)
}

fn best_sample(row: &Row) -> Result<u64, Reason> {
    Ok(samples(row)?.iter().copied().max().unwrap_or(0))
}
