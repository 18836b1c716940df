//! A block of pairs: the few flips that an attack considers at a time, drawn at random and renewed.
//!
//! A graph of a hundred thousand nodes has five thousand million pairs, but only so many of them are worth a flip as
//! the budget allows. Pairs that turn out probable stay, the others make room for new ones, so that in the end
//! many more pairs were looked at than were ever held.

use super::probabilities::Probabilities;
use crate::model::random::{Draws, Stream};

/// Flips that are less probable than this make room for others.
const NEGLIGIBLE: f32 = 1e-7;

/// Different pairs i < j, ascending, and where those of the next block come from.
pub(super) struct Block {
    nodes: usize,
    size: usize,
    draws: Draws,
    /// Numbers drawn so far.
    drawn: u64,
    pairs: Vec<(u32, u32)>,
    /// Where the pairs of each node with later ones begin.
    starts: Vec<usize>,
}

impl Block {
    /// So many pairs, no more than there are.
    pub(super) fn draw(nodes: usize, size: usize, seed: u64) -> Self {
        let draws = Draws::new(seed, Stream::Blocks);
        let mut block = Self { nodes, size, draws, drawn: 0, pairs: Vec::new(), starts: Vec::new() };
        block.fill(&[]);
        block
    }

    /// Keeps the likeliest flips, at most half of the block, and draws new pairs in place of the others.
    pub(super) fn renew(&mut self, flips: &mut Probabilities) {
        // A block of all pairs has nothing to make room for.
        if self.size == count(self.nodes) {
            return;
        }
        let kept = flips.likeliest(self.size / 2, NEGLIGIBLE);
        flips.retain(&kept);
        self.fill(&kept);
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// The pairs of a node with later ones.
    pub(super) fn row(&self, node: usize) -> &[(u32, u32)] {
        &self.pairs[self.starts[node]..self.starts[node + 1]]
    }

    /// Takes these pairs, at most half of the block and ascending, and new ones.
    fn fill(&mut self, kept: &[(u32, u32)]) {
        let nodes = self.nodes as u32;
        let there_are = count(self.nodes);
        self.pairs = if self.size <= there_are / 2 {
            let mut pairs = self.others(self.size - kept.len(), kept);
            pairs.extend_from_slice(kept);
            pairs.sort();
            pairs
        } else {
            // To wait for the last pairs that are missing would take long; those that stay out are fewer.
            let mut left_out = self.others(there_are - self.size, kept).into_iter().peekable();
            let all = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j)));
            all.filter(|pair| left_out.next_if_eq(pair).is_none()).collect()
        };
        self.starts.clear();
        self.starts.resize(self.nodes + 1, 0);
        for &(i, _) in &self.pairs {
            self.starts[i as usize + 1] += 1;
        }
        for node in 0..self.nodes {
            self.starts[node + 1] += self.starts[node];
        }
    }

    /// So many different pairs, ascending, none of which is among those given.
    fn others(&mut self, count: usize, but: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let nodes = self.nodes as u64;
        let mut pairs = Vec::with_capacity(count);
        while pairs.len() < count {
            for _ in pairs.len()..count {
                let [i, j] = [0, 1].map(|k| (self.draws.draw(self.drawn + k) % nodes) as u32);
                self.drawn += 2;
                let pair = (i.min(j), i.max(j));
                if i != j && but.binary_search(&pair).is_err() {
                    pairs.push(pair);
                }
            }
            // Most are in order from the round before, which this kind of sorting makes use of.
            pairs.sort();
            pairs.dedup();
        }
        pairs
    }
}

/// How many pairs so many nodes have.
pub(super) fn count(nodes: usize) -> usize {
    nodes * nodes.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sound(block: &Block) -> bool {
        let rows = (0..block.nodes).flat_map(|node| block.row(node).iter().map(move |pair| (node, pair)));
        rows.clone().all(|(node, pair)| pair.0 as usize == node)
            && rows.map(|(_, pair)| *pair).eq(block.pairs.iter().copied())
            && block.pairs.windows(2).all(|two| two[0] < two[1])
            && block.pairs.iter().all(|&(i, j)| i < j && (j as usize) < block.nodes)
    }

    #[test]
    fn a_block_has_as_many_different_pairs_as_asked_for_whatever_their_share() {
        for size in [1, 7, 94, 95, 96, 150, 189, 190] {
            let block = Block::draw(20, size, 3);
            assert!(is_sound(&block) && block.pairs.len() == size, "{size}");
        }
        assert!(Block::draw(20, 50, 3).pairs != Block::draw(20, 50, 4).pairs);
    }

    #[test]
    fn every_pair_is_as_likely_as_any_other() {
        for size in [3, 12] {
            let mut met = [[0; 6]; 6];
            for seed in 0..2000 {
                Block::draw(6, size, seed).pairs.iter().for_each(|&(i, j)| met[i as usize][j as usize] += 1);
            }
            let expected = 2000 * size as i32 / 15;
            for (i, row) in met.iter().enumerate() {
                assert!(row[i + 1..].iter().all(|times| (times - expected).abs() < 100), "{met:?}");
            }
        }
    }

    /// Probabilities of these flips of twenty nodes, ascending.
    fn probable(flips: &[((u32, u32), f32)]) -> Probabilities {
        let mut rows = vec![Vec::new(); 20];
        flips.iter().for_each(|&((i, j), probability)| rows[i as usize].push((j, probability)));
        Probabilities::Few(rows)
    }

    #[test]
    fn likely_pairs_stay_and_the_others_change() {
        for size in [40, 150] {
            let mut block = Block::draw(20, size, 0);
            let before = block.pairs.clone();
            let [a, b, negligible] = [2, 9, 30].map(|k| before[k]);
            let mut flips = probable(&[(a, 0.5), (b, 1e-6), (negligible, 1e-8)]);
            block.renew(&mut flips);
            assert!(is_sound(&block) && block.pairs.len() == size && block.pairs != before);
            assert!(block.pairs.contains(&a) && block.pairs.contains(&b));
            assert_eq!(flips.likeliest(9, 0.0), [a, b]);
        }
    }

    #[test]
    fn at_most_half_of_a_block_stays() {
        let mut block = Block::draw(20, 11, 0);
        let before = block.pairs.clone();
        let all: Vec<_> =
            before.iter().map(|&pair| (pair, if pair == before[8] { 0.5 } else { 0.25 })).collect();
        let mut flips = probable(&all);
        block.renew(&mut flips);
        assert_eq!(flips.likeliest(11, 0.0), [0, 1, 2, 3, 8].map(|k| before[k]));
        assert!(is_sound(&block) && block.pairs.len() == 11);
    }
}
