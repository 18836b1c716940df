//! Whether and at which recursion step a graph is solved.

use crate::independent_set::metrics::*;
use calipers_core::exact::rounded_quotient;

use crate::independent_set::protocol::Preset;
use crate::independent_set::row::evidence::{NEVER_SOLVED, counts, first_solved, nodes, scores, yes_or_no};
use crate::independent_set::row::pooled::some;
use crate::independent_set::row::published;

const RECURSION: Line = Line { group: "recursion", ..PUBLISHED };

pub(crate) const STEPS_TO_SOLVE: Line = Line {
    id: "steps_to_solve",
    better: lower,
    range: STEP,
    measures: "The first recursion step at which every node is right and no edge is violated; over several \
               graphs the mean over the solved ones.",
    formula: "min { t >= 1 : tp + tn = N and viol = 0 at step t }. Steps are the rows given.",
    undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\"; \
                \"never solved\". Preset document: \"units have different numbers of steps\".",
    differs: "Never is undefined and not the step count; see solved_rate and steps_to_solve_median. Presets \
              document and trm-mis-head give the first step at which all units are solved, else the number \
              of steps.",
    reference: document!("TRM-Specific Metrics 2"),
    example: ("steps", "3.0"),
    number: Number::Chosen(|protocol| {
        if protocol.preset != Preset::Strict {
            return published::STEPS_TO_SOLVE;
        }
        Number::pooled(add_first_solved, |_, sums| number(steps_to_solve(sums)))
    }),
    ..RECURSION
};

pub(crate) const SOLVED: Line = Line {
    id: "solved",
    better: higher,
    range: YES_OR_NO,
    measures: "Whether the prediction equals the labels and violates no edge.",
    formula: "1 if tp + tn = N and viol = 0, else 0; over several graphs the share.",
    undefined: "\"no scores given\"; \"no labels given\"; \"graph has no nodes\".",
    differs: "Per graph; presets document and trm-mis-head ask it of the whole batch. Another optimal set \
              does not count; see solved_any_optimum.",
    reference: document!("TRM-Specific Metrics 3"),
    example: ("steps", "0.6666666666666666"),
    number: Number::Chosen(|protocol| by_preset(protocol, solved, published::solved)),
    ..RECURSION
};

pub(crate) const SOLVED_RATE: Line = Line {
    id: "solved_rate",
    group: "recursion",
    better: higher,
    range: YES_OR_NO,
    measures: "Whether a graph is solved at some step.",
    formula: "1 if tp + tn = N and viol = 0 at any step, else 0; over several graphs the share.",
    undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\".",
    differs: "The share that steps_to_solve averages over. solved looks at the last step alone.",
    example: ("steps", "0.6666666666666666"),
    number: Number::mean(|_, row| yes_or_no(first_solved(row).map(|step| step.is_some()))),
    ..PER_GRAPH
};

pub(crate) const STEPS_TO_SOLVE_MEDIAN: Line = Line {
    id: "steps_to_solve_median",
    group: "recursion",
    better: lower,
    range: STEP,
    measures: "The step by which half the graphs are solved.",
    formula: "Median over graphs of the first solved step, with never = infinity; the mean of the middle two \
              for an even number.",
    undefined: "\"no scores given\"; \"no steps given\"; \"no labels given\"; \"graph has no nodes\"; \
                \"never solved\".",
    differs: "Counts the graphs that are never solved, which steps_to_solve leaves out.",
    example: ("steps", "4.0"),
    interval: IntervalRule::OrderStatistic,
    number: Number::pooled(add_first_solved, |_, sums| number(median(sums))),
    ..STRICT
};

fn solved(_: &IndependentSet, row: &Row) -> Value {
    let right = counts(row).and_then(|counts| Ok(counts.tp + counts.tn == nodes(row)?));
    yes_or_no(right.and_then(|right| Ok(right && scores(row)?.violations == 0)))
}

/// Columns of [`add_first_solved`]: the first solved step, with never as the largest number; graphs
/// with steps; graphs that are solved, and the sum of their steps.
const FIRST: usize = 0;
const STEPPED: usize = 1;
const SOLVED_GRAPHS: usize = 2;
const SOLVED_STEPS: usize = 3;

fn add_first_solved(_: &IndependentSet, row: &Row, terms: &mut Terms<'_>) {
    let Ok(first) = first_solved(row) else { return };
    terms.value(FIRST, first.unwrap_or(u64::MAX));
    terms.whole(STEPPED, 1);
    if let Some(step) = first {
        terms.whole(SOLVED_GRAPHS, 1);
        terms.whole(SOLVED_STEPS, step);
    }
}

fn steps_to_solve(sums: &Sums<'_, Row>) -> Reading {
    let solved = |row: &Row| first_solved(row)?.ok_or(NEVER_SOLVED);
    let graphs = some(sums, sums.whole(SOLVED_GRAPHS), solved)?;
    Ok(rounded_quotient(sums.whole(SOLVED_STEPS), graphs))
}

/// The median; of an even number of graphs the mean of the middle two.
fn median(sums: &Sums<'_, Row>) -> Reading {
    let graphs = some(sums, sums.whole(STEPPED), first_solved)? as u64;
    let at = |place: u64| {
        let mut before = 0;
        let reached = sums.values(FIRST).iter().find(|(_, times)| {
            before += times;
            before > place
        });
        // A graph that is never solved comes last.
        reached.map(|(step, _)| *step).filter(|step| *step != u64::MAX).ok_or(NEVER_SOLVED)
    };
    let (low, high) = (at((graphs - 1) / 2), at(graphs / 2));
    Ok((low? + high?) as f64 / 2.0)
}
