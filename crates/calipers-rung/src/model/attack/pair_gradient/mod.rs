//! The derivative of a loss by the strength of pairs of nodes, joined or not, in single precision: of every pair
//! here, of some in `listed`.

mod listed;

use multiversion::multiversion;

use crate::model::matrix::Matrix;
use crate::model::parallel;
use crate::model::penalty::Penalty;
use crate::model::propagation::backward::Influence;
use crate::model::propagation::pair_table::{
    BLOCK, Field, Lane, add_products, disagreements, distances, lanes,
};

/// What every step says about every node, its columns laid out as the visits of the pairs need them.
pub(super) struct Influences<L> {
    layout: fn(&Matrix) -> L,
    steps: Vec<Said<L>>,
    /// Derivatives by the degrees.
    degrees: Vec<Lane<f32>>,
}

/// What a step says about every node.
struct Said<L> {
    scaled: L,
    probabilities: Option<L>,
    pulls: L,
    tolls: Vec<Lane<f32>>,
}

impl<L> Influences<L> {
    pub(super) fn new(layout: fn(&Matrix) -> L) -> Self {
        Self { layout, steps: Vec::new(), degrees: Vec::new() }
    }

    pub(super) fn add_step(&mut self, influence: &Influence<'_>) {
        self.steps.push(Said {
            scaled: (self.layout)(&influence.step.scaled),
            probabilities: influence.step.probabilities.as_ref().map(self.layout),
            pulls: (self.layout)(influence.pulls),
            tolls: lanes(influence.tolls),
        });
    }

    pub(super) fn set_degrees(&mut self, degrees: &[f64]) {
        self.degrees = lanes(degrees);
    }
}

impl Influences<Field<f32>> {
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
        let work = rows.len() * rows.len() / 2 * self.steps.len();
        let tiles = rows.chunks_mut(BLOCK).zip(results.chunks_mut(BLOCK)).enumerate();
        parallel::each(threads, work, tiles, |(tile, (rows, results))| {
            tile_rows(self, penalty, tile, rows);
            for (k, (row, result)) in rows.iter_mut().zip(results).enumerate() {
                *result = finish(tile * BLOCK + k, row);
            }
        });
    }
}

/// The rows of a block, against itself and every later one.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn tile_rows(influences: &Influences<Field<f32>>, penalty: &Penalty, tile: usize, rows: &mut [&mut [f32]]) {
    let degrees = &influences.degrees;
    let mut sums = [Lane::zero(); BLOCK];
    let mut apart = [Lane::zero(); 2];
    for (block, their_degrees) in degrees.iter().enumerate().skip(tile) {
        for (sums, own_degree) in sums.iter_mut().zip(degrees[tile].0) {
            for k in 0..BLOCK {
                sums[k] = own_degree + their_degrees[k];
            }
        }
        for said in &influences.steps {
            for (pair, sums) in sums.as_chunks_mut().0.iter_mut().enumerate() {
                said.add_two(penalty, tile * BLOCK + 2 * pair, block, &mut apart, sums);
            }
        }
        for (k, (row, sums)) in rows.iter_mut().zip(&sums).enumerate() {
            // Of its own block a node meets the nodes behind it; the last block may not be full.
            let skipped = if block == tile { k + 1 } else { 0 };
            let start = block * BLOCK + skipped - (tile * BLOCK + k + 1);
            let row = &mut row[start..];
            let count = row.len().min(BLOCK - skipped);
            row[..count].copy_from_slice(&sums[skipped..][..count]);
        }
    }
}

impl Said<Field<f32>> {
    /// Adds what the step says about the pairs of two nodes, the first of which is given, with a block.
    #[inline(always)]
    fn add_two(
        &self,
        penalty: &Penalty,
        node: usize,
        block: usize,
        apart: &mut [Lane<f32>; 2],
        sums: &mut [Lane<f32>; 2],
    ) {
        let (own, theirs) = (self.scaled.two(&[node, node + 1]), self.scaled.block(block));
        let mut weights = [Lane::zero(); 2];
        distances(own, theirs, &mut weights);
        if let Some(field) = &self.probabilities {
            disagreements(field.two(&[node, node + 1]), field.block(block), apart);
        }
        let (own_pulls, their_pulls) = (self.pulls.two(&[node, node + 1]), self.pulls.block(block));
        let mut demands = Lane::zero();
        for row in 0..2 {
            penalty.weigh(&mut weights[row].0, &apart[row].0);
            let own_toll = self.tolls[(node + row) / BLOCK][(node + row) % BLOCK];
            for (demand, toll) in demands.iter_mut().zip(&self.tolls[block].0) {
                *demand = own_toll + toll;
            }
            for four in 0..own[row].len() {
                add_products(&mut demands, &own_pulls[row][four], &theirs[four]);
                add_products(&mut demands, &own[row][four], &their_pulls[four]);
            }
            for k in 0..BLOCK {
                sums[row][k] = weights[row][k].mul_add(demands[k], sums[row][k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::Graph;
    use crate::model::matrix::{dot, squared_distance};
    use crate::model::penalty::{Kind, SCAD_A, ScadScale, Weights};
    use crate::model::propagation::Propagation;
    use crate::model::propagation::backward::Through;
    use crate::model::propagation::links::Links;
    use crate::model::propagation::pair_table::Rows;
    use crate::model::random::{Draws, Stream};
    use crate::model::settings::Settings;

    const NODES: usize = 141;

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
    fn every_pair_gets_the_derivative_of_the_formulas_among_all_or_some() {
        let edges: Vec<(u32, u32)> = (0..NODES as u32).map(|i| (i, (i + 1) % NODES as u32)).collect();
        let graph = Graph::new(NODES, &edges).unwrap();
        let (initial, gradient) = (random_matrix(1), random_matrix(2));
        for &kind in Kind::ALL {
            for &weights in Weights::ALL {
                let gamma = kind.takes_gamma().then_some(2.0);
                let penalty = Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::One).unwrap();
                let settings = Settings { layers: 3, ..Settings::new(penalty) };
                let propagation = Propagation::new(Links::of_graph(&graph), &settings, 1);
                let tape = propagation.record(&initial, None).unwrap();
                let mut influences = Influences::new(Field::of);
                let mut listed = Influences::new(Rows::of);
                let mut expected = vec![vec![0.0; NODES]; NODES];
                let derivatives =
                    propagation.backward(&tape, &initial, gradient.clone(), Through::Scores, |influence| {
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
                        influences.add_step(&influence);
                        listed.add_step(&influence);
                    });
                influences.set_degrees(&derivatives.degrees);
                listed.set_degrees(&derivatives.degrees);
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
                    // Some of the pairs on their own, to the last bit.
                    let all = (0..NODES).flat_map(|i| (i + 1..NODES).map(move |j| (i, j)));
                    let some: Vec<(usize, usize)> = all.filter(|(i, j)| (i * 7 + j) % 5 < 3).collect();
                    let pairs: Vec<(u32, u32)> = some.iter().map(|&(i, j)| (i as u32, j as u32)).collect();
                    let mut on_their_own = vec![f32::NAN; pairs.len()];
                    listed.write(&penalty, threads, &pairs, &mut on_their_own);
                    for (&(i, j), found) in some.iter().zip(on_their_own) {
                        assert_eq!(
                            found.to_bits(),
                            values[i][j - i - 1].to_bits(),
                            "{kind} {weights} {i} {j}"
                        );
                    }
                }
            }
        }
    }
}
