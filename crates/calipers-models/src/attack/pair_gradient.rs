//! The derivative of a loss by the strength of every pair of nodes, joined or not, in single precision.

use multiversion::multiversion;

use crate::backward::Influence;
use crate::pair_table::{LANES, Lane, Tile, add, disagreements, distances_of_two, product, single};
use crate::parallel;
use crate::penalty::Penalty;

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
        let tiles = rows.chunks_mut(LANES).zip(results.chunks_mut(LANES)).enumerate();
        parallel::each(threads, work, tiles, |(tile, (rows, results))| {
            let first = tile * LANES;
            let own: Vec<f32> = (first..first + LANES).flat_map(|node| self.own(node)).collect();
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

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn tile_rows(influences: &Influences, penalty: &Penalty, first: usize, own: &[f32], rows: &mut [&mut [f32]]) {
    let length = influences.steps * influences.per_step();
    for (block, degrees) in influences.degrees.iter().enumerate().skip(first / LANES) {
        let lanes = &influences.lanes[block * length..][..length];
        let mut sums = [[0.0; LANES]; LANES];
        all_steps(influences, penalty, lanes, own, &mut sums);
        for (k, (row, sums)) in rows.iter_mut().zip(&sums).enumerate() {
            let node = first + k;
            let from = (block * LANES).max(node + 1);
            let to = ((block + 1) * LANES).min(influences.nodes);
            if from >= to {
                continue;
            }
            let own_degree = influences.degrees[node / LANES][node % LANES];
            let values: Lane = std::array::from_fn(|lane| sums[lane] + (own_degree + degrees[lane]));
            row[from - node - 1..to - node - 1]
                .copy_from_slice(&values[from - block * LANES..to - block * LANES]);
        }
    }
}

/// Sixteen nodes against sixteen others, through all steps.
#[inline(always)]
fn all_steps(influences: &Influences, penalty: &Penalty, lanes: &[Lane], own: &[f32], sums: &mut Tile) {
    let (columns, per_step) = (influences.columns, influences.per_step());
    let length = influences.steps * per_step;
    let mut weights = [[0.0; LANES]; LANES];
    let mut apart = [[0.0; LANES]; LANES];
    for (step, lanes) in lanes.chunks_exact(per_step).enumerate() {
        let own = |row: usize| &own[row * length + step * per_step..][..per_step];
        let (scaled, pulls) = (&lanes[..columns], &lanes[columns..2 * columns]);
        let (pairs, _) = weights.as_chunks_mut::<2>();
        for (pair, weights) in pairs.iter_mut().enumerate() {
            let (one, other) = (own(2 * pair), own(2 * pair + 1));
            *weights = distances_of_two((&one[..columns], &other[..columns]), scaled);
        }
        if influences.adaptive {
            for (row, apart) in apart.iter_mut().enumerate() {
                *apart = disagreements(&own(row)[2 * columns..3 * columns], &lanes[2 * columns..3 * columns]);
            }
        }
        penalty.weigh(weights.as_flattened_mut(), apart.as_flattened());
        for (row, (sums, weights)) in sums.iter_mut().zip(&weights).enumerate() {
            let own = own(row);
            let mut demands = lanes[per_step - 1].map(|toll| toll + own[per_step - 1]);
            let own_columns = own[..columns].iter().zip(&own[columns..2 * columns]);
            for ((&own_scaled, &own_pull), (scaled, pulls)) in own_columns.zip(scaled.iter().zip(pulls)) {
                let mut both = product(&[own_pull; LANES], scaled);
                add(&mut both, &product(&[own_scaled; LANES], pulls));
                add(&mut demands, &both);
            }
            add(sums, &product(weights, &demands));
        }
    }
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
