//! The derivative of a loss by the strength of every pair of nodes, joined or not, in single precision.

use multiversion::multiversion;

use crate::backward::Influence;
use crate::parallel;
use crate::penalty::Penalty;

/// How many nodes are worked on by one instruction, or two.
const LANES: usize = 16;

/// Values of neighbouring nodes.
type Lane = [f32; LANES];

/// How many rows are worked on while the same columns are at hand.
const TILE: usize = 16;

/// What every step says about every node, in the order in which pairs are visited: by sixteen nodes, then
/// by step, then scaled scores, pulls and probabilities column by column, and tolls.
pub(super) struct Influences {
    nodes: usize,
    columns: usize,
    steps: usize,
    adaptive: bool,
    lanes: Vec<Lane>,
    /// Derivatives by the degrees.
    degrees: Vec<Lane>,
}

impl Influences {
    pub(super) fn new(nodes: usize, columns: usize, steps: usize, adaptive: bool) -> Self {
        let blocks = nodes.div_ceil(LANES);
        let mut new =
            Self { nodes, columns, steps, adaptive, lanes: Vec::new(), degrees: vec![[0.0; LANES]; blocks] };
        new.lanes = vec![[0.0; LANES]; blocks * steps * new.per_step()];
        new
    }

    /// Lanes per step and sixteen nodes.
    fn per_step(&self) -> usize {
        self.columns * if self.adaptive { 3 } else { 2 } + 1
    }

    pub(super) fn set_step(&mut self, step: usize, influence: &Influence<'_>) {
        let (per_step, columns) = (self.per_step(), self.columns);
        for node in 0..self.nodes {
            let start = (node / LANES * self.steps + step) * per_step;
            let lane = node % LANES;
            let probabilities = influence.step.probabilities.as_ref().map(|matrix| matrix.row(node));
            let rows =
                [influence.step.scaled.row(node), influence.pulls.row(node)].into_iter().chain(probabilities);
            for (r, row) in rows.enumerate() {
                for (column, &value) in row.iter().enumerate() {
                    self.lanes[start + r * columns + column][lane] = single(value);
                }
            }
            self.lanes[start + per_step - 1][lane] = single(influence.tolls[node]);
        }
    }

    pub(super) fn set_degrees(&mut self, degrees: &[f64]) {
        for (node, &value) in degrees.iter().enumerate() {
            self.degrees[node / LANES][node % LANES] = single(value);
        }
    }

    /// Writes the derivatives of row i, for the pairs with i + 1, i + 2, ..., into the i-th slice, then calls
    /// `finish` with i and what it wrote.
    pub(super) fn write<T: Send>(
        &self,
        penalty: &Penalty,
        threads: usize,
        rows: &mut [&mut [f32]],
        results: &mut [T],
        finish: impl Fn(usize, &mut [f32]) -> T + Sync,
    ) {
        let work = self.nodes * self.nodes / 2 * self.steps;
        let tiles = rows.chunks_mut(TILE).zip(results.chunks_mut(TILE)).enumerate();
        parallel::each(threads, work, tiles, |(tile, (rows, results))| {
            let first = tile * TILE;
            let own: Vec<f32> = (first..first + rows.len()).flat_map(|node| self.own(node)).collect();
            tile_rows(self, penalty, first, &own, rows);
            for (k, (row, result)) in rows.iter_mut().zip(results).enumerate() {
                *result = finish(first + k, row);
            }
        });
    }

    /// What every step says about one node.
    fn own(&self, node: usize) -> impl Iterator<Item = f32> {
        let length = self.steps * self.per_step();
        self.lanes[node / LANES * length..][..length].iter().map(move |lane| lane[node % LANES])
    }
}

/// Numbers too small to matter become 0: arithmetic with them would be many times slower.
fn single(value: f64) -> f32 {
    if value.abs() < 1e-30 { 0.0 } else { value as f32 }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn tile_rows(influences: &Influences, penalty: &Penalty, first: usize, own: &[f32], rows: &mut [&mut [f32]]) {
    let length = influences.steps * influences.per_step();
    for (block, degrees) in influences.degrees.iter().enumerate().skip((first + 1) / LANES) {
        let lanes = &influences.lanes[block * length..][..length];
        for (k, row) in rows.iter_mut().enumerate() {
            let node = first + k;
            let own = &own[k * length..][..length];
            let from = (block * LANES).max(node + 1);
            let to = ((block + 1) * LANES).min(influences.nodes);
            if from >= to {
                continue;
            }
            let sums = all_steps(influences, penalty, lanes, own);
            let own_degree = influences.degrees[node / LANES][node % LANES];
            let values: Lane = std::array::from_fn(|lane| sums[lane] + (own_degree + degrees[lane]));
            row[from - node - 1..to - node - 1]
                .copy_from_slice(&values[from - block * LANES..to - block * LANES]);
        }
    }
}

/// One node against sixteen others, through all steps.
#[inline(always)]
fn all_steps(influences: &Influences, penalty: &Penalty, lanes: &[Lane], own: &[f32]) -> Lane {
    let (columns, per_step) = (influences.columns, influences.per_step());
    let mut sums = [0.0; LANES];
    for (lanes, own) in lanes.chunks_exact(per_step).zip(own.chunks_exact(per_step)) {
        let (scaled, pulls) = (&lanes[..columns], &lanes[columns..2 * columns]);
        let (own_scaled, own_pulls) = (&own[..columns], &own[columns..2 * columns]);
        let own_toll = own[per_step - 1];
        let mut squares = [0.0; LANES];
        let mut demands: Lane = lanes[per_step - 1].map(|toll| toll + own_toll);
        for c in 0..columns {
            for k in 0..LANES {
                let difference = own_scaled[c] - scaled[c][k];
                squares[k] += difference * difference;
                demands[k] += own_pulls[c] * scaled[c][k] + own_scaled[c] * pulls[c][k];
            }
        }
        let mut disagreements = [0.0; LANES];
        if influences.adaptive {
            let (theirs, own) = (&lanes[2 * columns..3 * columns], &own[2 * columns..3 * columns]);
            disagreements = [1.0; LANES];
            for c in 0..columns {
                for k in 0..LANES {
                    disagreements[k] -= own[c] * theirs[c][k];
                }
            }
            disagreements.iter_mut().for_each(|h| *h = h.max(0.0));
        }
        penalty.weigh(&mut squares, &disagreements);
        for k in 0..LANES {
            sums[k] += squares[k] * demands[k];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backward::Through;
    use crate::graph::Graph;
    use crate::links::Links;
    use crate::matrix::{Matrix, dot, squared_distance};
    use crate::penalty::{Kind, SCAD_A, ScadScale, Weights};
    use crate::propagation::Propagation;
    use crate::random::{Draws, Stream};
    use crate::settings::Settings;

    const NODES: usize = 41;

    fn random_matrix(seed: u64) -> Matrix {
        let draws = Draws::new(seed, Stream::Splits);
        let mut matrix = Matrix::zeros(NODES, 3);
        for node in 0..NODES {
            let row = matrix.row_mut(node).iter_mut().enumerate();
            row.for_each(|(k, value)| *value = 4.0 * draws.uniform((node * 3 + k) as u64) - 2.0);
        }
        matrix
    }

    #[test]
    fn every_pair_gets_the_derivative_of_the_formulas() {
        let edges: Vec<(u32, u32)> = (0..NODES as u32).map(|i| (i, (i + 1) % NODES as u32)).collect();
        let graph = Graph::new(NODES, &edges).unwrap();
        let (initial, gradient) = (random_matrix(1), random_matrix(2));
        for &kind in Kind::ALL {
            for &weights in Weights::ALL {
                let gamma = kind.takes_gamma().then_some(2.0);
                let penalty = Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::One).unwrap();
                let settings = Settings { layers: 3, ..Settings::new(penalty) };
                let propagation = Propagation::new(Links::of_graph(&graph), &settings, 1);
                let tape = propagation.record(&initial).unwrap();
                let mut influences = Influences::new(NODES, 3, 3, kind == Kind::Adaptive);
                let mut expected = vec![vec![0.0; NODES]; NODES];
                let derivatives = propagation.backward(
                    &tape,
                    &initial,
                    gradient.clone(),
                    Through::Scores,
                    |step, influence| {
                        let edges = propagation.edges(influence.step);
                        for i in 0..NODES {
                            for j in (0..NODES).filter(|&j| j != i) {
                                let theirs = edges.scaled.padded(j);
                                let square = squared_distance(edges.scaled.padded(i), theirs);
                                let weight = penalty.weight(square, edges.disagreement(i, j));
                                let demand = dot(influence.pulls.padded(i), theirs) + influence.tolls[i];
                                expected[i.min(j)][i.max(j)] += weight * demand;
                            }
                        }
                        influences.set_step(step, &influence);
                    },
                );
                influences.set_degrees(&derivatives.degrees);
                for threads in [1, 3] {
                    let mut values: Vec<Vec<f32>> =
                        (0..NODES).map(|i| vec![f32::NAN; NODES - 1 - i]).collect();
                    let mut rows: Vec<&mut [f32]> = values.iter_mut().map(Vec::as_mut_slice).collect();
                    influences.write(&penalty, threads, &mut rows, &mut [0; NODES], |node, _| node);
                    for i in 0..NODES {
                        for j in i + 1..NODES {
                            let expected = expected[i][j] + derivatives.degrees[i] + derivatives.degrees[j];
                            let found = f64::from(values[i][j - i - 1]);
                            let close = (found - expected).abs() <= 2e-5 * (1.0 + expected.abs());
                            assert!(close, "{kind} {weights} {i} {j}: {found} {expected}");
                        }
                    }
                }
            }
        }
    }
}
