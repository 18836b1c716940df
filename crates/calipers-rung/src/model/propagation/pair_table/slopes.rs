//! What the weights of all pairs say when they count as functions of the scores.

use multiversion::multiversion;

use super::field::{BLOCK, Columns, Field, Lane, add_products, disagreements, distances, lanes};
use super::gather::fold;
use super::{Met, PairTable};
use crate::model::matrix::{Matrix, WIDTH};
use crate::model::penalty::Penalty;
use crate::model::propagation::gather::Edges;

/// How many numbers fill a register.
const REGISTER: usize = 8;

/// What weights depend on, and what a loss asks of them.
pub(super) struct Pass<'a> {
    table: &'a PairTable<'a>,
    penalty: &'a Penalty,
    scaled: Field<f32>,
    probabilities: Option<Field<f32>>,
    pulls: Field<f32>,
    tolls: Vec<Lane<f32>>,
}

/// What a pair asks for.
struct Asked {
    /// Of the difference of its scores.
    by_difference: [Lane<f32>; 2],
    /// Of the agreement of its probabilities.
    by_agreement: [Lane<f32>; 2],
}

impl<'a> Pass<'a> {
    pub(super) fn new(table: &'a PairTable<'a>, edges: &'a Edges<'a>, pulls: &Matrix, tolls: &[f64]) -> Self {
        Self {
            table,
            penalty: edges.penalty,
            scaled: Field::of(edges.scaled),
            probabilities: edges.probabilities.map(Field::of),
            pulls: Field::of(pulls),
            tolls: lanes(tolls),
        }
    }

    /// Fours of columns: scaled scores, then probabilities.
    pub(super) fn fours(&self) -> usize {
        self.scaled.fours() * if self.probabilities.is_some() { 2 } else { 1 }
    }

    /// What two nodes, the first of which is given, and those of a block ask for.
    #[inline(always)]
    fn asked(&self, node: usize, block: usize, edges: &mut &[Met]) -> Asked {
        let (own, theirs) = (self.scaled.two(&[node, node + 1]), self.scaled.block(block));
        let (own_pulls, their_pulls) = (self.pulls.two(&[node, node + 1]), self.pulls.block(block));
        let [mut squares, mut apart] = [[Lane::zero(); 2]; 2];
        distances(own, theirs, &mut squares);
        if let Some(field) = &self.probabilities {
            disagreements(field.two(&[node, node + 1]), field.block(block), &mut apart);
        }
        let mut asked = Asked { by_difference: [Lane::zero(); 2], by_agreement: [Lane::zero(); 2] };
        for row in 0..2 {
            let mut strengths = Lane::<f32>::zero();
            self.table.strengths(node + row, block, edges, &mut strengths);
            // Both directions of the pair have the same weight.
            let own_toll = self.tolls[(node + row) / BLOCK][(node + row) % BLOCK];
            let mut demands = self.tolls[block];
            demands.iter_mut().for_each(|toll| *toll += own_toll);
            for four in 0..own[row].len() {
                add_products(&mut demands, &own_pulls[row][four], &theirs[four]);
                add_products(&mut demands, &own[row][four], &their_pulls[four]);
            }
            let slopes = self.penalty.slopes(&squares[row], &apart[row]);
            for k in 0..BLOCK {
                let demand = demands[k] * strengths[k];
                asked.by_difference[row][k] = 2.0 * demand * slopes.by_square[k];
                asked.by_agreement[row][k] = -demand * slopes.by_disagreement[k];
            }
        }
        asked
    }
}

/// A strip of all pairs.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn slope_strip(pass: &Pass<'_>, strip: usize, sums: &mut [Lane<f32>]) {
    let (table, fours, sums) = (pass.table, pass.fours(), sums.as_chunks_mut::<WIDTH>().0);
    let mut own_sums = vec![[[0.0; REGISTER]; WIDTH]; BLOCK * fours];
    for tile in table.blocks_of(strip) {
        let mut edges = table.edges[tile].as_slice();
        own_sums.fill([[0.0; REGISTER]; WIDTH]);
        for block in tile..table.blocks() {
            let their_sums = &mut sums[block * fours..][..fours];
            for (pair, own_sums) in own_sums.chunks_exact_mut(2 * fours).enumerate() {
                let node = tile * BLOCK + 2 * pair;
                let asked = pass.asked(node, block, &mut edges);
                for (row, own_sums) in own_sums.chunks_exact_mut(fours).enumerate() {
                    let sums = own_sums.iter_mut().zip(&mut *their_sums);
                    let theirs = pass.scaled.block(block);
                    for ((own, theirs), (own_sums, their_sums)) in
                        pass.scaled.node(node + row).iter().zip(theirs).zip(sums)
                    {
                        exchange::<true>(&asked.by_difference[row], own, theirs, own_sums, their_sums);
                    }
                    let Some(probabilities) = &pass.probabilities else { continue };
                    let sums = own_sums.iter_mut().zip(&mut *their_sums).skip(fours / 2);
                    let theirs = probabilities.block(block);
                    for ((own, theirs), (own_sums, their_sums)) in
                        probabilities.node(node + row).iter().zip(theirs).zip(sums)
                    {
                        exchange::<false>(&asked.by_agreement[row], own, theirs, own_sums, their_sums);
                    }
                }
            }
        }
        fold(&own_sums, &mut sums[tile * fours..][..fours]);
    }
}

/// Adds to the sums of a node what the nodes of a block have, and the other way round; `APART` what each has
/// more than the other.
#[inline(always)]
fn exchange<const APART: bool>(
    factors: &Lane<f32>,
    own: &[f32; WIDTH],
    theirs: &Columns<f32>,
    own_sums: &mut [[f32; REGISTER]; WIDTH],
    their_sums: &mut Columns<f32>,
) {
    for c in 0..WIDTH {
        let mut brought = Lane::zero();
        for k in 0..BLOCK {
            let (own, their) = (own[c], theirs[c][k]);
            let (to_own, to_their) = if APART { (own - their, their - own) } else { (their, own) };
            brought[k] = factors[k] * to_own;
            their_sums[c][k] += factors[k] * to_their;
        }
        add_up(&mut own_sums[c], &brought);
    }
}

/// Adds a lane, all registers on top of each other.
#[inline(always)]
fn add_up(sums: &mut [f32; REGISTER], terms: &Lane<f32>) {
    let mut added = *sums;
    for terms in terms.as_chunks::<REGISTER>().0 {
        for k in 0..REGISTER {
            added[k] += terms[k];
        }
    }
    *sums = added;
}
