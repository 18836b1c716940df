//! A number for each pair of nodes, laid out in the order in which pairs are visited.

use super::field::{BLOCK, Lane};
use crate::model::parallel;

/// Numbers of the nodes of a block with those of another.
type Tile = [Lane<f32>; BLOCK];

/// Numbers of the pairs i < j, a block of rows by a block of columns at a time; 0 where there is no pair.
pub(crate) struct Tiles {
    nodes: usize,
    tiles: Vec<Tile>,
    /// For each tile, a bit for each row in which a number is not 0.
    filled: Vec<u64>,
}

impl Tiles {
    /// All numbers are 0.
    pub(crate) fn new(nodes: usize) -> Self {
        let blocks = nodes.div_ceil(BLOCK);
        let count = blocks * (blocks + 1) / 2;
        Self { nodes, tiles: vec![[Lane::zero(); BLOCK]; count], filled: vec![0; count] }
    }

    /// How many bytes so many nodes take.
    pub(crate) fn bytes(nodes: usize) -> u64 {
        let blocks = nodes.div_ceil(BLOCK) as u64;
        blocks * (blocks + 1) / 2 * size_of::<Tile>() as u64
    }

    fn blocks(&self) -> usize {
        self.nodes.div_ceil(BLOCK)
    }

    /// Which of all tiles is that of two blocks, of which the second is not before the first.
    #[inline(always)]
    fn place(&self, block: usize, other: usize) -> usize {
        block * (2 * self.blocks() - block - 1) / 2 + other
    }

    /// The numbers of a node with the nodes of a block that is not before its own.
    #[inline(always)]
    pub(super) fn lane(&self, node: usize, block: usize) -> &Lane<f32> {
        &self.tiles[self.place(node / BLOCK, block)][node % BLOCK]
    }

    /// The rows of a block in which a number with another is not 0, a bit each.
    pub(super) fn filled(&self, block: usize, other: usize) -> u64 {
        self.filled[self.place(block, other)]
    }

    /// The number of a pair i < j.
    pub(crate) fn number(&self, (i, j): (u32, u32)) -> f32 {
        self.lane(i as usize, j as usize / BLOCK)[j as usize % BLOCK]
    }

    /// Adds the numbers of a node with later ones to a row of as many.
    pub(crate) fn add_to(&self, node: usize, row: &mut [f32]) {
        let mut rest = row;
        for block in node / BLOCK..self.blocks() {
            let numbers = self.later(node, block);
            let sums = rest.split_off_mut(..numbers.len()).unwrap_or_default();
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
    }

    /// The numbers of a node with the later ones of a block.
    #[inline(always)]
    fn later(&self, node: usize, block: usize) -> &[f32] {
        &self.lane(node, block)[later(node, block, self.nodes)]
    }

    /// Takes new numbers for the pairs of nodes in another order, from rows (i, i + 1), (i, i + 2), ... one behind
    /// the other in the order before.
    pub(crate) fn fill(
        &mut self,
        rows: &[f32],
        order: &[u32],
        number: impl Fn(f32) -> f32 + Sync,
        threads: usize,
    ) {
        let (nodes, blocks) = (self.nodes, self.blocks());
        let mut of_blocks = Vec::with_capacity(blocks);
        let mut rest = (self.tiles.as_mut_slice(), self.filled.as_mut_slice());
        for block in 0..blocks {
            let (tiles, tiles_after) = rest.0.split_at_mut(blocks - block);
            let (filled, filled_after) = rest.1.split_at_mut(blocks - block);
            of_blocks.push(tiles.iter_mut().zip(filled));
            rest = (tiles_after, filled_after);
        }
        let before = |one: u32, other: u32| {
            let (i, j) = (one.min(other) as usize, one.max(other) as usize);
            rows[i * (2 * nodes - i - 1) / 2 + j - i - 1]
        };
        parallel::each(threads, rows.len(), of_blocks.into_iter().enumerate(), |(first, tiles)| {
            for (block, (tile, filled)) in (first..).zip(tiles) {
                *filled = 0;
                for node in first * BLOCK..((first + 1) * BLOCK).min(nodes) {
                    let (own, later) = (order[node], later(node, block, nodes));
                    let others = &order[block * BLOCK..][later.clone()];
                    let lane = &mut tile[node % BLOCK][later];
                    lane.iter_mut().zip(others).for_each(|(lane, &other)| *lane = number(before(own, other)));
                    let any = lane.iter().fold(false, |any, &number| any | (number > 0.0));
                    *filled |= u64::from(any) << (node % BLOCK);
                }
            }
        });
    }

    /// The sum of all numbers.
    pub(crate) fn sum(&self) -> f64 {
        let mut sums = [0.0; BLOCK];
        add_filled(&self.tiles, &self.filled, &mut sums);
        sums.iter().sum()
    }
}

/// Adds the rows of tiles in which a number is not 0.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_filled(tiles: &[Tile], filled: &[u64], sums: &mut [f64; BLOCK]) {
    for (tile, &filled) in tiles.iter().zip(filled) {
        let mut rows = filled;
        while rows != 0 {
            let lane = &tile[rows.trailing_zeros() as usize % BLOCK];
            for k in 0..BLOCK {
                sums[k] += f64::from(lane[k]);
            }
            rows &= rows - 1;
        }
    }
}

/// Where in its lane the nodes of a block stand that come later than a node.
#[inline(always)]
fn later(node: usize, block: usize, nodes: usize) -> std::ops::Range<usize> {
    let first = block * BLOCK;
    let end = BLOCK.min(nodes - first);
    (node + 1).saturating_sub(first).min(end)..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_the_order_of_the_pairs() {
        for nodes in [1, 2, 63, 64, 65, 150] {
            let count = nodes * (nodes - 1) / 2;
            let rows: Vec<f32> = (1..=count).map(|k| k as f32).collect();
            let mut tiles = Tiles::new(nodes);
            // What comes first comes last, and the other way round.
            let order: Vec<u32> = (0..nodes as u32).rev().collect();
            tiles.fill(&rows, &order, |number| if number > 3.5 { number } else { 0.0 }, 2);
            let pairs = || (0..nodes as u32).flat_map(|i| (i + 1..nodes as u32).map(move |j| (i, j)));
            for ((i, j), &number) in pairs().zip(&rows) {
                let expected = if number > 3.5 { number } else { 0.0 };
                assert_eq!(
                    tiles.number((order[j as usize], order[i as usize])).to_bits(),
                    expected.to_bits()
                );
            }
            for node in 0..nodes {
                for block in node / BLOCK..nodes.div_ceil(BLOCK) {
                    let any = tiles.lane(node, block).iter().any(|&number| number > 0.0);
                    assert_eq!(tiles.filled(node / BLOCK, block) >> (node % BLOCK) & 1 == 1, any);
                }
            }
            let same: Vec<u32> = (0..nodes as u32).collect();
            tiles.fill(&rows, &same, |number| 2.0 * number, 3);
            let mut sums = rows.clone();
            let mut rest = sums.as_mut_slice();
            for node in 0..nodes {
                let (row, after) = rest.split_at_mut(nodes - 1 - node);
                tiles.add_to(node, row);
                rest = after;
            }
            assert!(sums.iter().zip(&rows).all(|(sum, number)| (sum - 3.0 * number).abs() < 0.1), "{nodes}");
            assert_eq!(tiles.sum().to_bits(), ((count * (count + 1)) as f64).to_bits());
            assert_eq!(Tiles::bytes(nodes), (tiles.tiles.len() * BLOCK * BLOCK * 4) as u64);
        }
    }
}
