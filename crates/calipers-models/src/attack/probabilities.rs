//! How probable every flip is: a list where few are, a table of all pairs where many are.

use crate::graph::Graph;
use crate::pair_table::Tiles;

/// From how many pairs on a table is worth while.
const LEAST_PAIRS: usize = 1 << 16;

/// What share of the pairs, one in so many, must be probable for a table to cost less than lists.
const SHARE: usize = 8;

/// Bytes held per pair that is listed: in the list and, both ways, in the graph made of it.
const BYTES_LISTED: u64 = 8 + 2 * (4 + 8);

/// Probabilities of flips.
pub(super) enum Probabilities {
    /// For every node i, the pairs (i, j) with j > i whose probability is above 0, ascending.
    Few(Vec<Vec<(u32, f32)>>),
    /// Those of all pairs.
    Many(Tiles),
}

impl Probabilities {
    /// No flip is probable.
    pub(super) fn none(nodes: usize) -> Self {
        Self::Few(vec![Vec::new(); nodes])
    }

    /// Whether so many probable flips between nodes belong into a table.
    pub(super) fn are_many(probable: usize, nodes: usize) -> bool {
        let pairs = nodes * nodes.saturating_sub(1) / 2;
        pairs >= LEAST_PAIRS && probable > pairs / SHARE
    }

    /// Bytes that so many probable flips between nodes take.
    pub(super) fn bytes(probable: usize, nodes: usize) -> u64 {
        match Self::are_many(probable, nodes) {
            true => Tiles::bytes(nodes),
            false => probable as u64 * BYTES_LISTED,
        }
    }

    /// The flips of a node with later ones that are probable, ascending.
    pub(super) fn row(&self, node: usize) -> impl Iterator<Item = (u32, f32)> {
        let (few, many): (&[(u32, f32)], _) = match self {
            Self::Few(rows) => (&rows[node], None),
            Self::Many(tiles) => (&[], Some(tiles.row(node))),
        };
        let from_table = many.into_iter().flatten().filter(|(_, probability)| *probability > 0.0);
        few.iter().copied().chain(from_table)
    }

    /// Adds the probabilities of a node's flips with later ones to a row of as many.
    pub(super) fn add_to(&self, node: usize, row: &mut [f32]) {
        match self {
            Self::Few(rows) => rows[node].iter().for_each(|&(j, p)| row[j as usize - node - 1] += p),
            Self::Many(tiles) => tiles.add_to(node, row),
        }
    }

    /// How many flips are expected.
    pub(super) fn sum(&self) -> f64 {
        match self {
            Self::Few(rows) => rows.iter().flatten().map(|(_, probability)| f64::from(*probability)).sum(),
            Self::Many(tiles) => tiles.sum(),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        match self {
            Self::Few(rows) => rows.len(),
            Self::Many(tiles) => tiles.nodes(),
        }
    }

    /// Every pair that may be joined, ascending, and how probable it is that it is.
    pub(super) fn joined<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = (u32, u32, f64)> + 'a {
        let pairs = (0..self.nodes()).flat_map(move |node| {
            let i = node as u32;
            let mut edges = graph.later_neighbours(i).iter().copied().peekable();
            let mut flips = self.row(node).peekable();
            std::iter::from_fn(move || {
                let next = match (edges.peek(), flips.peek()) {
                    (None, None) => return None,
                    (Some(&edge), Some(&(flip, _))) => edge.min(flip),
                    (Some(&only), None) | (None, Some(&(only, _))) => only,
                };
                let joined = edges.next_if_eq(&next).is_some();
                let flip =
                    flips.next_if(|&(j, _)| j == next).map_or(0.0, |(_, probability)| f64::from(probability));
                Some((i, next, if joined { 1.0 - flip } else { flip }))
            })
        });
        pairs.filter(|&(_, _, strength)| strength > 0.0)
    }
}

/// Row i: the pairs (i, i + 1), (i, i + 2), ...
pub(super) fn rows_of(table: &mut [f32], nodes: usize) -> Vec<&mut [f32]> {
    let mut rest = table;
    let mut rows = Vec::with_capacity(nodes);
    for node in 0..nodes {
        let (row, after) = rest.split_at_mut(nodes - 1 - node);
        rows.push(row);
        rest = after;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_tables_say_the_same() {
        let few = Probabilities::Few(vec![vec![(2, 0.5), (3, 0.25)], vec![(2, 1.0)], vec![], vec![]]);
        let mut tiles = Tiles::new(4);
        tiles.fill(&[0.0, 0.5, 0.25, 1.0, 0.0, 0.0], |probability| probability, 1);
        let many = Probabilities::Many(tiles);
        let graph = Graph::new(4, &[(0, 1), (1, 2), (0, 3)]).unwrap();
        for node in 0..4 {
            assert!(few.row(node).eq(many.row(node)));
        }
        let joined = [(0, 1, 1.0), (0, 2, 0.5), (0, 3, 0.75)];
        assert!(few.joined(&graph).eq(joined) && many.joined(&graph).eq(joined));
        assert_eq!((few.sum().to_bits(), many.sum().to_bits()), (1.75f64.to_bits(), 1.75f64.to_bits()));
    }

    #[test]
    fn a_table_is_for_many_pairs_of_which_many_are_probable() {
        assert!(!Probabilities::are_many(90, 14) && !Probabilities::are_many(1000, 2000));
        assert!(Probabilities::are_many(300_000, 2000));
        assert_eq!(Probabilities::bytes(10, 14), 320);
        assert_eq!(Probabilities::bytes(300_000, 2000), Tiles::bytes(2000));
    }
}
