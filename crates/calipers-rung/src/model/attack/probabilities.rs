//! How probable every flip is: a list where few are, a table of all pairs where many are.

use super::names::Names;
use super::pairs::Pairs;
use crate::model::graph::Graph;
use crate::model::propagation::pair_table::Tiles;

/// From how many pairs on a table is worth while.
const LEAST_PAIRS: usize = 1 << 16;

/// What share of the pairs, one in so many, must be probable for a table to cost less than lists.
const SHARE: usize = 24;

/// Bytes held per pair that is listed: in the list and, both ways, in the graph made of it.
const BYTES_LISTED: u64 = 8 + 2 * (4 + 8);

/// Probabilities of flips.
pub(super) enum Probabilities {
    /// For every node i, the pairs (i, j) with j > i whose probability is above 0, ascending.
    Few(Vec<Vec<(u32, f32)>>),
    /// Those of all pairs.
    Many {
        /// Under other numbers.
        flips: Tiles,
        /// Which these are.
        names: Names,
    },
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
            Self::Many { flips, names } => {
                let later = node as u32 + 1..names.count() as u32;
                (&[], Some(later.map(move |other| (other, flips.number(names.pair((node as u32, other)))))))
            }
        };
        let from_table = many.into_iter().flatten().filter(|(_, probability)| *probability > 0.0);
        few.iter().copied().chain(from_table)
    }

    /// The same as lists.
    pub(super) fn listed(self) -> Self {
        match self {
            Self::Few(_) => self,
            Self::Many { .. } => Self::Few((0..self.nodes()).map(|node| self.row(node).collect()).collect()),
        }
    }

    /// Adds the probabilities of a node's flips with later ones to its row of values. The node has the number of the
    /// table, if there is one.
    pub(super) fn add_to(&self, node: usize, pairs: &Pairs, row: &mut [f32]) {
        match (self, pairs) {
            (Self::Many { flips, .. }, Pairs::All(_)) => flips.add_to(node, row),
            _ => {
                for (j, probability) in self.row(node) {
                    if let Some(place) = pairs.place(node, j) {
                        row[place] += probability;
                    }
                }
            }
        }
    }

    /// The flips of the greatest probabilities above a bound, of equal ones the smaller pairs; ascending.
    pub(super) fn likeliest(&self, most: usize, above: f32) -> Vec<(u32, u32)> {
        let mut all: Vec<(f32, (u32, u32))> = Vec::new();
        for i in 0..self.nodes() {
            let probable = self.row(i).filter(|(_, probability)| *probability > above);
            all.extend(probable.map(|(j, probability)| (probability, (i as u32, j))));
        }
        if most < all.len() {
            all.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            all.truncate(most);
        }
        let mut flips: Vec<(u32, u32)> = all.into_iter().map(|(_, pair)| pair).collect();
        flips.sort_unstable();
        flips
    }

    /// Forgets all flips but these, which come ascending.
    pub(super) fn retain(&mut self, flips: &[(u32, u32)]) {
        let mut flips = flips.iter().copied().peekable();
        let mut kept = |i: u32| -> Vec<(u32, f32)> {
            let row = self.row(i as usize);
            row.filter(|&(j, _)| flips.next_if_eq(&(i, j)).is_some()).collect()
        };
        *self = Self::Few((0..self.nodes() as u32).map(&mut kept).collect());
    }

    /// How many flips are expected.
    pub(super) fn sum(&self) -> f64 {
        match self {
            Self::Few(rows) => rows.iter().flatten().map(|(_, probability)| f64::from(*probability)).sum(),
            Self::Many { flips, .. } => flips.sum(),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        match self {
            Self::Few(rows) => rows.len(),
            Self::Many { names, .. } => names.count(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_tables_say_the_same() {
        let mut few = Probabilities::Few(vec![vec![(2, 0.5), (3, 0.25)], vec![(2, 1.0)], vec![], vec![]]);
        let (mut flips, order) = (Tiles::new(4), [3, 1, 0, 2]);
        flips.fill(&[0.0, 0.5, 0.25, 1.0, 0.0, 0.0], &order, |probability| probability, 1);
        let mut many = Probabilities::Many { flips, names: Names::same(4).reordered(&order) };
        let graph = Graph::new(4, &[(0, 1), (1, 2), (0, 3)]).unwrap();
        for node in 0..4 {
            assert!(few.row(node).eq(many.row(node)));
        }
        let joined = [(0, 1, 1.0), (0, 2, 0.5), (0, 3, 0.75)];
        assert!(few.joined(&graph).eq(joined) && many.joined(&graph).eq(joined));
        assert_eq!((few.sum().to_bits(), many.sum().to_bits()), (1.75f64.to_bits(), 1.75f64.to_bits()));
        for (most, above, expected) in
            [(2, 0.0, &[(0, 2), (1, 2)][..]), (9, 0.25, &[(0, 2), (1, 2)]), (1, 0.0, &[(1, 2)])]
        {
            assert_eq!(few.likeliest(most, above), expected);
            assert_eq!(many.likeliest(most, above), expected);
        }
        few.retain(&[(0, 3), (1, 2)]);
        many.retain(&[(0, 3), (1, 2)]);
        for (node, left) in [&[(3, 0.25)][..], &[(2, 1.0)], &[], &[]].into_iter().enumerate() {
            assert!(few.row(node).eq(left.iter().copied()) && many.row(node).eq(left.iter().copied()));
        }
    }

    #[test]
    fn a_table_is_for_many_pairs_of_which_many_are_probable() {
        assert!(!Probabilities::are_many(90, 14) && !Probabilities::are_many(1000, 2000));
        assert!(Probabilities::are_many(300_000, 2000));
        assert_eq!(Probabilities::bytes(10, 14), 320);
        assert_eq!(Probabilities::bytes(300_000, 2000), Tiles::bytes(2000));
    }
}
