//! Numbers of all nodes, sixteen nodes beside each other.

use crate::matrix::Matrix;
use crate::penalty::Real;

/// How many nodes are worked on together.
pub(crate) const LANES: usize = 16;

/// A number of each of sixteen nodes.
pub(crate) type Lane<T> = [T; LANES];

/// The columns of a matrix, block by block.
pub(super) struct Field<T> {
    columns: usize,
    lanes: Vec<Lane<T>>,
}

impl<T: Real> Field<T> {
    pub(super) fn of(matrix: &Matrix) -> Self {
        let columns = matrix.columns();
        let mut lanes = vec![[T::of(0.0); LANES]; matrix.rows().div_ceil(LANES) * columns];
        for node in 0..matrix.rows() {
            let block = &mut lanes[node / LANES * columns..][..columns];
            for (lanes, &value) in block.iter_mut().zip(matrix.row(node)) {
                lanes[node % LANES] = small(value);
            }
        }
        Self { columns, lanes }
    }

    /// One number a node.
    pub(super) fn of_values(values: &[f64]) -> Self {
        let mut lanes = vec![[T::of(0.0); LANES]; values.len().div_ceil(LANES)];
        for (node, &value) in values.iter().enumerate() {
            lanes[node / LANES][node % LANES] = small(value);
        }
        Self { columns: 1, lanes }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The columns of sixteen nodes.
    #[inline(always)]
    pub(super) fn block(&self, block: usize) -> &[Lane<T>] {
        &self.lanes[block * self.columns..][..self.columns]
    }

    /// The nodes of a block one after the other, each with its columns.
    pub(super) fn rows(&self, block: usize) -> Vec<T> {
        let lanes = self.block(block);
        (0..LANES).flat_map(|row| lanes.iter().map(move |lane| lane[row])).collect()
    }
}

/// Numbers too small to matter become 0: arithmetic with them would be many times slower.
pub(crate) fn small<T: Real>(value: f64) -> T {
    T::of(if value.abs() < 1e-30 { 0.0 } else { value })
}

/// The squared distances of one node from sixteen others.
#[inline(always)]
pub(super) fn distances<T: Real>(own: &[T], theirs: &[Lane<T>]) -> Lane<T> {
    let mut squares = [T::of(0.0); LANES];
    for c in 0..own.len() {
        let difference = difference(&[own[c]; LANES], &theirs[c]);
        add(&mut squares, &product(&difference, &difference));
    }
    squares
}

/// How much one node and sixteen others disagree.
#[inline(always)]
pub(super) fn disagreements<T: Real>(own: &[T], theirs: &[Lane<T>]) -> Lane<T> {
    let mut agreements = [T::of(0.0); LANES];
    for c in 0..own.len() {
        add(&mut agreements, &product(&[own[c]; LANES], &theirs[c]));
    }
    agreements.map(|agreement| (T::of(1.0) - agreement).or_greater(T::of(0.0)))
}

/// Adds lane by lane. Sums in memory could overlap for all the compiler knows, sums in registers cannot.
#[inline(always)]
pub(super) fn add<T: Real>(sums: &mut Lane<T>, terms: &Lane<T>) {
    let mut added = *sums;
    for k in 0..LANES {
        added[k] = added[k] + terms[k];
    }
    *sums = added;
}

#[inline(always)]
pub(super) fn difference<T: Real>(a: &Lane<T>, b: &Lane<T>) -> Lane<T> {
    let mut difference = *a;
    for k in 0..LANES {
        difference[k] = difference[k] - b[k];
    }
    difference
}

#[inline(always)]
pub(super) fn product<T: Real>(a: &Lane<T>, b: &Lane<T>) -> Lane<T> {
    let mut product = *a;
    for k in 0..LANES {
        product[k] = product[k] * b[k];
    }
    product
}
