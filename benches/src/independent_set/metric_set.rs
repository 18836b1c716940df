//! The whole metric set on packed batches, against NumPy or torch with a dict-of-sets decode.

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};
use crate::harness::peer::Peer;
use crate::independent_set::instances::{Pack, Recipe, er_size, satlib_size};
use crate::independent_set::scoring::{core_metrics, score};

/// As in the peers' scripts: how many graphs of a batch its post-processing is timed on.
const TIMED_GRAPHS: usize = 16;

/// Batches of 1 to 1024 graphs against NumPy.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let mut measure = |size: &Size, batch| measure(report, size, batch, "metric_set.py", "NumPy", Goal::None);
    for batch in [1, 16, 128, 1024] {
        measure(&SATLIB, batch)?;
    }
    for batch in [1, 16, 128] {
        measure(&ER, batch)?;
    }
    Ok(())
}

/// Batches of 16 and 128 graphs against torch, as training scripts do it. The goals are set at 128.
pub(crate) fn run_published(report: &mut dyn FnMut(Line)) -> Outcome {
    for size in [SATLIB, ER] {
        for (batch, goal) in [(16, Goal::None), (128, Goal::AtLeast(size.goal))] {
            measure(report, &size, batch, "published.py", "torch", goal)?;
        }
    }
    Ok(())
}

struct Size {
    name: &'static str,
    recipe: Recipe,
    goal: f64,
}

const SATLIB: Size = Size { name: "SATLIB size", recipe: satlib_size, goal: 300.0 };
const ER: Size = Size { name: "ER size", recipe: er_size, goal: 1000.0 };

fn measure(
    report: &mut dyn FnMut(Line),
    size: &Size,
    batch: usize,
    script: &str,
    library: &str,
    goal: Goal,
) -> Outcome {
    let pack = Pack::of(size.recipe, batch, 1);
    let folder = tempfile::tempdir()?;
    pack.save(folder.path())?;
    let mut peer = Peer::start(script, folder.path())?;
    let protocol = core_metrics();
    score(&protocol, &pack)?;
    let scale = batch as f64 / batch.min(TIMED_GRAPHS) as f64;
    let (ours, theirs) = by_turns(
        5,
        || Ok(seconds_per_call(|| score(&protocol, &pack))),
        || -> Outcome<f64> { Ok(peer.seconds("raw")? + scale * peer.seconds("post")?) },
    )?;
    let per_graph = |seconds: f64| duration(seconds / pack.graphs() as f64);
    report(Line {
        job: format!("whole metric set, {}, batch {batch}, per graph; {library} and dict of sets", size.name),
        ours: per_graph(ours),
        against: per_graph(theirs),
        ratio: theirs / ours,
        goal,
    });
    Ok(())
}
