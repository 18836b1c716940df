//! The derivative by the strength of some pairs, one after the other. The arithmetic of a pair is that of the visits
//! of all pairs, operation by operation, so that a block of all pairs gives the same bits.

use multiversion::multiversion;

use super::{Influences, Said};
use crate::model::matrix::WIDTH;
use crate::model::parallel;
use crate::model::penalty::Penalty;
use crate::model::propagation::pair_table::{BLOCK, Rows};

/// How many pairs are weighed together.
const LANES: usize = 8;

/// How many pairs a thread takes at a time.
const SHARE: usize = 1 << 12;

impl Influences<Rows<f32>> {
    /// Writes the derivatives of these pairs.
    pub(in crate::model::attack) fn write(
        &self,
        penalty: &Penalty,
        threads: usize,
        pairs: &[(u32, u32)],
        values: &mut [f32],
    ) {
        // A pair on its own takes about ten times as long as one of a tile.
        let work = pairs.len() * self.steps.len() * 10;
        let shares = pairs.chunks(SHARE).zip(values.chunks_mut(SHARE));
        parallel::each(threads, work, shares, |(pairs, values)| write_share(self, penalty, pairs, values));
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn write_share(
    influences: &Influences<Rows<f32>>,
    penalty: &Penalty,
    pairs: &[(u32, u32)],
    values: &mut [f32],
) {
    for (value, &(i, j)) in values.iter_mut().zip(pairs) {
        let degree = |node: u32| influences.degrees[node as usize / BLOCK][node as usize % BLOCK];
        *value = degree(i) + degree(j);
    }
    // Step by step: what one step says about all nodes stays close at hand.
    for said in &influences.steps {
        for (pairs, values) in pairs.chunks(LANES).zip(values.chunks_mut(LANES)) {
            said.add(penalty, pairs, values);
        }
    }
}

impl Said<Rows<f32>> {
    /// Adds what the step says about a few pairs.
    #[inline(always)]
    fn add(&self, penalty: &Penalty, pairs: &[(u32, u32)], sums: &mut [f32]) {
        let (mut weights, mut apart, mut demands) = ([0f32; LANES], [0f32; LANES], [0f32; LANES]);
        for (k, &(i, j)) in pairs.iter().enumerate() {
            let (i, j) = (i as usize, j as usize);
            let scaled = self.scaled.node(i).iter().zip(self.scaled.node(j));
            let pulls = self.pulls.node(i).iter().zip(self.pulls.node(j));
            let mut square = 0.0;
            let mut demand = self.tolls[i / BLOCK][i % BLOCK] + self.tolls[j / BLOCK][j % BLOCK];
            for ((own, theirs), (own_pulls, their_pulls)) in scaled.zip(pulls) {
                for c in 0..WIDTH {
                    let difference = own[c] - theirs[c];
                    square = difference.mul_add(difference, square);
                }
                demand = add_products(demand, own_pulls, theirs);
                demand = add_products(demand, own, their_pulls);
            }
            if let Some(rows) = &self.probabilities {
                let mut agreement = 0.0;
                for (own, theirs) in rows.node(i).iter().zip(rows.node(j)) {
                    agreement = add_products(agreement, own, theirs);
                }
                apart[k] = if agreement < 1.0 { 1.0 - agreement } else { 0.0 };
            }
            (weights[k], demands[k]) = (square, demand);
        }
        penalty.weigh(&mut weights, &apart);
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = weights[k].mul_add(demands[k], *sum);
        }
    }
}

#[inline(always)]
fn add_products(mut sum: f32, a: &[f32; WIDTH], b: &[f32; WIDTH]) -> f32 {
    for c in 0..WIDTH {
        sum = a[c].mul_add(b[c], sum);
    }
    sum
}
