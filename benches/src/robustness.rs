//! Estimation bias and edge differences of a large graph, exact, against NumPy in plain floats.

use std::path::Path;

use calipers_core::{Accumulator, Protocol, SplitMix64};
use calipers_metrics::robustness::Robustness;
use calipers_metrics::robustness::{Budget, Edge, Matrix, NumberSlice, Pair};

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};
use crate::harness::npy;
use crate::harness::peer::Peer;

/// The size of ogbn-arxiv with its 40 classes.
const NODES: usize = 169_343;
const COLUMNS: usize = 40;
const EDGES: usize = 1_166_243;

/// From arrays in memory to the report, checks included. The peer sums squares without exactness; it
/// gathers, takes norms and counts over an edge index with both directions, or over every edge once.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let arrays = Arrays::new();
    let folder = tempfile::tempdir()?;
    arrays.save(folder.path())?;
    let mut peer = Peer::start("robustness.py", folder.path())?;
    let jobs = [
        ("bias, float32", false, true, "squares", Goal::AtMost(4.0)),
        ("bias, float64", false, false, "squares", Goal::AtMost(4.0)),
        ("what edge differences add, float32", true, true, "both_ways", Goal::AtLeast(4.0)),
        ("what edge differences add, float64", true, false, "both_ways", Goal::AtLeast(4.0)),
        ("what edge differences add, float64", true, false, "once", Goal::None),
    ];
    for (job, edges, single, theirs, goal) in jobs {
        arrays.measure(edges, single)?;
        let bias = || seconds_per_call(|| arrays.measure(false, single));
        let whole = || seconds_per_call(|| arrays.measure(true, single));
        let ours = || Ok(if edges { whole() - bias() } else { bias() });
        let (ours, against) = by_turns(5, ours, || peer.seconds(theirs))?;
        let longer = matches!(goal, Goal::AtMost(_));
        report(Line {
            job: format!("{job}, 169,343 nodes; NumPy {}", theirs.replace('_', " ")),
            ours: duration(ours),
            against: duration(against),
            ratio: if longer { ours / against } else { against / ours },
            goal,
        });
    }
    Ok(())
}

/// A clean/attacked pair and its graph.
struct Arrays {
    clean: (Vec<f32>, Vec<f64>),
    attacked: (Vec<f32>, Vec<f64>),
    edges: Vec<Edge>,
}

impl Arrays {
    fn new() -> Self {
        let mut random = SplitMix64::new(1);
        // Sums of four draws look enough like the normal numbers of logits.
        let mut number = |scale: f64| scale * ((0..4).map(|_| random.unit()).sum::<f64>() - 2.0);
        let clean: Vec<f64> = (0..NODES * COLUMNS).map(|_| number(2.0)).collect();
        let attacked: Vec<f64> = clean.iter().map(|x| x + number(0.3)).collect();
        let singles = |values: &[f64]| values.iter().map(|&x| x as f32).collect();
        let mut random = SplitMix64::new(2);
        let mut edges: Vec<Edge> = (0..EDGES + EDGES / 100)
            .map(|_| [random.below(NODES as u64) as u32, random.below(NODES as u64) as u32])
            .filter(|[a, b]| a != b)
            .map(|[a, b]| (a.min(b), a.max(b)))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges.truncate(EDGES);
        Self { clean: (singles(&clean), clean), attacked: (singles(&attacked), attacked), edges }
    }

    fn save(&self, folder: &Path) -> Outcome {
        npy::save(&folder.join("clean.npy"), &self.clean.1)?;
        npy::save(&folder.join("attacked.npy"), &self.attacked.1)?;
        let ends =
            |end: fn(&Edge) -> u32| -> Vec<i64> { self.edges.iter().map(|edge| end(edge).into()).collect() };
        npy::save_pair(&folder.join("edges.npy"), &ends(|edge| edge.0), &ends(|edge| edge.1))
    }

    /// The number of metrics of the report.
    fn measure(&self, edges: bool, single: bool) -> calipers_core::Result<usize> {
        let pair = Pair {
            attacked_edges: edges.then_some(&self.edges),
            ..Pair::new(
                "bench",
                Budget::parse("0.05")?,
                matrix(&self.clean, single)?,
                matrix(&self.attacked, single)?,
            )
        };
        let mut state = Accumulator::new(Robustness::default());
        state.update(pair.name(), pair)?;
        let report = state.finish();
        assert_eq!(report.metrics.len(), Robustness::METRICS.len());
        Ok(report.metrics.len())
    }
}

fn matrix((singles, doubles): &(Vec<f32>, Vec<f64>), single: bool) -> calipers_core::Result<Matrix<'_>> {
    Matrix::new(NODES, COLUMNS, if single { NumberSlice::F32(singles) } else { NumberSlice::F64(doubles) })
}
