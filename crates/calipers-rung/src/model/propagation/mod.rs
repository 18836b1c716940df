//! The propagation of scores over the graph: K steps of reweighted averaging.

pub(super) mod backward;
mod gather;
pub(super) mod links;
pub(super) mod pair_table;
pub mod penalty;

use calipers_core::functions::lanes;
use calipers_core::{Error, Result};

use crate::model::matrix::{Matrix, WIDTH};
use crate::model::parallel;
use crate::model::penalty::{Kind, Penalty};
use crate::model::propagation::gather::Edges;
use crate::model::propagation::links::Links;
use crate::model::settings::Settings;

/// A graph and the rule by which scores move over it.
pub(crate) struct Propagation<'a> {
    pub(crate) links: Links<'a>,
    pub(crate) penalty: Penalty,
    /// The pull back to the scores the steps began with.
    pub(crate) lambda: f64,
    layers: u32,
    pub(crate) threads: usize,
}

/// What one step was computed from and divided by.
#[derive(Debug, PartialEq)]
pub(crate) struct Step {
    /// Scores divided by the roots of the degrees.
    pub(crate) scaled: Matrix,
    /// The divisors q; 0 where a node stayed as it was.
    pub(crate) divisors: Vec<f64>,
    /// The scores as probabilities, for the adaptive penalty.
    pub(crate) probabilities: Option<Matrix>,
}

/// Everything the way back needs.
#[derive(Debug, PartialEq)]
pub(crate) struct Tape {
    pub(crate) steps: Vec<Step>,
    pub(crate) scores: Matrix,
}

impl<'a> Propagation<'a> {
    pub(crate) fn new(links: Links<'a>, settings: &Settings, threads: usize) -> Self {
        Self { links, penalty: settings.penalty, lambda: settings.lambda(), layers: settings.layers, threads }
    }

    /// The scores after the last step, and how many nodes some step could not move.
    pub(crate) fn forward(&self, initial: &Matrix) -> Result<(Matrix, usize)> {
        let mut stuck = Vec::new();
        let scores = self.run(initial, None, |step| {
            stuck.resize(step.divisors.len(), false);
            stuck.iter_mut().zip(&step.divisors).for_each(|(stuck, &q)| *stuck |= q.to_bits() == 0);
            Some(step)
        })?;
        Ok((scores, stuck.into_iter().filter(|&stuck| stuck).count()))
    }

    /// The same, with everything the way back needs; in the memory of a tape of the same sizes that is no longer
    /// needed, if there is one.
    pub(crate) fn record(&self, initial: &Matrix, used: Option<Tape>) -> Result<Tape> {
        let mut spare = used.map_or_else(Vec::new, |tape| tape.steps);
        let mut steps = Vec::with_capacity(self.layers as usize);
        let scores = self.run(initial, spare.pop(), |step| {
            steps.push(step);
            spare.pop()
        })?;
        Ok(Tape { steps, scores })
    }

    /// All steps; `done` is given what a step was computed from, and may give it or another back for its memory.
    fn run(
        &self,
        initial: &Matrix,
        mut used: Option<Step>,
        mut done: impl FnMut(Step) -> Option<Step>,
    ) -> Result<Matrix> {
        check_finite(initial, 0)?;
        let mut scores = initial.clone();
        for layer in 1..=self.layers {
            let mut step = used.take().unwrap_or_else(|| self.empty_step(initial));
            self.prepare(&scores, &mut step);
            self.step(&mut step, initial, &mut scores);
            check_finite(&scores, layer)?;
            used = done(step);
        }
        Ok(scores)
    }

    fn empty_step(&self, like: &Matrix) -> Step {
        let zeros = || Matrix::zeros(like.rows(), like.columns());
        Step {
            scaled: zeros(),
            divisors: vec![0.0; like.rows()],
            probabilities: (self.penalty.kind() == Kind::Adaptive).then(zeros),
        }
    }

    fn prepare(&self, scores: &Matrix, step: &mut Step) {
        let width = scores.vectors();
        let rows = scores.data().chunks_exact(width).zip(step.scaled.data_mut().chunks_exact_mut(width));
        for ((from, to), root) in rows.zip(&self.links.roots) {
            for (from, to) in from.as_flattened().iter().zip(to.as_flattened_mut()) {
                *to = from / root;
            }
        }
        if let Some(probabilities) = &mut step.probabilities {
            for node in 0..scores.rows() {
                softmax(scores.row(node), probabilities.row_mut(node));
            }
        }
    }

    /// What the weights of a step's edges depend on.
    pub(crate) fn edges<'s>(&'s self, step: &'s Step) -> Edges<'s> {
        Edges {
            links: &self.links,
            penalty: &self.penalty,
            scaled: &step.scaled,
            probabilities: step.probabilities.as_ref(),
        }
    }

    /// How much work it is to visit all edges once.
    pub(crate) fn work(&self, width: usize) -> usize {
        self.links.entries() * (width * 2 + 4)
    }

    /// One step: reads the scaled scores, replaces the scores.
    fn step(&self, step: &mut Step, initial: &Matrix, scores: &mut Matrix) {
        let width = scores.vectors();
        let size = parallel::block(self.threads, scores.rows());
        let mut divisors = std::mem::take(&mut step.divisors);
        let edges = self.edges(step);
        let of_table = self.links.table.map(|table| table.gather::<f64>(&edges, edges.scaled, self.threads));
        let blocks = scores.data_mut().chunks_mut(size * width).zip(divisors.chunks_mut(size)).enumerate();
        parallel::each(self.threads, self.work(width), blocks, |(block, (scores, divisors))| {
            let mut sums = vec![[0.0; WIDTH]; scores.len()];
            match &of_table {
                None => edges.gather(edges.scaled, block * size, &mut sums, divisors),
                Some(all) => all.copy(block * size, &mut sums, divisors),
            }
            let rows = scores.chunks_exact_mut(width).zip(sums.chunks_exact(width));
            for (k, ((scores, sums), q)) in rows.zip(divisors).enumerate() {
                let node = block * size + k;
                *q = *q / self.links.degrees[node] + self.lambda;
                if q.to_bits() == 0 {
                    continue;
                }
                let root = self.links.roots[node];
                for ((score, sum), own) in scores.iter_mut().zip(sums).zip(initial.padded(node)) {
                    for k in 0..WIDTH {
                        score[k] = (sum[k] / root + self.lambda * own[k]) / *q;
                    }
                }
            }
        });
        step.divisors = divisors;
    }
}

/// The scores as probabilities.
pub(crate) fn softmax(scores: &[f64], probabilities: &mut [f64]) {
    let largest = scores.iter().fold(f64::NEG_INFINITY, |largest, &score| largest.max(score));
    let mut sum = 0.0;
    for (probability, score) in probabilities.iter_mut().zip(scores) {
        *probability = lanes::exp(score - largest);
        sum += *probability;
    }
    probabilities.iter_mut().for_each(|probability| *probability /= sum);
}

fn check_finite(scores: &Matrix, layer: u32) -> Result<()> {
    match scores.first_not_finite() {
        None => Ok(()),
        Some((node, column)) => Err(Error::value("the model gives features that are not finite")
            .at(format!("layer {layer}, node {node}, column {column}"))
            .found(scores.row(node)[column])
            .advice("check the weights of the checkpoint")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::graph::Graph;
    use crate::model::penalty::{SCAD_A, ScadScale, Weights};

    /// One step by the formulas, on dense arrays, one sum at a time.
    fn oracle(graph: &Graph, settings: &Settings, initial: &Matrix, scores: &Matrix) -> Matrix {
        let nodes = graph.nodes();
        let degree = |i: usize| 1.0 + graph.neighbours(i).len() as f64;
        let mut out = Matrix::zeros(nodes, initial.columns());
        for i in 0..nodes {
            let (mut q, mut sums) = (settings.lambda(), vec![0.0; initial.columns()]);
            for j in graph.neighbours(i).iter().map(|&j| j as usize) {
                let pairs = || scores.row(i).iter().zip(scores.row(j));
                let square: f64 =
                    pairs().map(|(a, b)| (a / degree(i).sqrt() - b / degree(j).sqrt()).powi(2)).sum();
                let mut shares = [vec![0.0; initial.columns()], vec![0.0; initial.columns()]];
                softmax(scores.row(i), &mut shares[0]);
                softmax(scores.row(j), &mut shares[1]);
                let agreement: f64 = shares[0].iter().zip(&shares[1]).map(|(a, b)| a * b).sum();
                let weight = settings.penalty.weight(square, 1.0 - agreement);
                q += weight / degree(i);
                let factor = weight / (degree(i) * degree(j)).sqrt();
                sums.iter_mut().zip(scores.row(j)).for_each(|(sum, score)| *sum += factor * score);
            }
            for (k, sum) in sums.iter().enumerate() {
                out.row_mut(i)[k] = (sum + settings.lambda() * initial.row(i)[k]) / q;
            }
        }
        out
    }

    fn settings(kind: Kind, weights: Weights) -> Settings {
        let gamma = kind.takes_gamma().then_some(2.0);
        Settings::new(Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::Lambda).unwrap())
    }

    fn scores(nodes: usize, columns: usize, seed: u64) -> Matrix {
        let draws = crate::model::random::Draws::new(seed, crate::model::random::Stream::Splits);
        let mut matrix = Matrix::zeros(nodes, columns);
        for node in 0..nodes {
            let row = matrix.row_mut(node).iter_mut().enumerate();
            row.for_each(|(k, value)| *value = 6.0 * draws.uniform((node * columns + k) as u64) - 3.0);
        }
        matrix
    }

    fn graph(nodes: usize, edges: usize, seed: u64) -> Graph {
        let draws = crate::model::random::Draws::new(seed, crate::model::random::Stream::Insertions);
        let mut pairs = std::collections::BTreeSet::new();
        for k in 0..edges as u64 {
            let (i, j) = (draws.draw(2 * k) % nodes as u64, draws.draw(2 * k + 1) % nodes as u64);
            if i != j {
                pairs.insert((i.min(j) as u32, i.max(j) as u32));
            }
        }
        Graph::new(nodes, &pairs.into_iter().collect::<Vec<_>>()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn steps_agree_with_the_formulas(seed in any::<u64>(), nodes in 2usize..20, columns in 1usize..14) {
            let (graph, initial) = (graph(nodes, 3 * nodes, seed), scores(nodes, columns, seed));
            for &kind in Kind::ALL {
                for &weights in Weights::ALL {
                    let settings = Settings { layers: 3, ..settings(kind, weights) };
                    let mut expected = initial.clone();
                    for _ in 0..3 {
                        expected = oracle(&graph, &settings, &initial, &expected);
                    }
                    let found = Propagation::new(Links::of_graph(&graph), &settings, 1).forward(&initial).unwrap().0;
                    for node in 0..nodes {
                        for (found, expected) in found.row(node).iter().zip(expected.row(node)) {
                            prop_assert!((found - expected).abs() < 1e-10, "{kind} {weights} {found} {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn memory_of_an_earlier_tape_leaves_no_trace() {
        let graph = graph(40, 90, 1);
        for &kind in Kind::ALL {
            let settings = settings(kind, Weights::Exact);
            let propagation = Propagation::new(Links::of_graph(&graph), &settings, 1);
            let record = |seed, used| propagation.record(&scores(40, 7, seed), used).unwrap();
            let (fresh, again) = (record(2, None), record(2, Some(record(3, None))));
            assert_eq!(again, fresh, "{kind}");
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let (graph, initial) = (graph(3000, 60_000, 1), scores(3000, 7, 2));
        for &kind in Kind::ALL {
            let settings = settings(kind, Weights::Legacy);
            let run = |threads| {
                Propagation::new(Links::of_graph(&graph), &settings, threads).forward(&initial).unwrap()
            };
            assert_eq!(run(1), run(2));
            assert_eq!(run(1), run(7));
        }
    }
}
