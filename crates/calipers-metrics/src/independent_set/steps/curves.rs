//! What happens over the recursion steps, and over more samples: curves.

use crate::independent_set::metrics::*;
use calipers_core::exact::exact_mean;

use crate::independent_set::row::StepRow;
use crate::independent_set::row::evidence::{NO_NODES, NO_UNITS, first_solved, labels, nodes, steps};

const BY_STEP: Line = Line { group: "recursion", better: higher, ..STRICT };

/// Mean accuracy at each step.
pub const ACCURACY_BY_STEP: Line = Line {
    id: "accuracy_by_step",
    range: SHARE,
    measures: "How accuracy develops over the recursion steps.",
    formula: "For t = 1 .. smallest number of steps: mean over labelled graphs of (tp + tn)/N at step t.",
    undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\".",
    example: ("steps", "[0.6, 0.7333333333333333, 0.6]"),
    number: Number::Rows(|_, rows| {
        curve(rows, |row| {
            let (steps, _) = (steps(row)?, labels(row)?);
            let nodes = nodes(row)?;
            steps.iter().map(|step| quotient(step.correct.unwrap_or(0), nodes, NO_NODES)).collect()
        })
    }),
    ..BY_STEP
};

/// Mean violated edges at each step.
pub const NUM_VIOLATIONS_BY_STEP: Line = Line {
    id: "num_violations_by_step",
    better: lower,
    range: UP_TO_EDGES,
    measures: "How the number of violated edges develops over the recursion steps.",
    formula: "For t = 1 .. smallest number of steps: mean over graphs of viol at step t.",
    undefined: "\"no scores given\"; \"no steps given\".",
    example: ("steps", "[1.0, 0.6666666666666666, 1.0]"),
    number: Number::Rows(|_, rows| curve(rows, |row| each(row, |step| step.violations))),
    ..BY_STEP
};

pub(crate) const POSTPROCESSED_SIZE_BY_STEP: Line = Line {
    id: "postprocessed_size_by_step",
    range: UP_TO_NODES,
    measures: "How the size of the decode develops over the recursion steps.",
    formula: "For t = 1 .. smallest number of steps: mean over graphs of K at step t.",
    undefined: "\"no scores given\"; \"no steps given\".",
    example: ("steps", "[3.0, 3.0, 3.0]"),
    number: Number::Rows(|_, rows| curve(rows, |row| each(row, |step| step.decoded))),
    ..BY_STEP
};

/// The share of graphs that are solved at each step or before.
pub const SOLVED_BY_STEP: Line = Line {
    id: "solved_by_step",
    range: SHARE,
    measures: "The share of graphs that have been solved so far.",
    formula: "For t = 1 .. smallest number of steps: graphs solved at step t or before / labelled graphs \
              with nodes.",
    undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\".",
    differs: "Never falls: a graph that was solved once stays counted.",
    example: ("steps", "[0.0, 0.3333333333333333, 0.3333333333333333]"),
    number: Number::Rows(|_, rows| {
        curve(rows, |row| {
            let solved = first_solved(row)?.unwrap_or(u64::MAX);
            Ok((1..).zip(steps(row)?).map(|(at, _)| f64::from(solved <= at)).collect())
        })
    }),
    ..BY_STEP
};

/// What curves are made of: a point of each graph and step.
fn each(row: &Row, count: fn(&StepRow) -> u64) -> Result<Vec<f64>, Reason> {
    Ok(steps(row)?.iter().map(|step| count(step) as f64).collect())
}

/// Point by point means over the graphs that have a curve, as far as the shortest one reaches.
pub(super) fn curve(rows: &Rows<'_, Row>, of: impl Fn(&Row) -> Result<Vec<f64>, Reason>) -> Value {
    let curves: Vec<_> = rows.iter().map(of).collect();
    let Some(shortest) = curves.iter().flatten().map(Vec::len).min() else {
        return Value::Undefined(curves.into_iter().find_map(Result::err).unwrap_or(NO_UNITS));
    };
    let point = |t: usize| exact_mean(curves.iter().flatten().map(|curve| curve[t])).map(Value::Number);
    Value::Series((0..shortest).filter_map(point).collect())
}
