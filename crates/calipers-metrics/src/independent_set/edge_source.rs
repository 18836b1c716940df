//! Where stored edge entries come from: a file, two arrays, a list of pairs.

use calipers_core::{Error, Result};

/// What is called with each block of entries: the tails u and the heads v.
pub type Visit<'a> = &'a mut dyn FnMut(&[i64], &[i64]) -> Result<()>;

/// Stored entries (u, v), exactly as they are stored; node numbers are not checked here.
///
/// It can be visited several times and gives the same entries in the same order each time.
pub trait EdgeSource {
    /// How many entries there are.
    fn entries(&self) -> u64;

    /// Hands over all entries in order, in blocks of two slices of equal length.
    fn blocks(&self, each: Visit<'_>) -> Result<()>;
}

/// Which directions of an edge are expected to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// (u, v) and (v, u): a repeat is a repeated ordered pair, a missing direction is counted.
    Both,
    /// Either of the two: a repeat is a repeated unordered pair.
    Once,
}

const BLOCK: usize = 1 << 12;

impl EdgeSource for &[(u32, u32)] {
    fn entries(&self) -> u64 {
        self.len() as u64
    }

    fn blocks(&self, each: Visit<'_>) -> Result<()> {
        let (mut tails, mut heads) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        for block in self.chunks(BLOCK) {
            tails.clear();
            heads.clear();
            tails.extend(block.iter().map(|pair| i64::from(pair.0)));
            heads.extend(block.iter().map(|pair| i64::from(pair.1)));
            each(&tails, &heads)?;
        }
        Ok(())
    }
}

impl EdgeSource for (&[i64], &[i64]) {
    fn entries(&self) -> u64 {
        self.0.len() as u64
    }

    fn blocks(&self, each: Visit<'_>) -> Result<()> {
        if self.0.len() != self.1.len() {
            return Err(Error::value("the two rows of edge_index differ in length")
                .found(format!("{} and {} entries", self.0.len(), self.1.len()))
                .allowed("two rows of equal length"));
        }
        each(self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_arrive_in_order_across_blocks() {
        let pairs: Vec<(u32, u32)> = (0..BLOCK as u32 + 3).map(|i| (i, i + 1)).collect();
        let mut seen = Vec::new();
        let source: &[(u32, u32)] = &pairs;
        source
            .blocks(&mut |tails, heads| {
                seen.extend(tails.iter().zip(heads).map(|(&u, &v)| (u as u32, v as u32)));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, pairs);
    }

    #[test]
    fn rows_of_different_length_are_refused_with_both_lengths() {
        let error = (&[0i64, 1][..], &[1i64][..]).blocks(&mut |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("2 and 1 entries"));
    }
}
