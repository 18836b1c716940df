//! One graph of 10 million nodes and 50 million edges, end to end through the program.

use calipers_core::SplitMix64;

use crate::Outcome;
use crate::harness::line::{Goal, Line};
use crate::harness::{npy, program};

const NODES: u64 = 10_000_000;
const EDGES: usize = 50_000_000;

/// From an npy `edge_index` with both directions and npy logits to the report, on one thread.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let folder = tempfile::tempdir()?;
    write_graph(folder.path())?;
    let arguments = [
        "independent-set",
        "--graph",
        "edge_index.npy",
        "--scores",
        "logits.npy",
        "--scores-are",
        "logits",
        "--threads",
        "1",
        "--json",
        "-",
        "--quiet",
    ];
    let run = program::calipers(&arguments, folder.path())?;
    let gigabytes = run.peak as f64 / 1e9;
    report(Line {
        job: "10 M nodes, 50 M edges, end to end, seconds on the wall".into(),
        ours: format!("{:.1} s", run.seconds),
        against: "60 s".into(),
        ratio: run.seconds / 60.0,
        goal: Goal::AtMost(1.0),
    });
    report(Line {
        job: "the same, peak resident memory".into(),
        ours: format!("{gigabytes:.2} GB"),
        against: "1.5 GB".into(),
        ratio: gigabytes / 1.5,
        goal: Goal::AtMost(1.0),
    });
    Ok(())
}

fn write_graph(folder: &std::path::Path) -> Outcome {
    let mut random = SplitMix64::new(5);
    let (mut src, mut dst) = (Vec::with_capacity(2 * EDGES), Vec::with_capacity(2 * EDGES));
    while src.len() < 2 * EDGES {
        let (u, v) = (random.below(NODES) as i64, random.below(NODES) as i64);
        if u != v {
            src.extend([u, v]);
            dst.extend([v, u]);
        }
    }
    npy::save_pair(&folder.join("edge_index.npy"), &src, &dst)?;
    let logits: Vec<f32> = (0..NODES).map(|_| (8.0 * random.unit() - 4.0) as f32).collect();
    npy::save(&folder.join("logits.npy"), &logits)
}
