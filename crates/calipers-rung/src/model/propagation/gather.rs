//! The loop everything waits for: over a node's neighbours, their rows added up by the weights of the edges.

use multiversion::multiversion;

use crate::model::matrix::{Matrix, Vector, WIDTH, add_scaled, dot, products, squared_distances, total};
use crate::model::penalty::{Kind, Penalty};
use crate::model::propagation::links::Links;

/// How many neighbours are weighed together.
const LANES: usize = 8;

/// The edges of one step: who is joined, and what their weights depend on.
pub(crate) struct Edges<'a> {
    pub(crate) links: &'a Links<'a>,
    pub(crate) penalty: &'a Penalty,
    /// Scores divided by the roots of the degrees.
    pub(crate) scaled: &'a Matrix,
    /// The scores as probabilities, for the adaptive penalty.
    pub(crate) probabilities: Option<&'a Matrix>,
}

impl Edges<'_> {
    /// For the nodes from `first` on: the rows of their neighbours added up by weight, and the sums of the
    /// weights. Neighbours are taken in ascending order.
    pub(crate) fn gather(&self, rows: &Matrix, first: usize, sums: &mut [Vector], totals: &mut [f64]) {
        // A known width keeps the sums in registers.
        match rows.vectors() {
            1 => gather_one(self, rows, first, sums, totals),
            2 => gather_two(self, rows, first, sums, totals),
            _ => gather_many(self, rows, first, sums, totals),
        }
    }

    /// How much two nodes disagree: 1 minus the inner product of their probabilities.
    #[inline(always)]
    pub(crate) fn disagreement(&self, node: usize, other: usize) -> f64 {
        match self.probabilities {
            None => 0.0,
            Some(matrix) => (1.0 - dot(matrix.padded(node), matrix.padded(other))).max(0.0),
        }
    }

    /// Adds to the sums of one node and returns the sum of the weights.
    #[inline(always)]
    fn gather_node(&self, width: usize, rows: &[Vector], node: usize, sums: &mut [Vector]) -> f64 {
        let scaled = self.scaled.data();
        let row = |node: usize| node * width..node * width + width;
        let own = &scaled[row(node)];
        let (neighbours, strengths) = self.links.of(node);
        let mut weight_sum = 0.0;
        for (chunk, others) in neighbours.chunks(LANES).enumerate() {
            let mut weights = [0.0; LANES];
            let mut disagreements = [0.0; LANES];
            // The last additions of all neighbours are left to one loop, which becomes vector code.
            if self.penalty.kind() != Kind::L2 {
                let mut sums = [[0.0; WIDTH]; LANES];
                for (sums, &other) in sums.iter_mut().zip(others) {
                    *sums = squared_distances(own, &scaled[row(other as usize)]);
                }
                weights = sums.map(total);
            }
            if let Some(probabilities) = self.probabilities.map(Matrix::data) {
                let mut sums = [[0.0; WIDTH]; LANES];
                for (sums, &other) in sums.iter_mut().zip(others) {
                    *sums = products(&probabilities[row(node)], &probabilities[row(other as usize)]);
                }
                disagreements = sums.map(|sums| (1.0 - total(sums)).max(0.0));
            }
            self.penalty.weigh(&mut weights, &disagreements);
            if let Some(strengths) = strengths {
                let strengths = &strengths[chunk * LANES..];
                weights.iter_mut().zip(strengths).for_each(|(weight, strength)| *weight *= strength);
            }
            for (&weight, &other) in weights.iter().zip(others) {
                weight_sum += weight;
                add_scaled(sums, weight, &rows[row(other as usize)]);
            }
        }
        weight_sum
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn gather_one(edges: &Edges<'_>, rows: &Matrix, first: usize, sums: &mut [Vector], totals: &mut [f64]) {
    for (k, (out, total)) in sums.iter_mut().zip(totals).enumerate() {
        let mut sums = [[0.0; WIDTH]; 1];
        *total = edges.gather_node(1, rows.data(), first + k, &mut sums);
        *out = sums[0];
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn gather_two(edges: &Edges<'_>, rows: &Matrix, first: usize, sums: &mut [Vector], totals: &mut [f64]) {
    for (k, (out, total)) in sums.as_chunks_mut::<2>().0.iter_mut().zip(totals).enumerate() {
        let mut sums = [[0.0; WIDTH]; 2];
        *total = edges.gather_node(2, rows.data(), first + k, &mut sums);
        *out = sums;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn gather_many(edges: &Edges<'_>, rows: &Matrix, first: usize, sums: &mut [Vector], totals: &mut [f64]) {
    let width = rows.vectors();
    for (k, (out, total)) in sums.chunks_exact_mut(width).zip(totals).enumerate() {
        out.fill([0.0; WIDTH]);
        *total = edges.gather_node(width, rows.data(), first + k, out);
    }
}
