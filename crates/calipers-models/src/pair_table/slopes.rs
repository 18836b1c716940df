//! What the weights of all pairs say about the scores they come from.

use std::array;

use multiversion::multiversion;

use super::PairTable;
use super::field::{Field, LANES, Lane, add, disagreements, distances, product};
use super::gather::fold;
use crate::gather::Edges;
use crate::matrix::Matrix;
use crate::penalty::Penalty;

/// What weights depend on, and what a loss asks of them.
pub(super) struct Pass<'a> {
    table: &'a PairTable<'a>,
    penalty: &'a Penalty,
    scaled: Field<f32>,
    probabilities: Option<Field<f32>>,
    pulls: Field<f32>,
    tolls: Field<f32>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(table: &'a PairTable<'a>, edges: &'a Edges<'a>, pulls: &Matrix, tolls: &[f64]) -> Self {
        Self {
            table,
            penalty: edges.penalty,
            scaled: Field::of(edges.scaled),
            probabilities: edges.probabilities.map(Field::of),
            pulls: Field::of(pulls),
            tolls: Field::of_values(tolls),
        }
    }

    /// Lanes a block: scaled scores, then probabilities.
    pub(super) fn width(&self) -> usize {
        self.scaled.columns() * if self.probabilities.is_some() { 2 } else { 1 }
    }
}

/// A strip of all pairs.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn slope_strip(pass: &Pass<'_>, strip: usize, sums: &mut [Lane<f32>]) {
    let Pass { table, penalty, scaled, probabilities, pulls, tolls } = pass;
    let (columns, width) = (scaled.columns(), pass.width());
    let mut own_sums = vec![[0.0; LANES]; LANES * width];
    for tile in table.blocks_of(strip) {
        let (own_scaled, own_pulls, own_tolls) = (scaled.rows(tile), pulls.rows(tile), tolls.rows(tile));
        let own_probabilities = probabilities.as_ref().map(|field| field.rows(tile));
        let edges = table.edges_of(tile);
        let mut edges = edges.as_slice();
        own_sums.fill([0.0; LANES]);
        for block in tile..table.blocks() {
            let (their_scaled, their_pulls) = (scaled.block(block), pulls.block(block));
            let their_sums = &mut sums[block * width..][..width];
            for row in 0..LANES.min(table.graph.nodes() - tile * LANES) {
                let strengths = table.strengths::<f32>(tile * LANES + row, block, &mut edges);
                let Some(strengths) = strengths else { continue };
                let of_row = row * columns..(row + 1) * columns;
                let (own, own_pulls) = (&own_scaled[of_row.clone()], &own_pulls[of_row.clone()]);
                let squares = distances(own, their_scaled);
                let mut apart = [0.0; LANES];
                if let (Some(own), Some(theirs)) = (&own_probabilities, probabilities) {
                    apart = disagreements(&own[of_row.clone()], theirs.block(block));
                }
                let slopes = penalty.slopes(&squares, &apart);
                // Both directions of the pair have the same weight.
                let mut demands: Lane<f32> = tolls.block(block)[0].map(|toll| toll + own_tolls[row]);
                for c in 0..columns {
                    for k in 0..LANES {
                        demands[k] += own_pulls[c] * their_scaled[c][k] + own[c] * their_pulls[c][k];
                    }
                }
                let own_sums = &mut own_sums[row * width..][..width];
                let mut factors = [0.0; LANES];
                for k in 0..LANES {
                    demands[k] *= strengths[k];
                    factors[k] = 2.0 * demands[k] * slopes.by_square[k];
                }
                for c in 0..columns {
                    let push: Lane<f32> = array::from_fn(|k| factors[k] * (own[c] - their_scaled[c][k]));
                    add(&mut own_sums[c], &push);
                    add(&mut their_sums[c], &push.map(|push| -push));
                }
                if let (Some(own), Some(theirs)) = (&own_probabilities, probabilities) {
                    let (own, theirs) = (&own[of_row], theirs.block(block));
                    let factors: Lane<f32> = array::from_fn(|k| -demands[k] * slopes.by_disagreement[k]);
                    for c in 0..columns {
                        add(&mut own_sums[columns + c], &product(&factors, &theirs[c]));
                        add(&mut their_sums[columns + c], &product(&factors, &[own[c]; LANES]));
                    }
                }
            }
        }
        fold(&own_sums, &mut sums[tile * width..][..width]);
    }
}
