//! Confusion matrices added up and read: intersection over union and its relatives.

use std::sync::{Arc, OnceLock};

use super::old_sums::{Sum, Term};
use calipers_core::exact::exact_sum;
use calipers_core::{Alone, Rows, Value};

use super::confusion::Confusion;
use super::image_means::ImageMeans;
use super::protocol::{Conventions, Measure, Segmentation};
use super::reading::{
    NO_CLASS, NO_SCORED_PIXEL, NO_UNIT, Reading, Reason, guarded_quotient, mean, per_label, quotient,
    requested,
};
use super::row::Row;

const NO_BACKGROUND: &str = "no background class is declared";
/// Up to so many classes workers share the adding up of whole matrices: each needs one of its own.
const SHARED_CLASSES: usize = 256;
const IN_NEITHER: &str = "class occurs in neither truth nor prediction";

/// The totals of one or more confusion matrices, and the conventions under which they are read.
pub(crate) struct Overlap {
    conventions: Conventions,
    background: Option<usize>,
    /// The classes of the means.
    means: Vec<usize>,
    /// Pixels of a class that are predicted as it.
    hits: Vec<i128>,
    /// Pixels of a class.
    truth: Vec<i128>,
    /// Pixels predicted as a class.
    pred: Vec<i128>,
    /// Pixels of a class without a prediction.
    unpredicted: Vec<i128>,
}

/// Which share of the pixels is wrong, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// Foreground taken for another foreground class.
    Classification,
    /// Background taken for foreground.
    Background,
    /// Foreground taken for background.
    Missed,
}

impl Overlap {
    /// The global classes over all rows; the matrices are added up once, whoever asks.
    pub(crate) fn new(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Arc<Self> {
        Arc::clone(&Shared::new(protocol, rows).totals)
    }

    fn over(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Self {
        rows.folded(
            || Self::of(protocol, []),
            |totals, row, times| (0..times).for_each(|_| totals.add(&row.confusion)),
            |totals, others| totals.add_totals(&others),
        )
    }

    pub(crate) fn of<'a>(protocol: &Segmentation, matrices: impl IntoIterator<Item = &'a Confusion>) -> Self {
        let mut totals = Self::in_space(protocol.classes(), protocol.conventions, matrices);
        totals.background = protocol.labels.background;
        totals.means = protocol.means().collect();
        totals
    }

    /// Classes of which all take part in the means and none is the background.
    pub(crate) fn in_space<'a>(
        classes: usize,
        conventions: Conventions,
        matrices: impl IntoIterator<Item = &'a Confusion>,
    ) -> Self {
        let none = vec![0; classes];
        let mut totals = Self {
            conventions,
            background: None,
            means: (0..classes).collect(),
            hits: none.clone(),
            truth: none.clone(),
            pred: none.clone(),
            unpredicted: none,
        };
        matrices.into_iter().for_each(|matrix| totals.add(matrix));
        totals
    }

    /// The same classes with the totals of one other matrix, in the same memory.
    pub(crate) fn set(&mut self, matrix: &Confusion) {
        for counts in [&mut self.hits, &mut self.truth, &mut self.pred, &mut self.unpredicted] {
            counts.fill(0);
        }
        self.add(matrix);
    }

    fn add_totals(&mut self, other: &Self) {
        let ours = [&mut self.hits, &mut self.truth, &mut self.pred, &mut self.unpredicted];
        let theirs = [&other.hits, &other.truth, &other.pred, &other.unpredicted];
        for (ours, theirs) in ours.into_iter().flatten().zip(theirs.into_iter().flatten()) {
            *ours += theirs;
        }
    }

    fn add(&mut self, matrix: &Confusion) {
        for ((truth, pred), count) in matrix.cells() {
            let (truth, pred, count) = (truth as usize, pred as usize, i128::from(count));
            self.truth[truth] += count;
            match self.pred.get_mut(pred) {
                Some(column) => *column += count,
                None => self.unpredicted[truth] += count,
            }
            if truth == pred {
                self.hits[truth] += count;
            }
        }
    }

    /// What a row adds to the sums from which [`Overlap::from_sums`] reads: four numbers a class.
    pub(crate) fn terms(protocol: &Segmentation, row: &Row) -> Vec<Term> {
        Self::of(protocol, [&row.confusion]).as_terms()
    }

    /// Four numbers a class.
    pub(crate) fn as_terms(&self) -> Vec<Term> {
        let four =
            |class: usize| [self.hits[class], self.truth[class], self.pred[class], self.unpredicted[class]];
        (0..self.hits.len()).flat_map(four).map(Term::Whole).collect()
    }

    /// The totals that such sums are.
    pub(crate) fn from_sums(protocol: &Segmentation, sums: &[Sum]) -> Self {
        Self::of(protocol, []).with_sums(sums)
    }

    /// The same classes with the totals that sums of [`Overlap::as_terms`] are.
    pub(crate) fn with_sums(mut self, sums: &[Sum]) -> Self {
        for (class, four) in sums.chunks_exact(4).enumerate() {
            let [hits, truth, pred, unpredicted] = [0, 1, 2, 3].map(|k| four[k].whole());
            self.hits[class] = hits;
            self.truth[class] = truth;
            self.pred[class] = pred;
            self.unpredicted[class] = unpredicted;
        }
        self
    }

    pub(crate) fn truth_pixels(&self, class: usize) -> i128 {
        self.truth[class]
    }

    pub(crate) fn pred_pixels(&self, class: usize) -> i128 {
        self.pred[class]
    }

    pub(crate) fn scored_pixels(&self) -> i128 {
        self.truth.iter().sum()
    }

    pub(crate) fn unpredicted_pixels(&self) -> i128 {
        self.unpredicted.iter().sum()
    }

    fn hits(&self) -> i128 {
        self.hits.iter().sum()
    }

    /// The class's intersection over union, the one of the means.
    pub(crate) fn iou(&self, class: usize) -> Reading {
        let (hits, truth, pred) = (self.hits[class], self.truth[class], self.pred[class]);
        quotient(hits, truth + pred - hits, IN_NEITHER)
    }

    /// The same as it is printed: some print 0 for a class in neither map.
    pub(crate) fn printed_iou(&self, class: usize) -> Reading {
        let iou = self.iou(class);
        if self.conventions.absent_iou_is_zero { iou.or(Ok(0.0)) } else { iou }
    }

    pub(crate) fn precision(&self, class: usize) -> Reading {
        quotient(self.hits[class], self.pred[class], "class is never predicted")
    }

    pub(crate) fn recall(&self, class: usize) -> Reading {
        quotient(self.hits[class], self.truth[class], "class does not occur in truth")
    }

    /// With at least one hit, 2PR/(P+R) is the quotient of counts as well.
    pub(crate) fn f1(&self, class: usize) -> Reading {
        let hits = self.hits[class];
        if self.conventions.harmonic_f1 {
            self.precision(class)?;
            self.recall(class)?;
            if hits == 0 {
                return Err("precision and recall are both 0".into());
            }
        }
        quotient(2 * hits, self.truth[class] + self.pred[class], IN_NEITHER)
    }

    /// The mean over the classes of the means.
    pub(crate) fn over_classes(&self, value: fn(&Self, usize) -> Reading) -> Reading {
        self.mean_of(|class| value(self, class))
    }

    /// The mean over the classes of the means of values that are known by class.
    pub(crate) fn mean_of(&self, value: impl Fn(usize) -> Reading) -> Reading {
        let mean = mean(self.means.iter().map(|&class| value(class)), NO_CLASS);
        if self.conventions.empty_is_zero { mean.or(Ok(0.0)) } else { mean }
    }

    pub(crate) fn miou(&self) -> Reading {
        self.over_classes(Self::iou)
    }

    pub(crate) fn pixel_accuracy(&self) -> Reading {
        if self.conventions.macro_pixel_accuracy {
            self.over_classes(Self::recall)
        } else {
            self.share(self.hits())
        }
    }

    fn share(&self, pixels: i128) -> Reading {
        let scored = self.scored_pixels();
        if self.conventions.overlap_epsilon {
            return Ok(guarded_quotient(pixels, scored));
        }
        if scored == 0 { Err(NO_SCORED_PIXEL) } else { quotient(pixels, scored, "") }
    }

    pub(crate) fn mistakes(&self, mistake: Mistake) -> Reading {
        let background = self.background.ok_or(NO_BACKGROUND)?;
        let hits = self.hits[background];
        let invented = self.truth[background] - hits - self.unpredicted[background];
        let missed = self.pred[background] - hits;
        self.share(match mistake {
            Mistake::Background => invented,
            Mistake::Missed => missed,
            Mistake::Classification => {
                self.scored_pixels() - self.hits() - self.unpredicted_pixels() - invented - missed
            }
        })
    }

    pub(crate) fn fwiou(&self) -> Reading {
        let present = || self.means.iter().copied().filter(|&class| self.truth[class] > 0);
        let pixels: i128 = present().map(|class| self.truth[class]).sum();
        if pixels == 0 {
            return Err(NO_SCORED_PIXEL);
        }
        let terms: Vec<f64> = present()
            .map(|class| Ok(self.truth[class] as f64 * self.iou(class)?))
            .collect::<Result<_, Reason>>()?;
        Ok(exact_sum(terms) / pixels as f64)
    }

    /// Cohen's kappa as 1 - N W / D with W = the wrong pixels and D = N^2 - E, neither of which
    /// cancels: the sum of T (N - P) over classes is D.
    pub(crate) fn kappa(&self) -> Reading {
        let scored = self.scored_pixels();
        if scored == 0 {
            return Err(NO_SCORED_PIXEL);
        }
        let wrong = scored - self.hits();
        let others = || self.truth.iter().zip(&self.pred).map(|(&truth, &pred)| (truth, scored - pred));
        if others().all(|(truth, rest)| truth == 0 || rest == 0) {
            return Err("truth and prediction are one and the same class".into());
        }
        let exact = others().try_fold(0i128, |sum, (truth, rest)| sum.checked_add(truth.checked_mul(rest)?));
        match exact.zip(scored.checked_mul(wrong)) {
            Some((chance, observed)) => quotient(chance - observed, chance, ""),
            // More pixels than squares fit in 127 bits: the same formula, rounded at each step.
            None => {
                let chance: f64 = others().map(|(truth, rest)| truth as f64 * rest as f64).sum();
                Ok(1.0 - scored as f64 * wrong as f64 / chance)
            }
        }
    }
}

/// What is read from the matrices of the same rows, made once, whoever asks.
struct Shared {
    protocol: Segmentation,
    totals: Arc<Overlap>,
    images: OnceLock<ImageMeans>,
}

impl Shared {
    fn new(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Arc<Self> {
        let make = || Self {
            protocol: protocol.clone(),
            totals: Arc::new(Overlap::over(protocol, rows)),
            images: OnceLock::new(),
        };
        let shared = rows.shared(make);
        if shared.protocol == *protocol { shared } else { Arc::new(make()) }
    }

    fn images(&self, rows: &Rows<'_, Row>) -> &ImageMeans {
        self.images.get_or_init(|| ImageMeans::new(&self.protocol, rows))
    }
}

/// A number read from the sum of all matrices.
pub(crate) fn total(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    read: impl Fn(&Overlap) -> Reading,
) -> Reading {
    requested(protocol, Measure::Overlap)?;
    read(&Overlap::new(protocol, rows))
}

/// A number of each class, read from the sum of all matrices.
pub(crate) fn by_class(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    read: fn(&Overlap, usize) -> Reading,
) -> Value {
    let totals = requested(protocol, Measure::Overlap).map(|()| Overlap::new(protocol, rows));
    totals.map_or_else(Value::Undefined, |totals| each_class(protocol, &totals, read))
}

/// A number of each class, read from totals.
pub(crate) fn each_class(
    protocol: &Segmentation,
    totals: &Overlap,
    read: fn(&Overlap, usize) -> Reading,
) -> Value {
    let names = protocol.labels.global.iter().enumerate();
    per_label(Ok(names.map(|(class, name)| (name.as_str(), read(totals, class)))))
}

/// Whole numbers of each class.
pub(crate) fn counts_by_class(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    read: fn(&Overlap, usize) -> i128,
) -> Value {
    let totals = requested(protocol, Measure::Overlap).map(|()| Overlap::new(protocol, rows));
    totals.map_or_else(Value::Undefined, |totals| each_count(protocol, &totals, read))
}

/// Whole numbers of each class, read from totals.
pub(crate) fn each_count(
    protocol: &Segmentation,
    totals: &Overlap,
    read: fn(&Overlap, usize) -> i128,
) -> Value {
    let names = protocol.labels.global.iter().enumerate();
    Value::PerLabel(names.map(|(class, name)| (name.clone(), Value::Count(read(totals, class)))).collect())
}

/// A whole number of all rows.
pub(crate) fn count(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    read: impl Fn(&Rows<'_, Row>) -> i128,
) -> Value {
    requested(protocol, Measure::Overlap).map_or_else(Value::Undefined, |()| Value::Count(read(rows)))
}

/// The sum of all matrices, row by row, with the column of pixels without a prediction.
pub(crate) fn confusion(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Value {
    requested(protocol, Measure::Overlap).map_or_else(Value::Undefined, |()| {
        let columns = protocol.classes() + 1;
        let unshared = (protocol.classes() > SHARED_CLASSES).then(|| rows.clone().on(&Alone));
        let cells = unshared.as_ref().unwrap_or(rows).folded(
            || vec![0i128; protocol.classes() * columns],
            |cells, row, times| {
                for ((truth, pred), count) in row.confusion.cells() {
                    cells[truth as usize * columns + pred as usize] += i128::from(count) * i128::from(times);
                }
            },
            |cells, others| cells.iter_mut().zip(others).for_each(|(cell, other)| *cell += other),
        );
        Value::Series(cells.into_iter().map(Value::Count).collect())
    })
}

/// The mean over the units with a scored pixel of a unit's own intersection over union.
pub(crate) fn miou_over_units(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Reading {
    over_units(protocol, rows, Overlap::miou, ImageMeans::miou)
}

/// The mean over the units with a scored pixel of a unit's own accuracy.
pub(crate) fn pixel_accuracy_over_units(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Reading {
    over_units(protocol, rows, Overlap::pixel_accuracy, ImageMeans::pixel_accuracy)
}

fn over_units(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    own: fn(&Overlap) -> Reading,
    mean: fn(&ImageMeans) -> Reading,
) -> Reading {
    requested(protocol, Measure::Overlap)?;
    let shared = Shared::new(protocol, rows);
    // A table of units asks row by row, where the sum of all matrices is the one of the unit.
    match rows.len() {
        1 if shared.totals.scored_pixels() == 0 => Err(NO_UNIT),
        1 => own(&shared.totals).or(Err(NO_UNIT)),
        _ => mean(shared.images(rows)),
    }
}

/// Each class's mean over the units where its intersection over union is defined.
pub(crate) fn iou_over_units(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Value {
    per_label(requested(protocol, Measure::Overlap).map(|()| {
        let ious: Vec<Reading> = Shared::new(protocol, rows).images(rows).ious().collect();
        protocol.labels.global.iter().map(String::as_str).zip(ious)
    }))
}

/// What a row adds to the means of [`iou_over_units`]: each class's own number, and whether it has one.
pub(crate) fn iou_terms(protocol: &Segmentation, row: &Row) -> Vec<Term> {
    let unit = Overlap::of(protocol, [&row.confusion]);
    let two = |class: usize| {
        let iou = unit.iou(class);
        [Term::Whole(iou.is_ok().into()), Term::Number(iou.unwrap_or(0.0))]
    };
    (0..protocol.classes()).flat_map(two).collect()
}

/// The means of images whose terms were summed.
pub(crate) fn iou_means(protocol: &Segmentation, sums: &[Sum]) -> Value {
    let mean = |two: &[Sum]| match two[0].whole() {
        0 => Err(NO_UNIT),
        units => Ok(two[1].number() / units as f64),
    };
    let names = protocol.labels.global.iter().map(String::as_str);
    per_label(Ok(names.zip(sums.chunks_exact(2).map(mean))))
}

#[cfg(test)]
mod tests {
    use super::super::protocol::Preset;
    use super::*;

    fn totals(cells: &[(u32, u32, u64)]) -> Overlap {
        let matrix: Confusion = cells.iter().map(|&(truth, pred, count)| ((truth, pred), count)).collect();
        Overlap::in_space(2, Preset::Strict.conventions(), [&matrix])
    }

    #[test]
    fn kappa_stays_right_where_squares_of_counts_leave_the_integers() {
        let scaled = |k: u64| totals(&[(0, 0, 10 * k), (0, 1, k), (1, 0, 3 * k), (1, 1, 6 * k)]).kappa();
        assert_eq!(scaled(1), Ok(114.0 / 194.0));
        assert!((scaled(1 << 60).unwrap() - 114.0 / 194.0).abs() < 1e-15);
    }

    #[test]
    fn kappa_of_rare_mistakes_among_many_pixels_does_not_cancel() {
        let many = 1 << 61;
        let kappa = totals(&[(0, 0, many), (0, 1, 1), (1, 0, 1), (1, 1, 3)]).kappa().unwrap();
        assert!((kappa - 0.75).abs() < 1e-15, "{kappa}");
        let more = totals(&[(0, 0, u64::MAX), (0, 1, 1), (1, 0, 1), (1, 1, 3)]).kappa().unwrap();
        assert!((more - 0.75).abs() < 1e-15, "{more}");
    }

    #[test]
    fn totals_beyond_64_bits_are_exact() {
        let largest = totals(&[(0, 0, u64::MAX), (0, 2, u64::MAX), (1, 0, u64::MAX)]);
        assert_eq!(largest.scored_pixels(), 3 * i128::from(u64::MAX));
        assert_eq!(largest.unpredicted_pixels(), i128::from(u64::MAX));
        assert_eq!(largest.iou(0), Ok(1.0 / 3.0));
    }
}
