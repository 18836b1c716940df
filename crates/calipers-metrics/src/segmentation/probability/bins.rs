//! Bins of confidences, summed over images.

use calipers_core::{ExactSum, Sums, Terms};

use crate::segmentation::row::evidence::pixel_mean;
use crate::segmentation::row::{BinRow, Row};

/// How many columns a bin has: pixels, right ones, and the two parts of its confidence.
pub(super) const COLUMNS: usize = 4;

/// The bits below the point of a row's confidences.
const UNIT_BITS: u32 = 62;

/// One bin over one or more images.
#[derive(Clone, Copy, Default)]
pub(super) struct Bin {
    pub(super) count: i128,
    pub(super) correct: i128,
    confidence: Confidence,
}

/// A sum of confidences in two parts, neither of which can overflow: whole ones, and units of 2^-62.
#[derive(Clone, Copy, Default)]
struct Confidence {
    whole: i128,
    parts: i128,
}

/// Adds bins to the columns from there on.
pub(super) fn add_bins(terms: &mut Terms<'_>, first: usize, bins: &[BinRow]) {
    for (row, first) in bins.iter().zip((first..).step_by(COLUMNS)) {
        let Bin { count, correct, confidence } = Bin::from(row);
        let numbers = [count, correct, confidence.whole, confidence.parts];
        numbers.into_iter().zip(first..).for_each(|(number, column)| terms.whole(column, number));
    }
}

/// The bins whose columns begin there.
pub(super) fn bins_at(sums: &Sums<'_, Row>, first: usize, bins: usize) -> Vec<Bin> {
    let bin = |first| {
        let [count, correct, whole, parts] = [0, 1, 2, 3].map(|column| sums.whole(first + column));
        Bin { count, correct, confidence: Confidence { whole, parts } }
    };
    (first..).step_by(COLUMNS).take(bins).map(bin).collect()
}

/// How far hits and confidences lie apart, bin by bin: the sum of the distances.
pub(super) fn gaps(bins: impl IntoIterator<Item = Bin>) -> ExactSum {
    bins.into_iter().map(|bin| bin.gap()).collect()
}

/// The sum of all confidences.
pub(super) fn confidences(bins: &[Bin]) -> ExactSum {
    let (whole, parts) = bins
        .iter()
        .map(|bin| bin.confidence)
        .fold((0, 0), |(whole, parts), sum| (whole + sum.whole, parts + sum.parts));
    Confidence { whole, parts }.less(0)
}

impl From<&BinRow> for Bin {
    fn from(row: &BinRow) -> Self {
        let confidence = Confidence {
            whole: (row.confidence >> UNIT_BITS) as i128,
            parts: (row.confidence & ((1 << UNIT_BITS) - 1)) as i128,
        };
        Self { count: row.count.into(), correct: row.correct.into(), confidence }
    }
}

impl Bin {
    /// |hits - confidence|.
    pub(super) fn gap(&self) -> f64 {
        self.confidence.less(self.correct).value().abs()
    }

    /// The mean confidence of a bin that is not empty.
    pub(super) fn mean_confidence(&self) -> f64 {
        pixel_mean(self.confidence.less(0), self.count)
    }
}

impl Confidence {
    /// The sum, less a whole number.
    fn less(self, subtracted: i128) -> ExactSum {
        pieces(self.whole - subtracted, 0).chain(pieces(self.parts, UNIT_BITS as i32)).collect()
    }
}

/// A whole number times 2^-`bits`, in pieces that are exact in f64.
fn pieces(number: i128, bits: i32) -> impl Iterator<Item = f64> {
    let sign = if number < 0 { -1.0 } else { 1.0 };
    (0..3).map(move |piece| {
        let digits = (number.unsigned_abs() >> (48 * piece)) & ((1 << 48) - 1);
        sign * digits as f64 * 2f64.powi(48 * piece - bits)
    })
}

#[cfg(test)]
mod tests {
    use calipers_core::{CompactSum, Number, Rows, UnitId, Value};

    use super::*;
    use crate::segmentation::Segmentation;
    use crate::segmentation::metrics::Line;
    use crate::segmentation::row::{CalibrationRow, PixelRow};

    /// The gap of images that have one bin each.
    fn gap(images: &[BinRow]) -> Value {
        let rows = images.iter().zip(0..).map(|(&bin, name): (_, u32)| {
            let calibration = CalibrationRow {
                pixels: 0,
                infinite: 0,
                nll: CompactSum::default(),
                brier: CompactSum::default(),
                bins: [bin].into(),
                classwise: [].into(),
                temperature: [].into(),
                saturated: 0,
            };
            let pixels = PixelRow { calibration: Some(calibration.into()), ..PixelRow::default() };
            let row = Row {
                height: 1,
                width: 1,
                ignored: 0,
                confusion: [].into_iter().collect(),
                pixels: Some(pixels),
            };
            (UnitId::from(name.to_string()), row)
        });
        let rows: Vec<_> = rows.collect();
        let number: Number<Segmentation> = Number::pooled(
            |_, row: &Row, terms| {
                let scores = row.pixels.as_ref().and_then(|pixels| pixels.calibration.as_deref());
                scores.iter().for_each(|scores| add_bins(terms, 0, &scores.bins));
            },
            |_, sums| Value::Number(bins_at(sums, 0, 1)[0].gap()),
        );
        let rows = Rows::new(rows.iter().map(|(id, row)| (id, row)).collect());
        Line { number, ..Line::DEFAULTS }.read(&Segmentation::default(), &rows)
    }

    #[test]
    fn confidences_of_the_largest_counts_are_exact() {
        let most =
            BinRow { count: u64::MAX, correct: u64::MAX - 1, confidence: u128::from(u64::MAX) << UNIT_BITS };
        assert_eq!(gap(&[most; 4]), Value::Number(4.0));
        let half = BinRow { count: 3, correct: 1, confidence: 5 << (UNIT_BITS - 1) };
        assert_eq!(gap(&[half, half]), Value::Number(3.0));
    }
}
