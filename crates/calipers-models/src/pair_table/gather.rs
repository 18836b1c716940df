//! The rows of all other nodes added up by the weights of the pairs.

use multiversion::multiversion;

use super::field::{Field, LANES, Lane, add, disagreements, distances_of_two, product};
use super::{PairTable, across};
use crate::gather::Edges;
use crate::matrix::Matrix;
use crate::penalty::{Penalty, Real};

/// What weights depend on, and what is added up by them.
pub(super) struct Pass<'a> {
    table: &'a PairTable<'a>,
    penalty: &'a Penalty,
    scaled: Field,
    probabilities: Option<Field>,
    rows: Field,
}

impl<'a> Pass<'a> {
    pub(super) fn new(table: &'a PairTable<'a>, edges: &'a Edges<'a>, rows: &Matrix) -> Self {
        Self {
            table,
            penalty: edges.penalty,
            scaled: Field::of(edges.scaled),
            probabilities: edges.probabilities.map(Field::of),
            rows: Field::of(rows),
        }
    }
}

/// A strip: for every block `columns` lanes of sums and one of weights.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn gather_strip(pass: &Pass<'_>, strip: usize, sums: &mut [Lane]) {
    let Pass { table, penalty, scaled, probabilities, rows } = pass;
    let (columns, width) = (rows.columns(), rows.columns() + 1);
    // Sums of the sixteen nodes of a block, added across lanes when it has met all others. Eight lanes do:
    // half as much is written.
    let mut own_sums = vec![[0.0; LANES / 2]; LANES * width];
    let [mut changed, mut weights, mut apart] = [[[0.0; LANES]; LANES]; 3];
    for tile in table.blocks_of(strip) {
        let (own_scaled, own_rows) = (scaled.rows(tile), rows.rows(tile));
        let own_probabilities = probabilities.as_ref().map(|field| field.rows(tile));
        let edges = table.edges_of(tile);
        let mut edges = edges.as_slice();
        own_sums.fill([0.0; LANES / 2]);
        for block in tile..table.blocks() {
            let strengths = table.strengths(tile, block, &mut edges, &mut changed);
            let their_scaled = scaled.block(block);
            let (two, _) = weights.as_chunks_mut::<2>();
            for (weights, own) in two.iter_mut().zip(own_scaled.chunks_exact(2 * columns)) {
                *weights = distances_of_two(own.split_at(columns), their_scaled);
            }
            if let (Some(own), Some(theirs)) = (&own_probabilities, probabilities) {
                let theirs = theirs.block(block);
                for (apart, own) in apart.iter_mut().zip(own.chunks_exact(columns)) {
                    *apart = disagreements(own, theirs);
                }
            }
            penalty.weigh(weights.as_flattened_mut(), apart.as_flattened());
            let their_rows = rows.block(block);
            let (two, _) = weights.as_chunks_mut::<2>();
            let (strong, _) = strengths.as_chunks::<2>();
            for ((weights, strengths), own_sums) in
                two.iter_mut().zip(strong).zip(own_sums.chunks_exact_mut(2 * width))
            {
                let [a, b] = [product(&weights[0], &strengths[0]), product(&weights[1], &strengths[1])];
                *weights = [a, b];
                let (first, second) = own_sums.split_at_mut(width);
                for ((one, other), theirs) in first.iter_mut().zip(second.iter_mut()).zip(their_rows) {
                    add_halves(one, &product(&a, theirs));
                    add_halves(other, &product(&b, theirs));
                }
                add_halves(&mut first[columns], &a);
                add_halves(&mut second[columns], &b);
            }
            // One column after the other, so that its sums stay in registers.
            let their_sums = &mut sums[block * width..][..width];
            for (column, sums) in their_sums[..columns].iter_mut().enumerate() {
                let mut sum = *sums;
                for (weights, own) in weights.iter().zip(own_rows.chunks_exact(columns)) {
                    add(&mut sum, &product(weights, &[own[column]; LANES]));
                }
                *sums = sum;
            }
            for weights in &weights {
                add(&mut their_sums[columns], weights);
            }
        }
        fold(&own_sums, &mut sums[tile * width..][..width]);
    }
}

/// Adds both halves of a lane.
#[inline(always)]
fn add_halves(sums: &mut [f32; LANES / 2], terms: &Lane) {
    let mut added = *sums;
    for k in 0..LANES / 2 {
        added[k] += terms[k] + terms[k + LANES / 2];
    }
    *sums = added;
}

/// Adds the sums of sixteen nodes to those of their block.
#[inline(always)]
pub(super) fn fold<T: Real, const N: usize>(own_sums: &[[T; N]], sums: &mut [[T; LANES]]) {
    for (row, own) in own_sums.chunks_exact(sums.len()).enumerate() {
        for (sum, own) in sums.iter_mut().zip(own) {
            sum[row] = sum[row] + across(own);
        }
    }
}

/// The strengths of all pairs of a strip added up for both ends.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn degree_strip(table: &PairTable<'_>, strip: usize, sums: &mut [[f64; LANES]]) {
    let mut changed = [[0.0; LANES]; LANES];
    for tile in table.blocks_of(strip) {
        let edges = table.edges_of(tile);
        let mut edges = edges.as_slice();
        let mut own_sums = [[0.0; LANES]; LANES];
        for (block, sums) in sums.iter_mut().enumerate().skip(tile) {
            let strengths = table.strengths(tile, block, &mut edges, &mut changed);
            let mut their_sums = *sums;
            for (own_sums, strengths) in own_sums.iter_mut().zip(strengths) {
                for k in 0..LANES {
                    own_sums[k] += f64::from(strengths[k]);
                    their_sums[k] += f64::from(strengths[k]);
                }
            }
            *sums = their_sums;
        }
        fold(&own_sums, &mut sums[tile..=tile]);
    }
}
