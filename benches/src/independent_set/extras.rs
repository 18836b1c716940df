//! What the baseline and the certificate cost beside the metrics themselves.

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};
use crate::independent_set::instances::{Pack, Recipe, er_size, satlib_size};
use crate::independent_set::scoring::{core_metrics, default_metrics, score};

/// Both sizes, 32 graphs each.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    const GRAPHS: usize = 32;
    for (kind, recipe) in [("SATLIB size", satlib_size as Recipe), ("ER size", er_size)] {
        let pack = Pack::of(recipe, GRAPHS, 2);
        let (all, core) = by_turns(
            5,
            || -> Outcome<f64> { Ok(seconds_per_call(|| score(&default_metrics(), &pack))) },
            || Ok(seconds_per_call(|| score(&core_metrics(), &pack))),
        )?;
        report(Line {
            job: format!("with baseline and certificate, {kind}, per graph; without"),
            ours: duration(all / GRAPHS as f64),
            against: duration(core / GRAPHS as f64),
            ratio: all / core,
            goal: Goal::AtMost(25.0),
        });
    }
    Ok(())
}
