//! Preset `strict` over recursion steps and samples: curves, and the median that counts the
//! graphs which are never solved.

use calipers_core::Rows;

use super::aggregate::{mean_of, present, quotient};
use super::evidence::{
    NEVER_SOLVED, NO_NODES, NO_STEPS, Reading, Reason, first_solved, labels, nodes, samples, scores,
};
use super::row::{Row, StepRow};

type Curve = Result<Vec<f64>, Reason>;

/// Median first solved step with never = infinity; the mean of the middle two of an even number.
pub(crate) fn steps_to_solve_median(rows: &Rows<'_, Row>) -> Reading {
    let mut at: Vec<u64> =
        present(rows, first_solved)?.into_iter().map(|step| step.unwrap_or(u64::MAX)).collect();
    at.sort_unstable();
    middle(at[(at.len() - 1) / 2], at[at.len() / 2])
}

/// The same from how often each first solved step occurs, in ascending order.
pub(crate) fn median_of_counts(steps: &[(u64, u32)]) -> Reading {
    let graphs: u64 = steps.iter().map(|(_, count)| u64::from(*count)).sum();
    let at = |place: u64| {
        let mut before = 0;
        let reached = steps.iter().find(|(_, count)| {
            before += u64::from(*count);
            before > place
        });
        reached.map(|(step, _)| *step).ok_or(NO_STEPS)
    };
    middle(at(graphs.saturating_sub(1) / 2)?, at(graphs / 2)?)
}

fn middle(low: u64, high: u64) -> Reading {
    if high == u64::MAX { Err(NEVER_SOLVED) } else { Ok((low + high) as f64 / 2.0) }
}

pub(crate) fn accuracy_by_step(rows: &Rows<'_, Row>) -> Curve {
    let graphs = present(rows, |row| {
        let steps = steps(row)?;
        labels(row)?;
        Ok((steps, nodes(row)?))
    })?;
    let shares = graphs
        .iter()
        .map(|(steps, nodes)| {
            steps.iter().map(|step| quotient(step.correct.unwrap_or(0), *nodes, NO_NODES)).collect()
        })
        .collect::<Result<Vec<Vec<f64>>, _>>()?;
    Ok(mean_curve(&shares))
}

pub(crate) fn num_violations_by_step(rows: &Rows<'_, Row>) -> Curve {
    let graphs = present(rows, |row| Ok(each(steps(row)?, |step| step.violations)))?;
    Ok(mean_curve(&graphs))
}

pub(crate) fn postprocessed_size_by_step(rows: &Rows<'_, Row>) -> Curve {
    let graphs = present(rows, |row| Ok(each(steps(row)?, |step| step.decoded)))?;
    Ok(mean_curve(&graphs))
}

/// Share of the graphs that are solved at step t or before.
pub(crate) fn solved_by_step(rows: &Rows<'_, Row>) -> Curve {
    let graphs = present(rows, |row| {
        let solved = first_solved(row)?.unwrap_or(u64::MAX);
        Ok((1..).zip(steps(row)?).map(|(at, _)| f64::from(solved <= at)).collect::<Vec<_>>())
    })?;
    Ok(mean_curve(&graphs))
}

/// Mean over the graphs of the best of the first k samples.
pub(crate) fn best_of_curve(rows: &Rows<'_, Row>) -> Curve {
    let graphs = present(rows, |row| {
        let best = samples(row)?.iter().scan(0, |best, &size| {
            *best = size.max(*best);
            Some(*best as f64)
        });
        Ok(best.collect::<Vec<_>>())
    })?;
    Ok(mean_curve(&graphs))
}

fn steps(row: &Row) -> Result<&[StepRow], Reason> {
    let steps = &scores(row)?.steps;
    if steps.is_empty() { Err(NO_STEPS) } else { Ok(steps) }
}

fn each(steps: &[StepRow], count: fn(&StepRow) -> u64) -> Vec<f64> {
    steps.iter().map(|step| count(step) as f64).collect()
}

/// Point by point means, as far as the shortest curve reaches.
fn mean_curve(curves: &[Vec<f64>]) -> Vec<f64> {
    let shortest = curves.iter().map(Vec::len).min().unwrap_or(0);
    (0..shortest).map(|t| mean_of(curves.iter().map(|curve| curve[t]))).collect()
}
