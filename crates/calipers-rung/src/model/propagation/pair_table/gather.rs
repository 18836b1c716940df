//! The rows of all other nodes added up by the weights of the pairs.

use multiversion::multiversion;

use super::field::{BLOCK, Columns, Field, Lane, disagreements, distances};
use super::{Met, PairTable, across};
use crate::model::matrix::{Matrix, WIDTH};
use crate::model::penalty::{Penalty, Real};
use crate::model::propagation::gather::Edges;

/// How many nodes of a block meet another together.
const ROWS: usize = 4;

/// What weights depend on, and what is added up by them.
pub(crate) struct Pass<'a, T> {
    table: &'a PairTable<'a>,
    penalty: &'a Penalty,
    scaled: Field<T>,
    probabilities: Option<Field<T>>,
    /// The last column is 1, so that the weights themselves are added up too.
    rows: Field<T>,
}

impl<'a, T: Real> Pass<'a, T> {
    pub(super) fn new(table: &'a PairTable<'a>, edges: &'a Edges<'a>, rows: &Matrix) -> Self {
        Self {
            table,
            penalty: edges.penalty,
            scaled: Field::of(edges.scaled),
            probabilities: edges.probabilities.map(Field::of),
            rows: Field::with_ones(rows),
        }
    }

    /// Fours of columns that are added up.
    pub(super) fn fours(&self) -> usize {
        self.rows.fours()
    }

    /// A strip. `REGISTER` is how many numbers fill a register.
    #[inline(always)]
    fn strip<const REGISTER: usize>(&self, strip: usize, sums: &mut [Columns<T>]) {
        let (table, fours) = (self.table, self.fours());
        // Sums of the nodes of a block, added across when it has met all others; the last belong to no node.
        let mut own_sums = vec![[[T::of(0.0); REGISTER]; WIDTH]; (BLOCK + ROWS) * fours];
        let mut room = Room::new();
        for tile in table.blocks_of(strip) {
            let mut edges = table.edges[tile].as_slice();
            own_sums.fill([[T::of(0.0); REGISTER]; WIDTH]);
            for block in tile..table.blocks() {
                let (theirs, their_sums) = (self.rows.block(block), &mut sums[block * fours..][..fours]);
                let mut joined = table.joined(tile, block);
                while joined != 0 {
                    let rows = next_rows(&mut joined);
                    let mut nodes = [0; ROWS];
                    for k in 0..ROWS {
                        nodes[k] = tile * BLOCK + rows[k] % BLOCK;
                    }
                    self.weigh(nodes, block, &mut edges, &mut room);
                    for (&row, weights) in rows.iter().zip(&mut room.weights) {
                        if row >= BLOCK {
                            *weights = Lane::zero();
                        }
                    }
                    let weights = &room.weights;
                    for (rows, weights) in rows.as_chunks::<2>().0.iter().zip(weights.as_chunks::<2>().0) {
                        let (one, other) = own_sums.split_at_mut(rows[1] * fours);
                        let one = &mut one[rows[0] * fours..][..fours];
                        for ((one, other), theirs) in one.iter_mut().zip(other).zip(theirs) {
                            add_folded([one, other], weights, theirs);
                        }
                    }
                    for (four, sums) in their_sums.iter_mut().enumerate() {
                        let mut own = [[T::of(0.0); WIDTH]; ROWS];
                        for (own, &node) in own.iter_mut().zip(&nodes) {
                            *own = self.rows.node(node)[four];
                        }
                        add_all(sums, weights, &own);
                    }
                }
            }
            fold(&own_sums[..BLOCK * fours], &mut sums[tile * fours..][..fours]);
        }
    }

    /// Writes the weights of a few nodes with those of a block, times how strongly they are joined.
    #[inline(always)]
    fn weigh(&self, nodes: [usize; ROWS], block: usize, edges: &mut &[Met], room: &mut Room<T>) {
        for (nodes, weights) in nodes.as_chunks::<2>().0.iter().zip(room.weights.as_chunks_mut::<2>().0) {
            distances(self.scaled.two(nodes), self.scaled.block(block), weights);
            if let Some(field) = &self.probabilities {
                disagreements(field.two(nodes), field.block(block), &mut room.apart);
            }
            for ((&node, weights), apart) in nodes.iter().zip(weights).zip(&room.apart) {
                self.penalty.weigh(&mut weights.0, &apart.0);
                if PairTable::joins(node, block, edges) {
                    self.table.strengths(node, block, edges, &mut room.strengths);
                    for k in 0..BLOCK {
                        weights[k] = weights[k] * room.strengths[k];
                    }
                    continue;
                }
                let flips = self.table.flips.lane(node, block);
                for k in 0..BLOCK {
                    weights[k] = weights[k] * T::of_single(flips[k]);
                }
            }
        }
    }
}

/// The first few rows of those left, which are taken out; behind the last, some that no node has.
#[inline(always)]
fn next_rows(left: &mut u64) -> [usize; ROWS] {
    let mut rows = [0; ROWS];
    for (k, next) in rows.iter_mut().enumerate() {
        let row = left.trailing_zeros() as usize;
        *next = if row < BLOCK { row } else { BLOCK + k };
        *left &= left.wrapping_sub(1);
    }
    rows
}

/// What is found about a few nodes and those of a block, each time in the same place.
struct Room<T> {
    weights: [Lane<T>; ROWS],
    apart: [Lane<T>; 2],
    strengths: Lane<T>,
}

impl<T: Real> Room<T> {
    fn new() -> Self {
        let nothing = Lane::zero();
        Self { weights: [nothing; ROWS], apart: [nothing; 2], strengths: nothing }
    }
}

/// Adds the products of two lanes with four others, all registers on top of each other.
#[inline(always)]
fn add_folded<T: Real, const REGISTER: usize>(
    [one, other]: [&mut [[T; REGISTER]; WIDTH]; 2],
    weights: &[Lane<T>; 2],
    columns: &Columns<T>,
) {
    // Sums in memory could overlap for all the compiler knows, sums in registers cannot.
    let (mut first, mut second) = (*one, *other);
    for part in 0..BLOCK / REGISTER {
        let of_one = &weights[0].as_chunks::<REGISTER>().0[part];
        let of_other = &weights[1].as_chunks::<REGISTER>().0[part];
        for c in 0..WIDTH {
            let values = &columns[c].as_chunks::<REGISTER>().0[part];
            for k in 0..REGISTER {
                first[c][k] = of_one[k].times_plus(values[k], first[c][k]);
            }
            for k in 0..REGISTER {
                second[c][k] = of_other[k].times_plus(values[k], second[c][k]);
            }
        }
    }
    (*one, *other) = (first, second);
}

/// Adds numbers of a few nodes to the sums of a block, by weight, two columns at a time.
#[inline(always)]
fn add_all<T: Real>(sums: &mut Columns<T>, weights: &[Lane<T>; ROWS], own: &[[T; WIDTH]; ROWS]) {
    for (pair, sums) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let [first, second] = sums;
        for k in 0..BLOCK {
            let (mut a, mut b) = (first[k], second[k]);
            for row in 0..ROWS {
                a = weights[row][k].times_plus(own[row][2 * pair], a);
                b = weights[row][k].times_plus(own[row][2 * pair + 1], b);
            }
            (first[k], second[k]) = (a, b);
        }
    }
}

/// Adds the sums of the nodes of a block to those of the block.
#[inline(always)]
pub(super) fn fold<T: Real, const N: usize>(own_sums: &[[[T; N]; WIDTH]], sums: &mut [Columns<T>]) {
    for (row, own) in own_sums.chunks_exact(sums.len()).enumerate() {
        for (sums, own) in sums.as_flattened_mut().iter_mut().zip(own.as_flattened()) {
            sums[row] = sums[row] + across(own);
        }
    }
}

/// A precision in which pairs are gathered.
pub(crate) trait Precision: Real {
    /// Adds a strip.
    fn gather_strip(pass: &Pass<'_, Self>, strip: usize, sums: &mut [Lane<Self>])
    where
        Self: Sized;
}

impl Precision for f32 {
    fn gather_strip(pass: &Pass<'_, Self>, strip: usize, sums: &mut [Lane<Self>]) {
        single_strip(pass, strip, sums);
    }
}

impl Precision for f64 {
    fn gather_strip(pass: &Pass<'_, Self>, strip: usize, sums: &mut [Lane<Self>]) {
        double_strip(pass, strip, sums);
    }
}

// Not for AVX-512: with it the compiler mixes the columns of short sums, which takes twice as long.
#[multiversion(targets("x86_64+avx2+fma"))]
fn single_strip(pass: &Pass<'_, f32>, strip: usize, sums: &mut [Lane<f32>]) {
    pass.strip::<8>(strip, sums.as_chunks_mut().0);
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn double_strip(pass: &Pass<'_, f64>, strip: usize, sums: &mut [Lane<f64>]) {
    pass.strip::<4>(strip, sums.as_chunks_mut().0);
}

/// The strengths of all pairs of a strip added up for both ends.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn degree_strip(table: &PairTable<'_>, strip: usize, sums: &mut [Lane<f64>]) {
    let mut strengths = Lane::<f64>::zero();
    for tile in table.blocks_of(strip) {
        let mut edges = table.edges[tile].as_slice();
        for block in tile..table.blocks() {
            for row in 0..BLOCK {
                table.strengths(tile * BLOCK + row, block, &mut edges, &mut strengths);
                sums[tile][row] += across(&strengths.0);
                for k in 0..BLOCK {
                    sums[block][k] += strengths[k];
                }
            }
        }
    }
}
