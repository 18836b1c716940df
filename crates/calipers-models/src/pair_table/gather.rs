//! The rows of all other nodes added up by the weights of the pairs.

use multiversion::multiversion;

use super::field::{Field, LANES, Lane, add, disagreements, distances, product};
use super::{PairTable, across};
use crate::gather::Edges;
use crate::matrix::Matrix;
use crate::penalty::{Penalty, Real};

/// What weights depend on, and what is added up by them.
pub(crate) struct Pass<'a, T> {
    table: &'a PairTable<'a>,
    penalty: &'a Penalty,
    scaled: Field<T>,
    probabilities: Option<Field<T>>,
    rows: Field<T>,
}

impl<'a, T: Real> Pass<'a, T> {
    pub(super) fn new(table: &'a PairTable<'a>, edges: &'a Edges<'a>, rows: &Matrix) -> Self {
        Self {
            table,
            penalty: edges.penalty,
            scaled: Field::of(edges.scaled),
            probabilities: edges.probabilities.map(Field::of),
            rows: Field::of(rows),
        }
    }

    /// A strip: for every block `columns` lanes of sums and one of weights.
    #[inline(always)]
    fn strip(&self, strip: usize, sums: &mut [Lane<T>]) {
        let Self { table, penalty, scaled, probabilities, rows } = self;
        let (columns, width) = (rows.columns(), rows.columns() + 1);
        // Sums of the sixteen nodes of a block, added across lanes when it has met all others.
        let mut own_sums = vec![[T::of(0.0); LANES]; LANES * width];
        for tile in table.blocks_of(strip) {
            let (own_scaled, own_rows) = (scaled.rows(tile), rows.rows(tile));
            let own_probabilities = probabilities.as_ref().map(|field| field.rows(tile));
            let edges = table.edges_of(tile);
            let mut edges = edges.as_slice();
            own_sums.fill([T::of(0.0); LANES]);
            for block in tile..table.blocks() {
                let (their_scaled, their_rows) = (scaled.block(block), rows.block(block));
                let their_sums = &mut sums[block * width..][..width];
                for row in 0..LANES.min(table.graph.nodes() - tile * LANES) {
                    let Some(strengths) = table.strengths::<T>(tile * LANES + row, block, &mut edges) else {
                        continue;
                    };
                    let of_row = row * columns..(row + 1) * columns;
                    let mut weights = distances(&own_scaled[of_row.clone()], their_scaled);
                    let mut apart = [T::of(0.0); LANES];
                    if let (Some(own), Some(theirs)) = (&own_probabilities, probabilities) {
                        apart = disagreements(&own[of_row.clone()], theirs.block(block));
                    }
                    penalty.weigh(&mut weights, &apart);
                    let own_sums = &mut own_sums[row * width..][..width];
                    let weights = product(&weights, &strengths);
                    add(&mut own_sums[columns], &weights);
                    add(&mut their_sums[columns], &weights);
                    let rows = own_rows[of_row].iter().zip(their_rows);
                    for ((own_sum, their_sum), (&own, theirs)) in
                        own_sums.iter_mut().zip(&mut *their_sums).zip(rows)
                    {
                        add(own_sum, &product(&weights, theirs));
                        add(their_sum, &product(&weights, &[own; LANES]));
                    }
                }
            }
            fold(&own_sums, &mut sums[tile * width..][..width]);
        }
    }
}

/// Adds the sums of sixteen nodes to those of their block.
#[inline(always)]
pub(super) fn fold<T: Real>(own_sums: &[Lane<T>], sums: &mut [Lane<T>]) {
    for (row, own) in own_sums.chunks_exact(sums.len()).enumerate() {
        for (sum, own) in sums.iter_mut().zip(own) {
            sum[row] = sum[row] + across(own);
        }
    }
}

/// A precision in which pairs are gathered.
pub(crate) trait Lanes: Real {
    /// Adds a strip.
    fn gather_strip(pass: &Pass<'_, Self>, strip: usize, sums: &mut [Lane<Self>])
    where
        Self: Sized;
}

impl Lanes for f32 {
    fn gather_strip(pass: &Pass<'_, Self>, strip: usize, sums: &mut [Lane<Self>]) {
        single_strip(pass, strip, sums);
    }
}

impl Lanes for f64 {
    fn gather_strip(pass: &Pass<'_, Self>, strip: usize, sums: &mut [Lane<Self>]) {
        double_strip(pass, strip, sums);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn single_strip(pass: &Pass<'_, f32>, strip: usize, sums: &mut [Lane<f32>]) {
    pass.strip(strip, sums);
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn double_strip(pass: &Pass<'_, f64>, strip: usize, sums: &mut [Lane<f64>]) {
    pass.strip(strip, sums);
}

/// The strengths of all pairs of a strip added up for both ends.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn degree_strip(table: &PairTable<'_>, strip: usize, sums: &mut [Lane<f64>]) {
    for tile in table.blocks_of(strip) {
        let edges = table.edges_of(tile);
        let mut edges = edges.as_slice();
        let mut own_sums = [[0.0; LANES]; LANES];
        let nodes = LANES.min(table.graph.nodes() - tile * LANES);
        for (block, block_sums) in sums.iter_mut().enumerate().take(table.blocks()).skip(tile) {
            for (row, row_sums) in own_sums.iter_mut().enumerate().take(nodes) {
                let strengths = table.strengths::<f64>(tile * LANES + row, block, &mut edges);
                let Some(strengths) = strengths else { continue };
                for k in 0..LANES {
                    row_sums[k] += strengths[k];
                    block_sums[k] += strengths[k];
                }
            }
        }
        fold(&own_sums, &mut sums[tile..=tile]);
    }
}
