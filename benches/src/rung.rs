//! The RUNG model on a graph of Cora's size: forward, training and attack against NumPy and SciPy.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use calipers::rung::model::penalty::SCAD_A;
use calipers::rung::model::{
    Attack, Features, Graph, Kind, Penalty, Rung, ScadScale, Settings, Training, Unwatched, Weights, attack,
    train,
};
use calipers_core::SplitMix64;

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};
use crate::harness::npy;
use crate::harness::peer::Peer;

/// The largest component of Cora.
const NODES: usize = 2485;
const EDGES: usize = 5069;
const WORDS: usize = 1433;
const WORDS_PER_NODE: usize = 20;
const CLASSES: usize = 7;

/// How many epochs are timed together.
const EPOCHS: u32 = 10;

/// Both sides on one thread, by CPU time; but the goal of the attack speaks of two cores against one of NumPy,
/// so its steps are also taken on two threads, by the clock on the wall.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let town = Town::new()?;
    let folder = tempfile::tempdir()?;
    let pruning = town.model(Kind::Mcp, Weights::Legacy)?;
    town.save(&pruning, folder.path())?;
    let mut peer = Peer::start("rung.py", folder.path())?;
    let forward = || Ok(seconds_per_call(|| pruning.forward(&town.graph, &town.features, 1)));
    for (theirs, goal) in [("forward_dense", 100.0), ("forward_csr", 1.0)] {
        let (ours, against) = by_turns(5, forward, || peer.seconds(theirs))?;
        let job = format!("RUNG forward, 10 steps; {}", theirs.replace('_', " "));
        report(faster(job, ours, against, Goal::AtLeast(goal)));
    }
    let epoch = || Ok(seconds_per_call(|| town.train(&pruning, EPOCHS)) / f64::from(EPOCHS));
    let (ours, against) = by_turns(3, epoch, || peer.seconds("epoch"))?;
    report(faster("RUNG training, one epoch; SciPy CSR".into(), ours, against, Goal::None));
    let likely = town.model(Kind::L1, Weights::Exact)?;
    for (model, name) in [(&pruning, "mcp legacy"), (&likely, "l1 exact")] {
        // Steps differ, as more or fewer pairs are probable: a few early ones, and many.
        for (threads, steps, goal) in
            [(1, 4, Goal::None), (2, 4, Goal::AtLeast(15.0)), (2, 50, Goal::AtLeast(15.0))]
        {
            let step = || -> Outcome<f64> {
                let seconds = town.attack(model, 2 + steps, threads)? - town.attack(model, 2, threads)?;
                Ok(seconds / f64::from(steps))
            };
            let (ours, against) = by_turns(3, step, || peer.seconds("attack_step"))?;
            let clock = if threads == 1 { "one thread" } else { "two threads, wall time" };
            let last = 2 + steps;
            let job = format!(
                "RUNG attack, a step over 3.1 M pairs, mean of 3 to {last}, {name}, {clock}; NumPy dense"
            );
            report(faster(job, ours, against, goal));
        }
    }
    Ok(())
}

fn faster(job: String, ours: f64, against: f64, goal: Goal) -> Line {
    Line { job, ours: duration(ours), against: duration(against), ratio: against / ours, goal }
}

/// A graph of communities, made from a seed.
struct Town {
    graph: Graph,
    features: Features,
    starts: Vec<usize>,
    words: Vec<u32>,
    labels: Vec<i64>,
}

impl Town {
    fn new() -> Outcome<Self> {
        let mut random = SplitMix64::new(3);
        let mut below = |count: usize| random.below(count as u64) as usize;
        let labels: Vec<i64> = (0..NODES).map(|node| (node % CLASSES) as i64).collect();
        let mut edges = BTreeSet::new();
        while edges.len() < EDGES {
            let node = below(NODES);
            // Four edges of five stay among equal labels.
            let other =
                if below(5) > 0 { (node + CLASSES * below(NODES / CLASSES)) % NODES } else { below(NODES) };
            if node != other {
                edges.insert((node.min(other) as u32, node.max(other) as u32));
            }
        }
        let (mut starts, mut words) = (vec![0], Vec::new());
        for node in 0..NODES {
            let word = |k: usize, at: usize| {
                if k.is_multiple_of(3) { at } else { at / CLASSES * CLASSES + node % CLASSES }
            };
            let row: BTreeSet<usize> =
                (0..WORDS_PER_NODE).map(|k| word(k, below(WORDS)).min(WORDS - 1)).collect();
            words.extend(row.into_iter().map(|word| word as u32));
            starts.push(words.len());
        }
        let ones = vec![1.0; words.len()];
        let features = Features::sparse(NODES, WORDS, starts.clone(), words.clone(), ones)?;
        let graph = Graph::new(NODES, &edges.into_iter().collect::<Vec<_>>())?;
        Ok(Self { graph, features, starts, words, labels })
    }

    fn model(&self, kind: Kind, weights: Weights) -> Outcome<Rung> {
        let gamma = kind.takes_gamma().then_some(6.0);
        let penalty = Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::One)?;
        Ok(self.trained(penalty, 30)?)
    }

    fn train(&self, like: &Rung, epochs: u32) -> calipers_core::Result<Rung> {
        self.trained(like.settings().penalty, epochs)
    }

    fn trained(&self, penalty: Penalty, epochs: u32) -> calipers_core::Result<Rung> {
        let seen: Vec<usize> = (0..NODES / 10).collect();
        let training = Training { epochs, ..Training::new(penalty) };
        train(&self.graph, &self.features, &self.labels, CLASSES, &seen, &[], &training, 1, &Unwatched)
    }

    /// Seconds of an attack of so many steps: of the CPU on one thread, else by the clock on the wall.
    fn attack(&self, model: &Rung, steps: u32, threads: usize) -> calipers_core::Result<f64> {
        let targets: Vec<usize> = (NODES / 5..NODES).collect();
        let how = Attack { steps, samples: 1, ..Attack::default() };
        let run = || {
            let (graph, features) = (&self.graph, &self.features);
            attack(model, graph, features, &self.labels, &targets, EDGES / 5, &how, threads, &Unwatched)
        };
        run()?;
        if threads == 1 {
            return Ok(seconds_per_call(run));
        }
        let start = Instant::now();
        run()?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// What the peer works on: the graph, the features, and the scores before propagation.
    fn save(&self, model: &Rung, folder: &Path) -> Outcome {
        let edges: Vec<(u32, u32)> = self.graph.pairs().collect();
        let ends =
            |end: fn(&(u32, u32)) -> u32| -> Vec<i64> { edges.iter().map(|edge| end(edge).into()).collect() };
        npy::save_pair(&folder.join("edges.npy"), &ends(|edge| edge.0), &ends(|edge| edge.1))?;
        let whole = |values: &[usize]| -> Vec<i64> { values.iter().map(|&value| value as i64).collect() };
        npy::save(&folder.join("starts.npy"), &whole(&self.starts))?;
        let words: Vec<i64> = self.words.iter().map(|&word| word.into()).collect();
        npy::save(&folder.join("words.npy"), &words)?;
        npy::save(&folder.join("labels.npy"), &self.labels)?;
        let settings = Settings { layers: 0, ..model.settings().clone() };
        let unmoved = Rung::from_tensors(model.tensors(), settings)?;
        let scores = unmoved.forward(&self.graph, &self.features, 1)?.features;
        npy::save(&folder.join("scores.npy"), &scores)
    }
}
