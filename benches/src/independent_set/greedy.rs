//! The greedy decode alone, against a numba loop over compressed rows and against dicts of sets.

use calipers_metrics::independent_set::graph::Graph;
use calipers_metrics::independent_set::search::greedy;

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};
use crate::harness::peer::Peer;
use crate::independent_set::instances::{Pack, Recipe, er_size, satlib_size};

/// Many graphs, so that no branch predictor learns one by heart.
const GRAPHS: usize = 64;

/// Both sizes; rows ready, rows built on the way, and the dict of sets.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    for (kind, recipe) in [("SATLIB size", satlib_size as Recipe), ("ER size", er_size)] {
        let pack = Pack::of(recipe, GRAPHS, 3);
        let folder = tempfile::tempdir()?;
        pack.save(folder.path())?;
        let mut peer = Peer::start("greedy.py", folder.path())?;
        let built: Vec<(Graph, Vec<f64>)> = pack.units().map(Pack::built).collect::<Result<_, _>>()?;
        let decode_built =
            || -> usize { built.iter().map(|(graph, logits)| greedy(graph, logits).len()).sum() };
        let build_and_decode = || -> usize {
            let graphs = pack.units().filter_map(|unit| Pack::built(unit).ok());
            graphs.map(|(graph, logits)| greedy(&graph, &logits).len()).sum()
        };
        let mut compare = |job: &str, ours: &dyn Fn() -> f64, question: &str, goal: Goal| -> Outcome {
            let (ours, theirs) = by_turns(7, || Ok(ours()), || peer.seconds(question))?;
            report(Line {
                job: format!("greedy decode, {kind}, {job}"),
                ours: duration(ours / GRAPHS as f64),
                against: duration(theirs / GRAPHS as f64),
                ratio: theirs / ours,
                goal,
            });
            Ok(())
        };
        let ready = || seconds_per_call(decode_built);
        let whole = || seconds_per_call(build_and_decode);
        compare("rows ready; numba", &ready, "ready", Goal::AtLeast(1.0))?;
        compare("with building rows; numba", &whole, "built", Goal::None)?;
        compare("with building rows; dict of sets", &whole, "sets", Goal::AtLeast(20.0))?;
    }
    Ok(())
}
