//! A number for each pair of nodes, laid out in the order in which pairs are visited.

use super::field::{LANES, Lane};
use crate::parallel;

/// Numbers of the pairs i < j, sixteen rows by sixteen columns at a time; 0 where there is no pair.
pub(crate) struct Tiles {
    nodes: usize,
    lanes: Vec<Lane<f32>>,
}

impl Tiles {
    /// All numbers are 0.
    pub(crate) fn new(nodes: usize) -> Self {
        let blocks = nodes.div_ceil(LANES);
        Self { nodes, lanes: vec![[0.0; LANES]; blocks * (blocks + 1) / 2 * LANES] }
    }

    /// How many bytes so many nodes take.
    pub(crate) fn bytes(nodes: usize) -> u64 {
        let blocks = nodes.div_ceil(LANES) as u64;
        blocks * (blocks + 1) / 2 * (LANES * size_of::<Lane<f32>>()) as u64
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    fn blocks(&self) -> usize {
        self.nodes.div_ceil(LANES)
    }

    /// The numbers of a node with the nodes of a block that is not before its own.
    #[inline(always)]
    pub(super) fn lane(&self, node: usize, block: usize) -> &Lane<f32> {
        let tile = node / LANES;
        let before = tile * self.blocks() - tile * tile.saturating_sub(1) / 2 - tile;
        &self.lanes[(before + block) * LANES + node % LANES]
    }

    /// The numbers of a node with later ones.
    pub(crate) fn row(&self, node: usize) -> impl Iterator<Item = (u32, f32)> {
        (node / LANES..self.blocks())
            .flat_map(move |block| (0..LANES).map(move |k| (block * LANES + k, self.lane(node, block)[k])))
            .filter(move |(other, _)| (node + 1..self.nodes).contains(other))
            .map(|(other, number)| (other as u32, number))
    }

    /// Takes new numbers from rows (i, i + 1), (i, i + 2), ... one behind the other.
    pub(crate) fn fill(&mut self, rows: &[f32], number: impl Fn(f32) -> f32 + Sync, threads: usize) {
        let (nodes, blocks) = (self.nodes, self.blocks());
        let mut tiles = Vec::with_capacity(blocks);
        let mut rest = self.lanes.as_mut_slice();
        for tile in 0..blocks {
            let (lanes, after) = rest.split_at_mut((blocks - tile) * LANES);
            tiles.push(lanes);
            rest = after;
        }
        parallel::each(threads, rows.len(), tiles.into_iter().enumerate(), |(tile, lanes)| {
            for node in tile * LANES..((tile + 1) * LANES).min(nodes) {
                let row = &rows[node * (2 * nodes - node - 1) / 2..][..nodes - 1 - node];
                for (k, &value) in row.iter().enumerate() {
                    let other = node + 1 + k;
                    lanes[(other / LANES - tile) * LANES + node % LANES][other % LANES] = number(value);
                }
            }
        });
    }

    /// The sum of all numbers.
    pub(crate) fn sum(&self) -> f64 {
        let mut sums = [0.0; LANES];
        for lane in &self.lanes {
            for k in 0..LANES {
                sums[k] += f64::from(lane[k]);
            }
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_the_order_of_the_pairs() {
        for nodes in [1, 2, 15, 16, 17, 50] {
            let count = nodes * (nodes - 1) / 2;
            let rows: Vec<f32> = (1..=count).map(|k| k as f32).collect();
            let mut tiles = Tiles::new(nodes);
            tiles.fill(&rows, |number| 2.0 * number, 3);
            let back: Vec<(u32, f32)> = (0..nodes).flat_map(|node| tiles.row(node)).collect();
            assert_eq!(back.len(), count);
            for ((other, number), expected) in back.iter().zip(&rows) {
                assert!(*number > 1.9 * expected && (*other as usize) < nodes, "{nodes}");
            }
            assert_eq!(tiles.sum().to_bits(), ((count * (count + 1)) as f64).to_bits());
            assert_eq!(Tiles::bytes(nodes), (tiles.lanes.len() * LANES * 4) as u64);
        }
    }
}
