//! A number for each pair of nodes, laid out in the order in which pairs are visited.

use super::field::{BLOCK, Lane};
use crate::parallel;

/// Numbers of the nodes of a block with those of another.
type Tile = [Lane<f32>; BLOCK];

/// Numbers of the pairs i < j, a block of rows by a block of columns at a time; 0 where there is no pair.
pub(crate) struct Tiles {
    nodes: usize,
    tiles: Vec<Tile>,
}

impl Tiles {
    /// All numbers are 0.
    pub(crate) fn new(nodes: usize) -> Self {
        let blocks = nodes.div_ceil(BLOCK);
        Self { nodes, tiles: vec![[Lane::zero(); BLOCK]; blocks * (blocks + 1) / 2] }
    }

    /// How many bytes so many nodes take.
    pub(crate) fn bytes(nodes: usize) -> u64 {
        let blocks = nodes.div_ceil(BLOCK) as u64;
        blocks * (blocks + 1) / 2 * size_of::<Tile>() as u64
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    fn blocks(&self) -> usize {
        self.nodes.div_ceil(BLOCK)
    }

    /// The numbers of a node with the nodes of a block that is not before its own.
    #[inline(always)]
    pub(super) fn lane(&self, node: usize, block: usize) -> &Lane<f32> {
        let tile = node / BLOCK;
        &self.tiles[tile * (2 * self.blocks() - tile - 1) / 2 + block][node % BLOCK]
    }

    /// The numbers of a node with later ones.
    pub(crate) fn row(&self, node: usize) -> impl Iterator<Item = (u32, f32)> {
        (node / BLOCK..self.blocks())
            .flat_map(move |block| self.later(node, block))
            .enumerate()
            .map(move |(k, number)| ((node + 1 + k) as u32, *number))
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

    /// Takes new numbers from rows (i, i + 1), (i, i + 2), ... one behind the other.
    pub(crate) fn fill(&mut self, rows: &[f32], number: impl Fn(f32) -> f32 + Sync, threads: usize) {
        let (nodes, blocks) = (self.nodes, self.blocks());
        let mut of_blocks = Vec::with_capacity(blocks);
        let mut rest = self.tiles.as_mut_slice();
        for block in 0..blocks {
            let (tiles, after) = rest.split_at_mut(blocks - block);
            of_blocks.push(tiles);
            rest = after;
        }
        parallel::each(threads, rows.len(), of_blocks.into_iter().enumerate(), |(first, tiles)| {
            for node in first * BLOCK..((first + 1) * BLOCK).min(nodes) {
                let mut row = &rows[node * (2 * nodes - node - 1) / 2..][..nodes - 1 - node];
                for (k, tile) in tiles.iter_mut().enumerate() {
                    let lane = &mut tile[node % BLOCK][later(node, first + k, nodes)];
                    let values = row.split_off(..lane.len()).unwrap_or_default();
                    lane.iter_mut().zip(values).for_each(|(lane, &value)| *lane = number(value));
                }
            }
        });
    }

    /// The sum of all numbers.
    pub(crate) fn sum(&self) -> f64 {
        let mut sums = [0.0; BLOCK];
        for lane in self.tiles.as_flattened() {
            for k in 0..BLOCK {
                sums[k] += f64::from(lane[k]);
            }
        }
        sums.iter().sum()
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
            tiles.fill(&rows, |number| 2.0 * number, 3);
            let back: Vec<(u32, f32)> = (0..nodes).flat_map(|node| tiles.row(node)).collect();
            assert_eq!(back.len(), count);
            for ((other, number), expected) in back.iter().zip(&rows) {
                assert!(*number > 1.9 * expected && (*other as usize) < nodes, "{nodes}");
            }
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
