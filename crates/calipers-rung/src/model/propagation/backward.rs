//! The way back through the propagation: what a loss at the end says about its beginning and about the graph.

use multiversion::multiversion;

use crate::model::matrix::{Matrix, Vector, WIDTH, add_scaled, dot, squared_distance};
use crate::model::parallel;
use crate::model::penalty::Slopes;
use crate::model::propagation::gather::Edges;
use crate::model::propagation::pair_table::TableSlopes;
use crate::model::propagation::{Propagation, Step, Tape};

/// Whether edge weights count as constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Through {
    /// Yes.
    Scores,
    /// No: they are differentiated too.
    ScoresAndWeights,
}

/// What one step says about the joining of any two nodes: with these, the derivative by the strength
/// of the ordered pair (i, j) is `weight * (pulls_i . scaled_j + tolls_i)`.
pub(crate) struct Influence<'a> {
    pub(crate) step: &'a Step,
    /// Derivatives by the new scores, divided by q and by the roots of the degrees.
    pub(crate) pulls: &'a Matrix,
    /// What a stronger edge costs through q.
    pub(crate) tolls: &'a [f64],
}

/// Derivatives of a loss.
pub(crate) struct Derivatives {
    /// By the scores the propagation began with.
    pub(crate) initial: Matrix,
    /// By the degrees, each edge's own term left out.
    pub(crate) degrees: Vec<f64>,
}

impl Propagation<'_> {
    /// From the derivative of a loss by the last scores to those by the first; `seen` is shown every step,
    /// the last one first.
    pub(crate) fn backward(
        &self,
        tape: &Tape,
        initial: &Matrix,
        mut gradient: Matrix,
        through: Through,
        mut seen: impl FnMut(Influence<'_>),
    ) -> Derivatives {
        let nodes = initial.rows();
        let mut out =
            Derivatives { initial: Matrix::zeros(nodes, initial.columns()), degrees: vec![0.0; nodes] };
        let mut pulls = Matrix::zeros(nodes, initial.columns());
        let mut tolls = vec![0.0; nodes];
        for (k, step) in tape.steps.iter().enumerate().rev() {
            let after = |node: usize, out: &mut [f64]| match tape.steps.get(k + 1) {
                None => out.copy_from_slice(tape.scores.row(node)),
                Some(next) => {
                    let root = self.links.roots[node];
                    out.iter_mut().zip(next.scaled.row(node)).for_each(|(out, scaled)| *out = scaled * root);
                }
            };
            self.weigh_nodes(step, after, initial, &gradient, &mut pulls, &mut tolls, &mut out);
            self.pull_back(step, &pulls, &tolls, through, &mut gradient, &mut out.degrees);
            seen(Influence { step, pulls: &pulls, tolls: &tolls });
        }
        for (sum, gradient) in out.initial.data_mut().iter_mut().zip(gradient.data()) {
            for k in 0..WIDTH {
                sum[k] += gradient[k];
            }
        }
        out
    }

    /// What needs a node alone: pulls, tolls, the share of the first scores, and of the degree through q and
    /// through the new score.
    #[expect(
        clippy::too_many_arguments,
        reason = "three are read, three are written, none belongs to another"
    )]
    fn weigh_nodes(
        &self,
        step: &Step,
        after: impl Fn(usize, &mut [f64]),
        initial: &Matrix,
        gradient: &Matrix,
        pulls: &mut Matrix,
        tolls: &mut [f64],
        out: &mut Derivatives,
    ) {
        let mut new = vec![0.0; initial.columns()];
        for (node, toll) in tolls.iter_mut().enumerate() {
            let (q, degree, root) = (step.divisors[node], self.links.degrees[node], self.links.roots[node]);
            *toll = 0.0;
            let pull = pulls.row_mut(node);
            pull.fill(0.0);
            if q.to_bits() == 0 {
                continue;
            }
            after(node, &mut new);
            let (mut along, mut gathered) = (0.0, 0.0);
            let own = initial.row(node).iter().zip(out.initial.row_mut(node));
            let values = pull.iter_mut().zip(gradient.row(node)).zip(&new).zip(own);
            for (((pull, gradient), new), (own, by_own)) in values {
                let g = gradient / q;
                along += g * new;
                // What the neighbours had brought: q times the new score, less the pull back.
                gathered += g * (q * new - self.lambda * own);
                *by_own += self.lambda * g;
                *pull = g / root;
            }
            *toll = -along / degree;
            out.degrees[node] += along * (q - self.lambda) / degree - gathered / (2.0 * degree);
        }
    }

    /// What needs the neighbours: the gradient by the scores before the step takes the place of that after it.
    fn pull_back(
        &self,
        step: &Step,
        pulls: &Matrix,
        tolls: &[f64],
        through: Through,
        gradient: &mut Matrix,
        degrees: &mut [f64],
    ) {
        let width = gradient.vectors();
        let size = parallel::block(self.threads, gradient.rows());
        let edges = self.edges(step);
        let table = self.links.table;
        let of_table = table.map(|table| table.gather::<f32>(&edges, pulls, self.threads));
        let table_slopes = table
            .filter(|_| through == Through::ScoresAndWeights)
            .map(|table| table.slopes(&edges, pulls, tolls, self.threads));
        let blocks = gradient.data_mut().chunks_mut(size * width).zip(degrees.chunks_mut(size)).enumerate();
        parallel::each(self.threads, self.work(width), blocks, |(block, (gradients, degrees))| {
            let mut block_sums = vec![[0.0; WIDTH]; gradients.len()];
            match &of_table {
                None => edges.gather(pulls, block * size, &mut block_sums, &mut vec![0.0; degrees.len()]),
                Some(all) => all.copy(block * size, &mut block_sums, &mut vec![0.0; degrees.len()]),
            }
            let mut slopes = WeightSlopes::new(width);
            let rows = gradients.chunks_exact_mut(width).zip(block_sums.chunks_exact_mut(width));
            for (k, ((gradient, sums), degree)) in rows.zip(degrees).enumerate() {
                let node = block * size + k;
                let root = self.links.roots[node];
                if through == Through::ScoresAndWeights {
                    match &table_slopes {
                        None => gather_slopes(&edges, pulls, tolls, node, &mut slopes),
                        Some(all) => slopes.copy(all, node),
                    }
                    add_scaled(sums, 1.0, &slopes.by_scaled);
                }
                *degree -= dot(sums, step.scaled.padded(node)) / (2.0 * self.links.degrees[node]);
                let stays = step.divisors[node].to_bits() == 0;
                for (gradient, sum) in gradient.iter_mut().zip(&*sums) {
                    for k in 0..WIDTH {
                        gradient[k] = sum[k] / root + if stays { gradient[k] } else { 0.0 };
                    }
                }
                if let (Through::ScoresAndWeights, Some(matrix)) = (through, &step.probabilities) {
                    add_through_softmax(gradient, matrix.padded(node), &slopes.by_probabilities);
                }
            }
        });
    }
}

/// What the weights of a node's edges say about its scaled scores and its probabilities.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn gather_slopes(edges: &Edges<'_>, pulls: &Matrix, tolls: &[f64], node: usize, slopes: &mut WeightSlopes) {
    slopes.by_scaled.fill([0.0; WIDTH]);
    slopes.by_probabilities.fill([0.0; WIDTH]);
    let (own, pull) = (edges.scaled.padded(node), pulls.padded(node));
    let (neighbours, strengths) = edges.links.of(node);
    for (k, &other) in neighbours.iter().enumerate() {
        let other = other as usize;
        let theirs = edges.scaled.padded(other);
        let (square, disagreement) = (squared_distance(own, theirs), edges.disagreement(node, other));
        let Slopes { by_square: [by_square], by_disagreement: [by_disagreement] } =
            edges.penalty.slopes(&[square], &[disagreement]);
        // Most pairs of an attack are pruned.
        if by_square.abs().max(by_disagreement.abs()) <= 0.0 {
            continue;
        }
        // Both directions of the edge have the same weight.
        let demand = dot(pull, theirs) + dot(pulls.padded(other), own) + tolls[node] + tolls[other];
        let strength = strengths.map_or(1.0, |strengths| strengths[k]);
        let factor = 2.0 * strength * demand * by_square;
        add_scaled(&mut slopes.by_scaled, factor, own);
        add_scaled(&mut slopes.by_scaled, -factor, theirs);
        if let Some(matrix) = edges.probabilities {
            let factor = -strength * demand * by_disagreement;
            add_scaled(&mut slopes.by_probabilities, factor, matrix.padded(other));
        }
    }
}

struct WeightSlopes {
    by_scaled: Vec<Vector>,
    by_probabilities: Vec<Vector>,
}

impl WeightSlopes {
    fn new(width: usize) -> Self {
        Self { by_scaled: vec![[0.0; WIDTH]; width], by_probabilities: vec![[0.0; WIDTH]; width] }
    }

    /// Takes those of one node from those of all.
    fn copy(&mut self, all: &TableSlopes, node: usize) {
        self.by_scaled.copy_from_slice(all.by_scaled.padded(node));
        if let Some(matrix) = &all.by_probabilities {
            self.by_probabilities.copy_from_slice(matrix.padded(node));
        }
    }
}

/// Adds to the gradient by scores what is known of that by their probabilities.
fn add_through_softmax(gradient: &mut [Vector], probabilities: &[Vector], by_probabilities: &[Vector]) {
    let mean = dot(probabilities, by_probabilities);
    for ((gradient, p), by) in gradient.iter_mut().zip(probabilities).zip(by_probabilities) {
        for k in 0..WIDTH {
            gradient[k] += p[k] * (by[k] - mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::penalty::{Kind, Penalty, SCAD_A, ScadScale, Weights};
    use crate::model::propagation::links::{Links, SoftGraph};
    use crate::model::random::{Draws, Stream};
    use crate::model::settings::Settings;

    const NODES: usize = 6;

    struct Case {
        /// Strengths of all pairs i < j.
        strengths: Vec<f64>,
        initial: Matrix,
        settings: Settings,
        seed: u64,
    }

    fn case(seed: u64, kind: Kind, weights: Weights, lambda_hat: f64) -> Case {
        let uniform = |k: u64| Draws::new(seed, Stream::Splits).uniform(k);
        let gamma = kind.takes_gamma().then_some(2.5);
        let penalty = Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::One).unwrap();
        let settings = Settings { lambda_hat, layers: 3, ..Settings::new(penalty) };
        let score = |node: usize, k: usize| 3.0 * uniform((100 + node * 3 + k) as u64) - 1.5;
        let rows: Vec<Vec<f64>> = (0..NODES).map(|node| (0..3).map(|k| score(node, k)).collect()).collect();
        let strengths = (0..15).map(|k| 0.05 + 0.9 * uniform(k)).collect();
        Case { strengths, initial: Matrix::from_rows(&rows), settings, seed }
    }

    impl Case {
        fn soft(&self) -> SoftGraph {
            let pairs = || (0..NODES as u32).flat_map(|i| (i + 1..NODES as u32).map(move |j| (i, j)));
            let all = || pairs().zip(&self.strengths).map(|((i, j), &strength)| (i, j, strength));
            SoftGraph::from_sorted(NODES, all)
        }

        /// A sum of the last scores by fixed numbers, and those numbers.
        fn loss(&self) -> (f64, Matrix) {
            let soft = self.soft();
            let scores =
                Propagation::new(Links::of_soft(&soft), &self.settings, 1).forward(&self.initial).unwrap().0;
            let draws = Draws::new(self.seed, Stream::Dropout);
            let mut gradient = Matrix::zeros(NODES, 3);
            let mut sum = 0.0;
            for node in 0..NODES {
                for k in 0..3 {
                    gradient.row_mut(node)[k] = draws.uniform((node * 3 + k) as u64) - 0.5;
                    sum += gradient.row(node)[k] * scores.row(node)[k];
                }
            }
            (sum, gradient)
        }

        /// Derivatives by the first scores and by the strengths, weights differentiated too.
        fn derivatives(&self) -> (Matrix, Vec<f64>) {
            let soft = self.soft();
            let propagation = Propagation::new(Links::of_soft(&soft), &self.settings, 1);
            let tape = propagation.record(&self.initial, None).unwrap();
            let mut by_pair = [[0.0; NODES]; NODES];
            let through = Through::ScoresAndWeights;
            let found = propagation.backward(&tape, &self.initial, self.loss().1, through, |influence| {
                let edges = propagation.edges(influence.step);
                for i in 0..NODES {
                    for j in (0..NODES).filter(|&j| j != i) {
                        let (ours, theirs) = (edges.scaled.padded(i), edges.scaled.padded(j));
                        let weight = propagation
                            .penalty
                            .weight(squared_distance(ours, theirs), edges.disagreement(i, j));
                        let demand = dot(influence.pulls.padded(i), theirs) + influence.tolls[i];
                        by_pair[i.min(j)][i.max(j)] += weight * demand;
                    }
                }
            });
            let pairs = (0..NODES).flat_map(|i| (i + 1..NODES).map(move |j| (i, j)));
            let by_strength =
                pairs.map(|(i, j)| by_pair[i][j] + found.degrees[i] + found.degrees[j]).collect();
            (found.initial, by_strength)
        }
    }

    /// Whether no edge is near a corner of its weight, where there is no derivative.
    fn is_smooth(case: &Case) -> bool {
        let soft = case.soft();
        let propagation = Propagation::new(Links::of_soft(&soft), &case.settings, 1);
        let tape = propagation.record(&case.initial, None).unwrap();
        tape.steps.iter().all(|step| {
            (0..NODES).all(|i| {
                (i + 1..NODES).all(|j| {
                    let square = squared_distance(step.scaled.padded(i), step.scaled.padded(j));
                    [-1e-4, 1e-4].iter().all(|by| {
                        let (here, there) = (square * (1.0 + by), square * (1.0 - by));
                        let slope = |square| case.settings.penalty.slopes(&[square], &[0.4]).by_square[0];
                        (slope(here) - slope(there)).abs() <= 0.01 * slope(square).abs()
                    })
                })
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn derivatives_are_the_limits_of_differences(seed in any::<u64>(), lambda_hat in 0.5f64..1.0) {
            for &kind in Kind::ALL {
                for &weights in Weights::ALL {
                    let mut case = case(seed, kind, weights, lambda_hat);
                    if !is_smooth(&case) {
                        continue;
                    }
                    let (by_initial, by_strength) = case.derivatives();
                    let step = 1e-6;
                    for pair in [0, 7, 14] {
                        let mut moved = |by: f64| {
                            case.strengths[pair] += by;
                            let loss = case.loss().0;
                            case.strengths[pair] -= by;
                            loss
                        };
                        let difference = (moved(step) - moved(-step)) / (2.0 * step);
                        let found = by_strength[pair];
                        prop_assert!((found - difference).abs() < 1e-6 * (1.0 + found.abs()), "{kind} {weights} {found} {difference}");
                    }
                    for (node, k) in [(0, 0), (3, 2), (5, 1)] {
                        let mut moved = |by: f64| {
                            case.initial.row_mut(node)[k] += by;
                            let loss = case.loss().0;
                            case.initial.row_mut(node)[k] -= by;
                            loss
                        };
                        let difference = (moved(step) - moved(-step)) / (2.0 * step);
                        let found = by_initial.row(node)[k];
                        prop_assert!((found - difference).abs() < 1e-6 * (1.0 + found.abs()), "{kind} {weights} {found} {difference}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_node_that_stays_hands_its_gradient_on() {
        let mut case = case(1, Kind::Mcp, Weights::Exact, 1.0);
        case.initial.row_mut(2).fill(1e3);
        let soft = case.soft();
        let propagation = Propagation::new(Links::of_soft(&soft), &case.settings, 1);
        let tape = propagation.record(&case.initial, None).unwrap();
        assert!(tape.steps.iter().all(|step| step.divisors[2].to_bits() == 0));
        let gradient = case.loss().1;
        let found = propagation.backward(&tape, &case.initial, gradient.clone(), Through::Scores, |_| {});
        assert_eq!(found.initial.row(2), gradient.row(2));
    }
}
