//! How often every pair of ids meets, for ids of any range: what drop-ins for other libraries count.

/// Cells that two tables side by side may have; larger ones would push each other out of the cache.
const SMALL: usize = 1 << 12;

/// Counts of pairs of ids, added up over any number of arrays.
///
/// Truth has `classes` lines, one for ids outside them and one for the ignored id; a prediction has
/// `classes` lines and one for ids outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPairs {
    classes: usize,
    ignore: Option<i64>,
    cells: Vec<u64>,
    /// Neighbours are often equal, and adding to one cell twice in a row waits for the first addition.
    odd: Vec<u64>,
}

impl IdPairs {
    /// No pair of ids 0 to `classes` - 1; the true id `ignore` has a line of its own.
    pub fn new(classes: usize, ignore: Option<i64>) -> Self {
        let cells = (classes + 2) * (classes + 1);
        let odd = vec![0; if cells <= SMALL { cells } else { 0 }];
        Self { classes, ignore, cells: vec![0; cells], odd }
    }

    /// Adds the pairs of two arrays of one length.
    pub fn add(&mut self, truth: &[i64], pred: &[i64]) {
        let (classes, width, ignore) = (self.classes, self.classes + 1, self.ignore);
        let line = |id: i64| usize::try_from(id).map_or(classes, |id| id.min(classes));
        let true_line = |id: i64| if Some(id) == ignore { classes + 1 } else { line(id) };
        let cell = |(&truth, &pred): (&i64, &i64)| true_line(truth) * width + line(pred);
        if self.odd.is_empty() {
            truth.iter().zip(pred).for_each(|pair| self.cells[cell(pair)] += 1);
            return;
        }
        let (truths, truth_rest) = truth.as_chunks::<2>();
        let (preds, pred_rest) = pred.as_chunks::<2>();
        for (truth, pred) in truths.iter().zip(preds) {
            self.cells[cell((&truth[0], &pred[0]))] += 1;
            self.odd[cell((&truth[1], &pred[1]))] += 1;
        }
        truth_rest.iter().zip(pred_rest).for_each(|pair| self.cells[cell(pair)] += 1);
    }

    /// The counts, line by line of the truth: `classes` + 2 lines of `classes` + 1.
    pub fn counts(&self) -> Vec<u64> {
        let odd = self.odd.iter().copied().chain(std::iter::repeat(0));
        self.cells.iter().zip(odd).map(|(even, odd)| even + odd).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The obvious version.
    fn one_by_one(classes: usize, ignore: Option<i64>, pairs: &[(i64, i64)]) -> Vec<u64> {
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
        fn pairs_are_counted_as_one_by_one(
            classes in prop_oneof![1..6usize, Just(80)],
            ignore in prop::option::of(-2..7i64),
            pairs in vec((prop_oneof![-2..8i64, Just(255), any::<i64>()], prop_oneof![-2..8i64, any::<i64>()]), 0..70),
            cut in 0..70usize,
        ) {
            let mut counted = IdPairs::new(classes, ignore);
            let (truth, pred): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
            let cut = cut.min(pairs.len());
            counted.add(&truth[..cut], &pred[..cut]);
            counted.add(&truth[cut..], &pred[cut..]);
            prop_assert_eq!(counted.counts(), one_by_one(classes, ignore, &pairs));
        }
    }
}
