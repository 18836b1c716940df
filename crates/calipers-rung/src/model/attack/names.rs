//! Other numbers for the nodes of a graph, by which those with many probable flips come first: pairs that are not
//! probable then lie beside each other in the table of all pairs, which passes over whole rows of them.

use std::cmp::Reverse;

use crate::model::parallel;

/// Numbers of nodes.
pub(super) struct Names {
    /// The node of each number.
    nodes: Vec<u32>,
    /// The number of each node.
    numbers: Vec<u32>,
}

impl Names {
    /// Every node's number is its own.
    pub(super) fn same(nodes: usize) -> Self {
        Self::of((0..nodes as u32).collect())
    }

    /// Numbers of the nodes in this order.
    fn of(nodes: Vec<u32>) -> Self {
        let mut numbers = vec![0; nodes.len()];
        for (number, &node) in (0..).zip(&nodes) {
            numbers[node as usize] = number;
        }
        Self { nodes, numbers }
    }

    /// These numbers in another order.
    pub(super) fn reordered(&self, order: &[u32]) -> Self {
        Self::of(order.iter().map(|&number| self.node(number)).collect())
    }

    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(super) fn node(&self, number: u32) -> u32 {
        self.nodes[number as usize]
    }

    #[inline]
    pub(super) fn number(&self, node: u32) -> u32 {
        self.numbers[node as usize]
    }

    /// A pair of nodes by their numbers, the smaller first.
    pub(super) fn pair(&self, (i, j): (u32, u32)) -> (u32, u32) {
        let (one, other) = (self.number(i), self.number(j));
        (one.min(other), one.max(other))
    }
}

/// All numbers, those of which the most pairs have a value above a bound first. Row i holds the values of the pairs
/// (i, i + 1), (i, i + 2), ...
pub(super) fn by_values_above(rows: &[&mut [f32]], bound: f64, threads: usize) -> Vec<u32> {
    let nodes = rows.len();
    let size = parallel::block(threads, nodes);
    let mut counts = vec![vec![0; nodes]; nodes.div_ceil(size)];
    let blocks = rows.chunks(size).zip(&mut counts).enumerate();
    parallel::each(threads, nodes * nodes / 2, blocks, |(block, (rows, counts))| {
        for (number, row) in (block * size..).zip(rows) {
            let (own, later) = counts[number..].split_at_mut(1);
            own[0] += count_each(row, bound, later);
        }
    });
    let count = |&number: &u32| Reverse(counts.iter().map(|counts| counts[number as usize]).sum::<u32>());
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    order.sort_by_cached_key(count);
    order
}

/// Counts values above a bound: each for itself, and all together.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn count_each(values: &[f32], bound: f64, counts: &mut [u32]) -> u32 {
    let mut all = 0;
    for (count, &value) in counts.iter_mut().zip(values) {
        let above = u32::from(f64::from(value) > bound);
        *count += above;
        all += above;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_many_high_values_come_first() {
        let (mut first, mut second, mut third) = ([0.9, 0.1, 0.2], [0.5, 0.8], [0.1]);
        let rows: [&mut [f32]; 4] = [&mut first, &mut second, &mut third, &mut []];
        for threads in 1..4 {
            assert_eq!(by_values_above(&rows, 0.4, threads), [1, 0, 2, 3]);
            assert_eq!(by_values_above(&rows, 0.95, threads), [0, 1, 2, 3]);
            assert_eq!(by_values_above(&[&mut []], 0.0, threads), [0]);
        }
    }

    #[test]
    fn numbers_lead_back_to_their_nodes() {
        let names = Names::same(4).reordered(&[2, 0, 3, 1]).reordered(&[3, 2, 1, 0]);
        assert_eq!((0..4).map(|number| names.node(number)).collect::<Vec<_>>(), [1, 3, 0, 2]);
        assert!((0..4).all(|node| names.node(names.number(node)) == node));
        assert_eq!(names.pair((0, 1)), (0, 2));
    }
}
