//! The difference of an edge: how far apart the normalised features of its ends are.

use calipers_core::stop::Turns;
use multiversion::multiversion;

use crate::robustness::unit::edges::Edge;
use crate::robustness::unit::matrix::Matrix;

/// Edges that are measured side by side, and columns of each that are looked at together.
const SIDE: usize = 4;

/// Edges whose features are fetched before any is measured, so that one need not wait for another.
const FETCHED: usize = 32;

/// Columns that are fetched at a time.
const COLUMNS: usize = 256;

/// Some numbers of a node.
type Piece = [f64; SIDE];

/// The difference of each edge, by pinned operations in double precision: both ends divided by the
/// roots of their degrees, subtracted, squared and summed in column order; of the sum the root.
pub(in crate::robustness) fn differences(
    features: Matrix<'_>,
    edges: &[Edge],
    degrees: &[u32],
    single: bool,
) -> Vec<f64> {
    let pieces = features.columns.min(COLUMNS).div_ceil(SIDE);
    let (mut left, mut right) = (Side::new(pieces), Side::new(pieces));
    let mut found = Vec::with_capacity(edges.len());
    let mut turns = Turns::every(64);
    for block in edges.chunks(FETCHED) {
        if turns.asked() {
            found.resize(edges.len(), 0.0);
            break;
        }
        let mut sums = [[0.0; SIDE]; FETCHED / SIDE];
        for start in (0..features.columns).step_by(COLUMNS) {
            let columns = start..features.columns.min(start + COLUMNS);
            left.fetch(&features, block.iter().map(|edge| edge.0), columns.clone(), degrees, single);
            right.fetch(&features, block.iter().map(|edge| edge.1), columns, degrees, single);
            add_squares(&left, &right, &mut sums);
        }
        found.extend(sums.as_flattened()[..block.len()].iter().map(|sum| sum.sqrt()));
    }
    found
}

/// One end of each edge of a block.
struct Side {
    /// Numbers of the nodes, each node's filled up with zeros, which add nothing.
    numbers: Vec<Piece>,
    /// Pieces of a node.
    pieces: usize,
    roots: [f64; FETCHED],
}

impl Side {
    fn new(pieces: usize) -> Self {
        Self { numbers: vec![[0.0; SIDE]; pieces * FETCHED], pieces, roots: [1.0; FETCHED] }
    }

    #[inline(always)]
    fn lines(&self, edges: std::ops::Range<usize>) -> [&[Piece]; SIDE] {
        let numbers = &self.numbers[edges.start * self.pieces..edges.end * self.pieces];
        let (first, second) = numbers.split_at(2 * self.pieces);
        let ((a, b), (c, d)) = (first.split_at(self.pieces), second.split_at(self.pieces));
        [a, b, c, d]
    }

    fn fetch(
        &mut self,
        features: &Matrix<'_>,
        nodes: impl Iterator<Item = u32>,
        columns: std::ops::Range<usize>,
        degrees: &[u32],
        single: bool,
    ) {
        let lines = self.numbers.chunks_exact_mut(self.pieces);
        for ((line, root), node) in lines.zip(&mut self.roots).zip(nodes) {
            let line = line.as_flattened_mut();
            let (line, rest) = line.split_at_mut(columns.len());
            features.data.widen(node as usize * features.columns + columns.start, line);
            if single {
                line.iter_mut().for_each(|x| *x = f64::from(*x as f32));
            }
            rest.fill(0.0);
            *root = f64::from(degrees[node as usize]).sqrt();
        }
    }
}

/// Adds the squared differences of some columns, one column after the other: their order is part of
/// the definition.
#[multiversion(targets("x86_64+avx2"))]
fn add_squares(left: &Side, right: &Side, sums: &mut [[f64; SIDE]; FETCHED / SIDE]) {
    for (quad, sums) in sums.iter_mut().enumerate() {
        let edges = quad * SIDE..(quad + 1) * SIDE;
        let [a, b, c, d] = left.lines(edges.clone());
        let [e, f, g, h] = right.lines(edges.clone());
        let (left_roots, right_roots) = (&left.roots[edges.clone()], &right.roots[edges]);
        let lefts = a.iter().zip(b).zip(c.iter().zip(d));
        let rights = e.iter().zip(f).zip(g.iter().zip(h));
        let mut totals = *sums;
        for (((a, b), (c, d)), ((e, f), (g, h))) in lefts.zip(rights) {
            let (lefts, rights) = ([a, b, c, d], [e, f, g, h]);
            let mut squares = [[0.0; SIDE]; SIDE];
            for edge in 0..SIDE {
                for column in 0..SIDE {
                    let t = lefts[edge][column] / left_roots[edge] - rights[edge][column] / right_roots[edge];
                    squares[column][edge] = t * t;
                }
            }
            for column in squares {
                for edge in 0..SIDE {
                    totals[edge] += column[edge];
                }
            }
        }
        *sums = totals;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use calipers_core::NumberSlice;

    /// The definition: divide, subtract, square, add in order, take the root.
    fn oracle(features: &[f64], columns: usize, edges: &[Edge], degrees: &[u32]) -> Vec<u64> {
        let difference = |&(i, j): &Edge| {
            let mut u = 0.0;
            for c in 0..columns {
                let g = |node: u32| {
                    features[node as usize * columns + c] / f64::from(degrees[node as usize]).sqrt()
                };
                let t = g(i) - g(j);
                u += t * t;
            }
            f64::sqrt(u).to_bits()
        };
        edges.iter().map(difference).collect()
    }

    proptest! {
        #[test]
        fn the_operations_are_those_of_the_definition(
            columns in prop_oneof![1usize..20, 250usize..270],
            seed in prop::collection::vec(-5.0..5.0f64, 97),
            edges in prop::collection::vec((0u32..8, 0u32..8), 0..80),
            degrees in prop::collection::vec(1u32..9, 8),
        ) {
            let numbers: Vec<f64> = seed.iter().cycle().take(8 * columns).copied().collect();
            let features = Matrix::new(8, columns, NumberSlice::F64(&numbers)).unwrap();
            let bits = |values: Vec<f64>| -> Vec<u64> { values.into_iter().map(f64::to_bits).collect() };
            let found = bits(differences(features, &edges, &degrees, false));
            prop_assert_eq!(found, oracle(&numbers, columns, &edges, &degrees));
            let rounded: Vec<f64> = numbers.iter().map(|&x| f64::from(x as f32)).collect();
            let found = bits(differences(features, &edges, &degrees, true));
            prop_assert_eq!(found, oracle(&rounded, columns, &edges, &degrees));
        }
    }
}
