//! Numbers of all nodes, sixteen nodes beside each other, in single precision.

use crate::matrix::Matrix;

/// How many nodes are worked on together.
pub(crate) const LANES: usize = 16;

/// A number of each of sixteen nodes.
pub(crate) type Lane = [f32; LANES];

/// A number of each of sixteen nodes with each of sixteen others.
pub(crate) type Tile = [Lane; LANES];

/// The columns of a matrix, block by block.
pub(super) struct Field {
    columns: usize,
    lanes: Vec<Lane>,
}

impl Field {
    pub(super) fn of(matrix: &Matrix) -> Self {
        let columns = matrix.columns();
        let mut lanes = vec![[0.0; LANES]; matrix.rows().div_ceil(LANES) * columns];
        for node in 0..matrix.rows() {
            let block = &mut lanes[node / LANES * columns..][..columns];
            for (lanes, &value) in block.iter_mut().zip(matrix.row(node)) {
                lanes[node % LANES] = single(value);
            }
        }
        Self { columns, lanes }
    }

    /// One number a node.
    pub(super) fn of_values(values: &[f64]) -> Self {
        let mut lanes = vec![[0.0; LANES]; values.len().div_ceil(LANES)];
        for (node, &value) in values.iter().enumerate() {
            lanes[node / LANES][node % LANES] = single(value);
        }
        Self { columns: 1, lanes }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The columns of sixteen nodes.
    #[inline(always)]
    pub(super) fn block(&self, block: usize) -> &[Lane] {
        &self.lanes[block * self.columns..][..self.columns]
    }

    /// The nodes of a block one after the other, each with its columns.
    pub(super) fn rows(&self, block: usize) -> Vec<f32> {
        let lanes = self.block(block);
        (0..LANES).flat_map(|row| lanes.iter().map(move |lane| lane[row])).collect()
    }
}

/// Numbers too small to matter become 0: arithmetic with them would be many times slower.
pub(crate) fn single(value: f64) -> f32 {
    if value.abs() < 1e-30 { 0.0 } else { value as f32 }
}

/// The squared distances of one node from sixteen others.
#[inline(always)]
pub(crate) fn distances(own: &[f32], theirs: &[Lane]) -> Lane {
    let mut squares = [0.0; LANES];
    for (&own, theirs) in own.iter().zip(theirs) {
        let difference = difference(&[own; LANES], theirs);
        add(&mut squares, &product(&difference, &difference));
    }
    squares
}

/// The same of two nodes: what is read of the others serves both.
#[inline(always)]
pub(crate) fn distances_of_two((one, other): (&[f32], &[f32]), theirs: &[Lane]) -> [Lane; 2] {
    let mut squares = [[0.0; LANES]; 2];
    for ((&one, &other), theirs) in one.iter().zip(other).zip(theirs) {
        let [a, b] = [difference(&[one; LANES], theirs), difference(&[other; LANES], theirs)];
        add(&mut squares[0], &product(&a, &a));
        add(&mut squares[1], &product(&b, &b));
    }
    squares
}

/// How much one node and sixteen others disagree.
#[inline(always)]
pub(crate) fn disagreements(own: &[f32], theirs: &[Lane]) -> Lane {
    let mut agreements = [0.0; LANES];
    for (&own, theirs) in own.iter().zip(theirs) {
        add(&mut agreements, &product(&[own; LANES], theirs));
    }
    agreements.map(|agreement| if agreement < 1.0 { 1.0 - agreement } else { 0.0 })
}

/// Adds lane by lane. Sums in memory could overlap for all the compiler knows, sums in registers cannot.
#[inline(always)]
pub(crate) fn add(sums: &mut Lane, terms: &Lane) {
    let mut added = *sums;
    for k in 0..LANES {
        added[k] += terms[k];
    }
    *sums = added;
}

#[inline(always)]
pub(crate) fn difference(a: &Lane, b: &Lane) -> Lane {
    let mut difference = *a;
    for k in 0..LANES {
        difference[k] -= b[k];
    }
    difference
}

#[inline(always)]
pub(crate) fn product(a: &Lane, b: &Lane) -> Lane {
    let mut product = *a;
    for k in 0..LANES {
        product[k] *= b[k];
    }
    product
}
