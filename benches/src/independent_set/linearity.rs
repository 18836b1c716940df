//! Time per stored entry while the graph grows a hundredfold.

use calipers_metrics::independent_set::IndependentSet;

use crate::Outcome;
use crate::harness::clock::seconds_per_call;
use crate::harness::line::{Goal, Line, duration};
use crate::independent_set::instances::{Order, Pack};
use crate::independent_set::scoring::{core_metrics, default_metrics, score};

/// Sparse graphs of 10⁵, 10⁶ and 10⁷ entries: sorted entries without and with baseline and
/// certificate, and entries in random order.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let goal = Goal::AtMost(2.0);
    grow(report, "metrics, sorted entries", &core_metrics(), Order::Sorted, goal)?;
    grow(report, "all defaults, sorted entries", &default_metrics(), Order::Sorted, goal)?;
    grow(report, "metrics, random order", &core_metrics(), Order::Random, Goal::None)
}

fn grow(
    report: &mut dyn FnMut(Line),
    what: &str,
    protocol: &IndependentSet,
    order: Order,
    goal: Goal,
) -> Outcome {
    let mut smallest = None;
    for (entries, name, goal) in
        [(100_000, "10⁵", Goal::None), (1_000_000, "10⁶", Goal::None), (10_000_000, "10⁷", goal)]
    {
        let pack = Pack::sparse(entries, order, 4);
        score(protocol, &pack)?;
        let seconds =
            (0..3).map(|_| seconds_per_call(|| score(protocol, &pack))).fold(f64::INFINITY, f64::min);
        let per_entry = seconds / pack.src.len() as f64;
        let base = *smallest.get_or_insert(per_entry);
        report(Line {
            job: format!("{what}, sparse graph of {name} entries, per entry; 10⁵ entries"),
            ours: duration(per_entry),
            against: duration(base),
            ratio: per_entry / base,
            goal,
        });
    }
    Ok(())
}
