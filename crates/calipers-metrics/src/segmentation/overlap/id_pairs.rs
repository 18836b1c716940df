//! How often every pair of ids meets, for ids of any range: what drop-ins for other libraries count.

use multiversion::multiversion;

/// Cells that several tables side by side may have; larger ones would push each other out of the cache.
const SMALL: usize = 1 << 12;

/// How many tables are filled in turn: neighbours are often equal, and adding to one cell twice in a row waits for
/// the first addition.
const TABLES: usize = 4;

/// Pairs whose cells are found before they are counted.
const BLOCK: usize = 512;

/// Counts of pairs of ids, added up over any number of arrays.
///
/// Truth has `classes` lines, one for ids outside them and one for the ignored id; a prediction has
/// `classes` lines and one for ids outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPairs {
    classes: u32,
    ignore: Option<i64>,
    size: usize,
    /// One table, or several behind one another whose sum counts.
    cells: Vec<u64>,
}

impl IdPairs {
    /// No pair of ids 0 to `classes` - 1, of which there are at most 2^15; the true id `ignore` has a line of its
    /// own.
    pub fn new(classes: u16, ignore: Option<i64>) -> Self {
        let size = (usize::from(classes) + 2) * (usize::from(classes) + 1);
        let tables = if size <= SMALL { TABLES } else { 1 };
        Self { classes: u32::from(classes), ignore, size, cells: vec![0; tables * size] }
    }

    /// Adds the pairs of two arrays of one length.
    pub fn add(&mut self, truth: &[i64], pred: &[i64]) {
        let mut found = [0; BLOCK];
        for (truth, pred) in truth.chunks(BLOCK).zip(pred.chunks(BLOCK)) {
            let found = &mut found[..truth.len().min(pred.len())];
            find(truth, pred, self.classes, self.ignore, found);
            self.count(found);
        }
    }

    fn count(&mut self, found: &[u32]) {
        let (first, others) = self.cells.split_at_mut(self.size);
        let (fours, rest) = found.as_chunks::<TABLES>();
        let (second, others) = others.split_at_mut(self.size.min(others.len()));
        let (third, fourth) = others.split_at_mut(self.size.min(others.len()));
        if fourth.is_empty() {
            found.iter().for_each(|cell| first[*cell as usize] += 1);
            return;
        }
        for [a, b, c, d] in fours {
            first[*a as usize] += 1;
            second[*b as usize] += 1;
            third[*c as usize] += 1;
            fourth[*d as usize] += 1;
        }
        rest.iter().for_each(|cell| first[*cell as usize] += 1);
    }

    /// The counts, line by line of the truth: `classes` + 2 lines of `classes` + 1.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.size];
        for table in self.cells.chunks(self.size) {
            counts.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
        }
        counts
    }
}

/// The cell of every pair.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn find(truth: &[i64], pred: &[i64], classes: u32, ignore: Option<i64>, cells: &mut [u32]) {
    let width = classes + 1;
    let bits = truth.iter().zip(pred).fold(0, |bits, (truth, pred)| bits | truth | pred);
    if (0..=i64::from(i32::MAX)).contains(&bits) {
        // Half the width holds every id of the block, so that vectors hold twice as many. No id is the largest.
        let ignore = ignore.and_then(|id| u32::try_from(id).ok()).unwrap_or(u32::MAX);
        for ((cell, &truth), &pred) in cells.iter_mut().zip(truth).zip(pred) {
            let (truth, pred) = (truth as u32, pred as u32);
            let line = if truth == ignore { width } else { truth.min(classes) };
            *cell = line * width + pred.min(classes);
        }
        return;
    }
    // As a number without a sign, a negative one is larger than every class.
    let inside = |id: i64| (id as u64).min(u64::from(classes)) as u32;
    for ((cell, &truth), &pred) in cells.iter_mut().zip(truth).zip(pred) {
        let line = if Some(truth) == ignore { width } else { inside(truth) };
        *cell = line * width + inside(pred);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The obvious version.
    fn one_by_one(classes: u16, ignore: Option<i64>, pairs: &[(i64, i64)]) -> Vec<u64> {
        let classes = usize::from(classes);
        let mut counts = vec![vec![0; classes + 1]; classes + 2];
        for &(truth, pred) in pairs {
            let outside = |id: i64| id < 0 || id >= classes as i64;
            let line = if Some(truth) == ignore {
                classes + 1
            } else if outside(truth) {
                classes
            } else {
                truth as usize
            };
            counts[line][if outside(pred) { classes } else { pred as usize }] += 1;
        }
        counts.concat()
    }

    proptest! {
        #[test]
        fn pairs_of_classes_are_counted_as_one_by_one(
            ignore in prop_oneof![Just(None), Just(Some(255)), Just(Some(1))],
            pairs in vec((prop_oneof![0..3i64, Just(255)], 0..4i64), 0..2000),
        ) {
            let mut counted = IdPairs::new(3, ignore);
            let (truth, pred): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
            counted.add(&truth, &pred);
            prop_assert_eq!(counted.counts(), one_by_one(3, ignore, &pairs));
        }

        #[test]
        fn pairs_are_counted_as_one_by_one(
            classes in prop_oneof![1..6u16, Just(80)],
            ignore in prop::option::of(-2..7i64),
            pairs in vec((prop_oneof![-2..8i64, Just(255), any::<i64>()], prop_oneof![-2..8i64, any::<i64>()]), 0..70),
            again in 1..20usize,
            cut in 0..1400usize,
        ) {
            let mut counted = IdPairs::new(classes, ignore);
            let pairs = pairs.repeat(again);
            let (truth, pred): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
            let cut = cut.min(pairs.len());
            counted.add(&truth[..cut], &pred[..cut]);
            counted.add(&truth[cut..], &pred[cut..]);
            prop_assert_eq!(counted.counts(), one_by_one(classes, ignore, &pairs));
        }
    }
}
