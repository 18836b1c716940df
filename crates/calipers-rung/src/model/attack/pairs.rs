//! The pairs whose flips an attack considers: all, or a block of them.

use calipers_core::{Error, Result};

use super::block::{self, Block};
use super::probabilities::Probabilities;
use super::{Attack, Method};

/// Bytes held per pair of a block at worst: of itself and its value, of its probability in the list, in the graph made
/// of that both ways, and of the new pairs while they are drawn and sorted.
const BYTES_OF_BLOCK: u64 = 64;

/// Pairs i < j in ascending order, which values of pairs are kept in.
pub(super) enum Pairs {
    /// Every two of so many nodes.
    All(usize),
    /// Some, which change from time to time.
    Block(Block),
}

impl Attack {
    /// Refuses what the search itself would refuse, before there is a model to attack.
    ///
    /// # Errors
    /// More bytes than allowed for so many nodes; a block in which the flips find no room.
    pub fn check(&self, nodes: usize, allowed: usize) -> Result<()> {
        let there_are = block::count(nodes);
        match self.method {
            Method::Random => Ok(()),
            Method::Prbcd { block_size } if block_size < there_are => {
                if block_size < allowed.min(there_are) {
                    return Err(Error::value("the block is too small for the budget")
                        .found(format!("a block of {block_size} pairs"))
                        .allowed(format!("at least {allowed}, the flips allowed"))
                        .advice("raise --block-size"));
                }
                check_memory(nodes, block_size, block_size as u64 * BYTES_OF_BLOCK, self)
            }
            Method::Pgd | Method::Prbcd { .. } => check_memory(nodes, there_are, there_are as u64 * 4, self),
        }
    }
}

impl Pairs {
    /// Those of an attack that may flip so many.
    ///
    /// # Errors
    /// More bytes than allowed; a block in which the flips find no room.
    pub(super) fn of(attack: &Attack, nodes: usize, allowed: usize) -> Result<Self> {
        attack.check(nodes, allowed)?;
        Ok(match attack.method {
            Method::Prbcd { block_size } if block_size < block::count(nodes) => {
                Self::Block(Block::draw(nodes, block_size, attack.seed))
            }
            _ => Self::All(nodes),
        })
    }

    /// Whether so many probable flips still fit beside the values of all pairs; those of a block do.
    pub(super) fn check_memory(&self, probable: usize, attack: &Attack) -> Result<()> {
        match self {
            Self::All(nodes) => {
                let bytes = self.count() as u64 * 4 + Probabilities::bytes(probable, *nodes);
                check_memory(*nodes, self.count(), bytes, attack)
            }
            Self::Block(_) => Ok(()),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::All(nodes) => block::count(*nodes),
            Self::Block(block) => block.pairs().len(),
        }
    }

    /// How many pairs of the graph there are for each of these: 1 where these are all.
    pub(super) fn each_stands_for(&self) -> f64 {
        block::count(self.nodes()) as f64 / self.count() as f64
    }

    fn nodes(&self) -> usize {
        match self {
            Self::All(nodes) => *nodes,
            Self::Block(block) => block.nodes(),
        }
    }

    /// The values of the pairs of each node with later ones.
    pub(super) fn rows<'v>(&self, values: &'v mut [f32]) -> Vec<&'v mut [f32]> {
        let mut rest = values;
        let mut rows = Vec::with_capacity(self.nodes());
        for node in 0..self.nodes() {
            let length = match self {
                Self::All(nodes) => nodes - 1 - node,
                Self::Block(block) => block.row(node).len(),
            };
            let (row, after) = rest.split_at_mut(length);
            rows.push(row);
            rest = after;
        }
        rows
    }

    /// Where in the row of a node its pair with a later one stands.
    #[inline]
    pub(super) fn place(&self, node: usize, later: u32) -> Option<usize> {
        match self {
            Self::All(_) => Some(later as usize - node - 1),
            Self::Block(block) => block.row(node).binary_search(&(node as u32, later)).ok(),
        }
    }

    /// Calls `visit` with each later node that a node has a pair with, and the value of that pair.
    #[inline]
    pub(super) fn visit(&self, node: usize, row: &[f32], mut visit: impl FnMut(u32, f32)) {
        match self {
            Self::All(_) => row.iter().zip(node as u32 + 1..).for_each(|(&value, j)| visit(j, value)),
            Self::Block(block) => {
                block.row(node).iter().zip(row).for_each(|(&(_, j), &value)| visit(j, value));
            }
        }
    }
}

fn check_memory(nodes: usize, pairs: usize, bytes: u64, attack: &Attack) -> Result<()> {
    if bytes <= attack.memory {
        return Ok(());
    }
    let (what, found, advice) = match attack.method {
        Method::Prbcd { .. } => (
            "the block is too large for this attack",
            format!("a block of {pairs} pairs, which takes {bytes} bytes"),
            "raise --attack-memory, or lower --block-size",
        ),
        Method::Pgd | Method::Random => (
            "the graph is too large for this attack",
            format!("{nodes} nodes, whose pairs take {bytes} bytes"),
            "raise --attack-memory, or consider a block of pairs at a time: --method prbcd",
        ),
    };
    let allowed = format!("{} bytes (--attack-memory)", attack.memory);
    Err(Error::value(what).found(found).allowed(allowed).advice(advice))
}
