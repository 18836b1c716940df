//! The pass over the edges: what measuring costs per stored entry when edges outnumber nodes.

use calipers_core::{Protocol, SplitMix64};
use calipers_metrics::independent_set::Kind;
use calipers_metrics::independent_set::unit::{Scores, Unit};

use crate::Outcome;
use crate::harness::clock::seconds_per_call;
use crate::harness::line::{Goal, Line, duration};
use crate::independent_set::instances::Pack;
use crate::independent_set::scoring::core_metrics;

/// A graph of 2000 nodes and about a million edges with its rows ready, so that decoding and the
/// sums over nodes hardly count.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let pack = Pack::of(dense, 1, 6);
    let Some(first) = pack.units().next() else { return Ok(()) };
    let (graph, logits) = Pack::built(first)?;
    let protocol = core_metrics();
    let unit = || {
        let scores = Scores::new(Kind::Logits, None, &logits, graph.nodes())?;
        protocol.measure("dense", Unit::new(&graph, Some(scores), Some(&pack.labels), None)?)
    };
    unit()?;
    let seconds = (0..7).map(|_| seconds_per_call(unit)).fold(f64::INFINITY, f64::min);
    let per_entry = seconds / pack.src.len() as f64;
    report(Line {
        job: "measuring a dense graph, rows ready, per stored entry; 2 ns".into(),
        ours: duration(per_entry),
        against: duration(2e-9),
        ratio: per_entry / 2e-9,
        goal: Goal::AtMost(1.0),
    });
    Ok(())
}

fn dense(random: &mut SplitMix64) -> (u32, Vec<(u32, u32)>) {
    let pairs = (0..2000u32).flat_map(|v| (0..v).map(move |u| (u, v)));
    (2000, pairs.filter(|_| random.below(2) == 1).collect())
}
