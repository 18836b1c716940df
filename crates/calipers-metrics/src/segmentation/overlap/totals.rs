//! Confusion matrices added up class by class: what nearly every overlap metric is read from.

use calipers_core::exact::exact_mean;
use calipers_core::{Number, Rows, Sums, Terms, Value};

use super::Confusion;
use crate::reading::{Reading, Reason, number, per_label};
use crate::segmentation::protocol::{Conventions, Measure, Segmentation};
use crate::segmentation::row::Row;
use crate::segmentation::row::evidence::{guarded, requested};

/// The column of pixels whose truth is ignored.
const IGNORED: usize = 0;
/// The first column of the global classes.
const FIRST: usize = 1;

/// The columns of a class, beginning at [`COUNTS`] times its id.
pub(crate) const COUNTS: usize = 4;
const HITS: usize = 0;
const TRUTH: usize = 1;
const PRED: usize = 2;
const UNPREDICTED: usize = 3;

/// Says what each cell of a matrix adds to which column of its classes.
fn each_count(matrix: &Confusion, classes: usize, mut add: impl FnMut(usize, u64)) {
    for ((truth, pred), pixels) in matrix.cells() {
        let (truth, pred) = (truth as usize, pred as usize);
        add(COUNTS * truth + TRUTH, pixels);
        // The class after the last stands for no prediction.
        add(if pred < classes { COUNTS * pred + PRED } else { COUNTS * truth + UNPREDICTED }, pixels);
        if truth == pred {
            add(COUNTS * truth + HITS, pixels);
        }
    }
}

/// Adds a matrix to the columns of its classes; a class without pixels adds nothing, so that thousands of
/// classes cost no more than those that occur.
pub(crate) fn add_matrix(terms: &mut Terms<'_>, first: usize, matrix: &Confusion, classes: usize) {
    each_count(matrix, classes, |column, pixels| terms.whole(first + column, pixels));
}

fn add_row(protocol: &Segmentation, row: &Row, terms: &mut Terms<'_>) {
    if protocol.measures(Measure::Overlap) {
        terms.whole(IGNORED, row.ignored);
        add_matrix(terms, FIRST, &row.confusion, protocol.classes());
    }
}

/// What is read from the matrices of all images together.
pub(super) const fn pooled(read: fn(&Segmentation, &Sums<'_, Row>) -> Value) -> Number<Segmentation> {
    Number::pooled(add_row, read)
}

/// A single number.
pub(super) fn total(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    read: impl FnOnce(&Overlap) -> Reading,
) -> Value {
    number(Overlap::of_all(protocol, sums).and_then(|totals| read(&totals)))
}

/// A whole number.
pub(super) fn count(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    read: impl FnOnce(&Overlap) -> i128,
) -> Value {
    Overlap::of_all(protocol, sums).map_or_else(Value::Undefined, |totals| Value::Count(read(&totals)))
}

/// Pixels whose truth is ignored.
pub(super) fn ignored(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Value {
    count(protocol, sums, |_| sums.whole(IGNORED))
}

/// The mean of a number over the classes of the means.
pub(super) fn class_mean(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    read: impl Fn(&Overlap, usize) -> Reading,
) -> Value {
    total(protocol, sums, |totals| totals.mean(|class| read(totals, class)))
}

/// A number of each class.
pub(super) fn by_class(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    read: impl Fn(&Overlap, usize) -> Reading,
) -> Value {
    let names = protocol.labels.global.iter().enumerate();
    let totals = Overlap::of_all(protocol, sums);
    per_label(totals.map(|totals| names.map(move |(class, name)| (name.as_str(), read(&totals, class)))))
}

/// A whole number of each class.
pub(super) fn counts_by_class(
    protocol: &Segmentation,
    sums: &Sums<'_, Row>,
    read: impl Fn(&Overlap, usize) -> i128,
) -> Value {
    let names = protocol.labels.global.iter().enumerate();
    Overlap::of_all(protocol, sums).map_or_else(Value::Undefined, |totals| {
        let entry = |(class, name): (usize, &String)| (name.clone(), Value::Count(read(&totals, class)));
        Value::PerLabel(names.map(entry).collect())
    })
}

/// The totals of one or more confusion matrices, and the conventions under which they are read.
pub(crate) struct Overlap {
    pub(super) conventions: Conventions,
    pub(super) background: Option<usize>,
    /// The class that takes no part in the means.
    left_out: Option<usize>,
    /// [`COUNTS`] per class.
    counts: Vec<i128>,
}

impl Overlap {
    /// The totals of all images, where they were asked for.
    fn of_all(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Result<Self, Reason> {
        requested(protocol, Measure::Overlap)?;
        let counts = Self::of_channels(protocol.conventions, protocol.classes(), sums, FIRST).counts;
        Ok(Self { counts, ..Self::none(protocol, 0) })
    }

    /// The totals of classes of which all take part in the means and none is the background.
    pub(crate) fn of_channels(
        conventions: Conventions,
        classes: usize,
        sums: &Sums<'_, Row>,
        first: usize,
    ) -> Self {
        let counts = (first..first + COUNTS * classes).map(|column| sums.whole(column)).collect();
        Self { conventions, background: None, left_out: None, counts }
    }

    /// The totals of one image.
    pub(crate) fn of_image(protocol: &Segmentation, row: &Row) -> Self {
        let mut totals = Self::none(protocol, protocol.classes());
        totals.add(&row.confusion, 1);
        totals
    }

    /// The totals of all images, asked for or not.
    pub(crate) fn of_rows(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Self {
        rows.folded(
            || Self::none(protocol, protocol.classes()),
            |totals, row, times| totals.add(&row.confusion, times),
            |totals, more| totals.counts.iter_mut().zip(more.counts).for_each(|(ours, more)| *ours += more),
        )
    }

    fn none(protocol: &Segmentation, classes: usize) -> Self {
        let (labels, counts) = (&protocol.labels, vec![0; COUNTS * classes]);
        let (background, left_out) = (labels.background, labels.left_out());
        Self { conventions: protocol.conventions, background, left_out, counts }
    }

    fn add(&mut self, matrix: &Confusion, times: u32) {
        let classes = self.all_classes().len();
        each_count(matrix, classes, |column, pixels| {
            self.counts[column] += i128::from(pixels) * i128::from(times);
        });
    }

    /// Pixels of a class that are predicted as it.
    pub(crate) fn hits(&self, class: usize) -> i128 {
        self.counts[COUNTS * class + HITS]
    }

    /// Pixels of a class.
    pub(crate) fn truth(&self, class: usize) -> i128 {
        self.counts[COUNTS * class + TRUTH]
    }

    /// Pixels predicted as a class.
    pub(crate) fn pred(&self, class: usize) -> i128 {
        self.counts[COUNTS * class + PRED]
    }

    /// Pixels of a class without a prediction.
    pub(super) fn unpredicted(&self, class: usize) -> i128 {
        self.counts[COUNTS * class + UNPREDICTED]
    }

    /// Every class.
    pub(super) fn all_classes(&self) -> std::ops::Range<usize> {
        0..self.counts.len() / COUNTS
    }

    /// The sum of a count over all classes.
    fn all(&self, count: fn(&Self, usize) -> i128) -> i128 {
        self.all_classes().map(|class| count(self, class)).sum()
    }

    pub(super) fn all_hits(&self) -> i128 {
        self.all(Self::hits)
    }

    pub(crate) fn scored_pixels(&self) -> i128 {
        self.all(Self::truth)
    }

    pub(crate) fn unpredicted_pixels(&self) -> i128 {
        self.all(Self::unpredicted)
    }

    /// The classes of the means.
    pub(super) fn means(&self) -> impl Iterator<Item = usize> {
        let left_out = self.left_out;
        self.all_classes().filter(move |class| Some(*class) != left_out)
    }

    /// The mean of the values that the classes of the means have.
    pub(super) fn mean(&self, value: impl Fn(usize) -> Reading) -> Reading {
        let mean = exact_mean(self.means().filter_map(|class| value(class).ok()));
        let mean = mean.or_else(|| self.conventions.empty_is_zero.then_some(0.0));
        mean.ok_or_else(|| "no class with a defined value".into())
    }

    /// A share of the scored pixels.
    pub(super) fn share(&self, pixels: i128) -> Reading {
        guarded(pixels, self.scored_pixels(), self.conventions.overlap_epsilon, "no scored pixel")
    }
}

#[cfg(test)]
mod tests {
    use super::super::agreement::kappa;
    use super::super::classes::iou;
    use super::*;

    fn totals<T>(cells: &[(u32, u32, u64)], read: impl Fn(&Overlap) -> T) -> T {
        let confusion = cells.iter().map(|&(truth, pred, count)| ((truth, pred), count)).collect();
        let row = Row { height: 0, width: 0, ignored: 0, confusion, pixels: None };
        read(&Overlap::of_image(&Segmentation::default(), &row))
    }

    #[test]
    fn kappa_stays_right_where_squares_of_counts_leave_the_integers() {
        let scaled = |k: u64| totals(&[(0, 0, 10 * k), (0, 1, k), (1, 0, 3 * k), (1, 1, 6 * k)], kappa);
        assert_eq!(scaled(1), Ok(114.0 / 194.0));
        assert!((scaled(1 << 60).unwrap() - 114.0 / 194.0).abs() < 1e-15);
    }

    #[test]
    fn kappa_of_rare_mistakes_among_many_pixels_does_not_cancel() {
        let many = 1 << 61;
        let once = totals(&[(0, 0, many), (0, 1, 1), (1, 0, 1), (1, 1, 3)], kappa).unwrap();
        assert!((once - 0.75).abs() < 1e-15, "{once}");
        let more = totals(&[(0, 0, u64::MAX), (0, 1, 1), (1, 0, 1), (1, 1, 3)], kappa).unwrap();
        assert!((more - 0.75).abs() < 1e-15, "{more}");
    }

    #[test]
    fn totals_beyond_64_bits_are_exact() {
        totals(&[(0, 0, u64::MAX), (0, 2, u64::MAX), (1, 0, u64::MAX)], |largest| {
            assert_eq!(largest.scored_pixels(), 3 * i128::from(u64::MAX));
            assert_eq!(largest.unpredicted_pixels(), i128::from(u64::MAX));
            assert_eq!(iou(largest, 0), Ok(1.0 / 3.0));
        });
    }
}
