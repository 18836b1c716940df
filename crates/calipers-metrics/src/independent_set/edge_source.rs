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

    /// The stored number of the graph's first node, from which its nodes are counted: not 0 where
    /// several graphs lie in one array.
    fn first_node(&self) -> i64 {
        0
    }

    /// Workers over all entries in order, in blocks of two slices of equal length.
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

/// The entries of one graph in the `edge_index` of several, as they lie in memory: nothing is copied
/// when the numbers are `i64`, and others are widened a block at a time.
///
/// ```
/// use calipers_metrics::independent_set::graph::{Graph, PackedEntries, Storage};
/// let edge_index: [[i32; 4]; 2] = [[0, 1, 2, 3], [1, 0, 3, 2]];
/// let second = PackedEntries::new(&edge_index[0][2..], &edge_index[1][2..], 2)?;
/// assert_eq!(Graph::build(2, Storage::Both, &second)?.neighbours(0), [1]);
/// # Ok::<(), calipers_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PackedEntries<'a, T> {
    tails: &'a [T],
    heads: &'a [T],
    first: i64,
}

impl<'a, T: NodeNumber> PackedEntries<'a, T> {
    /// Entries of a graph whose nodes are numbered from `first`. Refuses rows of different lengths.
    pub fn new(tails: &'a [T], heads: &'a [T], first: i64) -> Result<Self> {
        if tails.len() == heads.len() {
            Ok(Self { tails, heads, first })
        } else {
            Err(uneven(tails.len(), heads.len()))
        }
    }
}

impl<T: NodeNumber> EdgeSource for PackedEntries<'_, T> {
    fn entries(&self) -> u64 {
        self.tails.len() as u64
    }

    fn first_node(&self) -> i64 {
        self.first
    }

    fn blocks(&self, each: Visit<'_>) -> Result<()> {
        let (mut tails, mut heads) = (Vec::new(), Vec::new());
        for (some_tails, some_heads) in self.tails.chunks(BLOCK).zip(self.heads.chunks(BLOCK)) {
            each(T::widened(some_tails, &mut tails), T::widened(some_heads, &mut heads))?;
        }
        Ok(())
    }
}

/// Whole numbers that arrays hold node numbers in.
pub trait NodeNumber: Copy {
    /// The numbers as `i64`, in the buffer unless they are; what is too large becomes the largest.
    fn widened<'a>(numbers: &'a [Self], buffer: &'a mut Vec<i64>) -> &'a [i64];
}

impl NodeNumber for i64 {
    fn widened<'a>(numbers: &'a [Self], _: &'a mut Vec<i64>) -> &'a [i64] {
        numbers
    }
}

macro_rules! narrow_node_numbers {
    ($($number:ty),*) => {$(
        impl NodeNumber for $number {
            fn widened<'a>(numbers: &'a [Self], buffer: &'a mut Vec<i64>) -> &'a [i64] {
                buffer.clear();
                buffer.extend(numbers.iter().map(|&number| i64::try_from(number).unwrap_or(i64::MAX)));
                buffer
            }
        }
    )*};
}

narrow_node_numbers!(i8, i16, i32, u8, u16, u32, u64);

fn uneven(tails: usize, heads: usize) -> Error {
    Error::value("the two rows of edge_index differ in length")
        .found(format!("{tails} and {heads} entries"))
        .allowed("two rows of equal length")
}

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
            return Err(uneven(self.0.len(), self.1.len()));
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
    fn packed_entries_of_any_type_are_those_of_their_graph() {
        fn visited<T: NodeNumber>(tails: &[T], heads: &[T]) -> Vec<(i64, i64)> {
            let source = PackedEntries::new(tails, heads, 3).unwrap();
            assert_eq!((source.entries(), source.first_node()), (tails.len() as u64, 3));
            let mut seen = Vec::new();
            let mut each = |tails: &[i64], heads: &[i64]| {
                seen.extend(tails.iter().copied().zip(heads.iter().copied()));
                Ok(())
            };
            source.blocks(&mut each).unwrap();
            seen
        }
        let expected: Vec<(i64, i64)> = (0..BLOCK as i64 + 3).map(|i| (i, i + 1)).collect();
        let (tails, heads): (Vec<i64>, Vec<i64>) = expected.iter().copied().unzip();
        assert_eq!(visited(&tails, &heads), expected);
        let narrow = |numbers: &[i64]| numbers.iter().map(|&x| x as u16).collect::<Vec<_>>();
        assert_eq!(visited(&narrow(&tails), &narrow(&heads)), expected);
        assert_eq!(visited(&[u64::MAX], &[0]), [(i64::MAX, 0)]);
        assert!(PackedEntries::new(&[0u8], &[], 0).is_err());
    }

    #[test]
    fn rows_of_different_length_are_refused_with_both_lengths() {
        let error = (&[0i64, 1][..], &[1i64][..]).blocks(&mut |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("2 and 1 entries"));
    }
}
