//! Numbers of all nodes, sixty-four nodes beside each other and four columns at a time: enough for loops that
//! fill whole registers, little enough to stay close at hand.

use std::ops::{Deref, DerefMut};

use crate::model::matrix::{Matrix, WIDTH};
use crate::model::penalty::Real;

/// How many nodes are met together.
pub(crate) const BLOCK: usize = 64;

/// A number of each node of a block, whole lines of memory: a register that is read or written never crosses one.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Lane<T>(pub(crate) [T; BLOCK]);

impl<T> Deref for Lane<T> {
    type Target = [T; BLOCK];

    #[inline(always)]
    fn deref(&self) -> &[T; BLOCK] {
        &self.0
    }
}

impl<T> DerefMut for Lane<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; BLOCK] {
        &mut self.0
    }
}

impl<T: Real> Lane<T> {
    pub(crate) fn zero() -> Self {
        Self([T::of(0.0); BLOCK])
    }
}

/// Four columns of a block.
pub(crate) type Columns<T> = [Lane<T>; WIDTH];

/// The columns of a matrix, node by node. Nodes and columns that are missing are 0.
pub(crate) struct Rows<T> {
    /// Fours of columns.
    fours: usize,
    /// As many nodes as whole blocks have.
    nodes: Vec<[T; WIDTH]>,
}

impl<T: Real> Rows<T> {
    pub(crate) fn of(matrix: &Matrix) -> Self {
        Self::with(matrix.rows(), matrix.columns(), |node, column| matrix.row(node)[column])
    }

    fn with(nodes: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let (fours, blocks) = (columns.div_ceil(WIDTH), nodes.div_ceil(BLOCK));
        let mut rows = Self { fours, nodes: vec![[T::of(0.0); WIDTH]; blocks * BLOCK * fours] };
        for node in 0..nodes {
            for column in 0..columns {
                rows.nodes[node * fours + column / WIDTH][column % WIDTH] = small(value(node, column));
            }
        }
        rows
    }

    /// The columns of a node.
    #[inline(always)]
    pub(crate) fn node(&self, node: usize) -> &[[T; WIDTH]] {
        &self.nodes[node * self.fours..][..self.fours]
    }
}

/// The columns of a matrix, block by block and node by node. Nodes and columns that are missing are 0.
pub(crate) struct Field<T> {
    blocks: Vec<Columns<T>>,
    rows: Rows<T>,
}

impl<T: Real> Field<T> {
    pub(crate) fn of(matrix: &Matrix) -> Self {
        Self::from_rows(Rows::of(matrix))
    }

    /// The columns of a matrix and one more, in which every number is 1.
    pub(super) fn with_ones(matrix: &Matrix) -> Self {
        let columns = matrix.columns();
        Self::from_rows(Rows::with(matrix.rows(), columns + 1, |node, column| {
            if column < columns { matrix.row(node)[column] } else { 1.0 }
        }))
    }

    fn from_rows(rows: Rows<T>) -> Self {
        let fours = rows.fours;
        let mut blocks = vec![[Lane::zero(); WIDTH]; rows.nodes.len() / BLOCK];
        for (place, numbers) in rows.nodes.iter().enumerate() {
            let (node, four) = (place / fours, place % fours);
            for (lane, &number) in blocks[node / BLOCK * fours + four].iter_mut().zip(numbers) {
                lane[node % BLOCK] = number;
            }
        }
        Self { blocks, rows }
    }

    pub(super) fn fours(&self) -> usize {
        self.rows.fours
    }

    /// The columns of a block.
    #[inline(always)]
    pub(crate) fn block(&self, block: usize) -> &[Columns<T>] {
        let fours = self.rows.fours;
        &self.blocks[block * fours..][..fours]
    }

    /// The columns of a node.
    #[inline(always)]
    pub(crate) fn node(&self, node: usize) -> &[[T; WIDTH]] {
        self.rows.node(node)
    }

    /// The columns of two nodes.
    #[inline(always)]
    pub(crate) fn two(&self, nodes: &[usize; 2]) -> [&[[T; WIDTH]]; 2] {
        [self.node(nodes[0]), self.node(nodes[1])]
    }
}

/// One number a node, block by block.
pub(crate) fn lanes<T: Real>(values: &[f64]) -> Vec<Lane<T>> {
    let mut lanes = vec![Lane::zero(); values.len().div_ceil(BLOCK)];
    for (node, &value) in values.iter().enumerate() {
        lanes[node / BLOCK][node % BLOCK] = small(value);
    }
    lanes
}

/// Numbers too small to matter become 0: arithmetic with them would be many times slower.
fn small<T: Real>(value: f64) -> T {
    T::of(if value.abs() < 1e-30 { 0.0 } else { value })
}

/// Writes the squared distances of two nodes from those of a block. What is read of the block serves both.
#[inline(always)]
pub(crate) fn distances<T: Real>(own: [&[[T; WIDTH]]; 2], theirs: &[Columns<T>], out: &mut [Lane<T>; 2]) {
    let [first, second] = out;
    for (four, ((one, other), theirs)) in own[0].iter().zip(own[1]).zip(theirs).enumerate() {
        for k in 0..BLOCK {
            let (mut a, mut b) = if four == 0 { (T::of(0.0), T::of(0.0)) } else { (first[k], second[k]) };
            for c in 0..WIDTH {
                let (of_one, of_other) = (one[c] - theirs[c][k], other[c] - theirs[c][k]);
                a = of_one.times_plus(of_one, a);
                b = of_other.times_plus(of_other, b);
            }
            (first[k], second[k]) = (a, b);
        }
    }
}

/// Writes how much two nodes and those of a block disagree.
#[inline(always)]
pub(crate) fn disagreements<T: Real>(own: [&[[T; WIDTH]]; 2], theirs: &[Columns<T>], out: &mut [Lane<T>; 2]) {
    for (out, own) in out.iter_mut().zip(own) {
        *out = Lane::zero();
        for (own, theirs) in own.iter().zip(theirs) {
            add_products(out, own, theirs);
        }
        for agreement in out.iter_mut() {
            *agreement = (T::of(1.0) - *agreement).or_greater(T::of(0.0));
        }
    }
}

/// Adds four columns of a block, each times a number of its own.
#[inline(always)]
pub(crate) fn add_products<T: Real>(sums: &mut Lane<T>, factors: &[T; WIDTH], columns: &Columns<T>) {
    for k in 0..BLOCK {
        let mut sum = sums[k];
        for c in 0..WIDTH {
            sum = factors[c].times_plus(columns[c][k], sum);
        }
        sums[k] = sum;
    }
}
