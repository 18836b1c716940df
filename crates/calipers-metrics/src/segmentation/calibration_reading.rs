//! Sums over probabilities added up over images and read.

use super::old_sums::{Sum, Term};
use calipers_core::exact::exact_sum;
use calipers_core::exact::rounded_quotient;
use calipers_core::{CompactSum, ExactSum, Rows, Value};

use super::protocol::{Measure, Segmentation};
use super::reading::{NO_SCORED_PIXEL, NO_UNIT, Reading, Reason, mean, per_label, probabilities};
use super::row::{BinRow, CalibrationRow, Row};

/// How far above the smallest NLL a temperature still counts as the best one.
const AS_GOOD: f64 = 1e-6;

/// The probabilities of one or more images.
pub(crate) struct Calibration<'a> {
    source: Source<'a>,
    pixels: i128,
    empty_is_zero: bool,
}

/// Where the sums of all images come from.
enum Source<'a> {
    /// They are added up when they are needed.
    Images(Vec<&'a CalibrationRow>),
    /// They are known.
    Sums { infinite: i128, nll: f64, brier: f64, bins: Vec<Bin> },
}

/// One bin over all images.
#[derive(Clone, Copy)]
struct Bin {
    count: i128,
    correct: i128,
    confidence: Confidence,
}

/// A sum of confidences in two parts, neither of which can overflow: whole ones, and units of 2^-62.
#[derive(Clone, Copy, Default)]
struct Confidence {
    whole: i128,
    parts: i128,
}

impl Confidence {
    fn add(mut self, confidence: u128) -> Self {
        self.whole += (confidence >> UNIT_BITS) as i128;
        self.parts += (confidence & ((1 << UNIT_BITS) - 1)) as i128;
        self
    }

    fn merge(mut self, other: Self) -> Self {
        self.whole += other.whole;
        self.parts += other.parts;
        self
    }

    /// The sum, less a whole number, rounded once.
    fn less(self, subtracted: i128) -> f64 {
        let exact: ExactSum =
            pieces(self.whole - subtracted, 0).chain(pieces(self.parts, UNIT_BITS as i32)).collect();
        exact.value()
    }
}

/// The bits below the point of a row's confidences.
const UNIT_BITS: u32 = 62;

/// A whole number times 2^-`bits`, in pieces that are exact in f64.
fn pieces(number: i128, bits: i32) -> impl Iterator<Item = f64> {
    let sign = if number < 0 { -1.0 } else { 1.0 };
    (0..3).map(move |piece| {
        let digits = (number.unsigned_abs() >> (48 * piece)) & ((1 << 48) - 1);
        sign * digits as f64 * 2f64.powi(48 * piece - bits)
    })
}

impl Bin {
    fn new<'a>(images: impl Iterator<Item = &'a BinRow>) -> Self {
        let mut bin = Self { count: 0, correct: 0, confidence: Confidence::default() };
        for image in images {
            bin.count += i128::from(image.count);
            bin.correct += i128::from(image.correct);
            bin.confidence = bin.confidence.add(image.confidence);
        }
        bin
    }

    /// |hits - confidence|.
    fn gap(&self) -> f64 {
        self.confidence.less(self.correct).abs()
    }
}

impl<'a> Calibration<'a> {
    fn new(protocol: &Segmentation, images: Vec<&'a CalibrationRow>) -> Self {
        let pixels = images.iter().map(|image| i128::from(image.pixels)).sum();
        Self { source: Source::Images(images), pixels, empty_is_zero: protocol.conventions.empty_is_zero }
    }

    /// What a row adds to the sums from which [`Calibration::from_sums`] reads: four numbers, and
    /// three a bin.
    pub(crate) fn terms(_: &Segmentation, row: &Row) -> Vec<Term> {
        let Some(image) = row.pixels.as_ref().and_then(|pixels| pixels.calibration.as_deref()) else {
            return Vec::new();
        };
        let four =
            [Term::from(image.pixels), image.infinite.into(), (&image.nll).into(), (&image.brier).into()];
        four.into_iter().chain(bin_terms(&image.bins)).collect()
    }

    /// The probabilities of the images whose terms were summed.
    pub(crate) fn from_sums(protocol: &Segmentation, sums: &[Sum]) -> Self {
        let source = Source::Sums {
            infinite: sums[1].whole(),
            nll: sums[2].number(),
            brier: sums[3].number(),
            bins: bins_from_sums(&sums[4..]),
        };
        let empty_is_zero = protocol.conventions.empty_is_zero;
        Self { source, pixels: sums[0].whole(), empty_is_zero }
    }

    /// Whether there is anything to read: `Some` is the value or the reason when not.
    fn without_pixels(&self) -> Option<Reading> {
        let value = if self.empty_is_zero { Ok(0.0) } else { Err(NO_SCORED_PIXEL) };
        (self.pixels == 0).then_some(value)
    }

    fn images(&self) -> &[&'a CalibrationRow] {
        match &self.source {
            Source::Images(images) => images,
            Source::Sums { .. } => &[],
        }
    }

    fn sum(&self, sum: impl Fn(&CalibrationRow) -> &CompactSum) -> f64 {
        let mut total = ExactSum::new();
        self.images().iter().for_each(|image| sum(image).add_to(&mut total));
        total.value()
    }

    fn per_pixel(&self, sum: f64) -> f64 {
        sum / self.pixels.max(1) as f64
    }

    fn infinite(&self) -> i128 {
        match &self.source {
            Source::Images(images) => images.iter().map(|image| i128::from(image.infinite)).sum(),
            Source::Sums { infinite, .. } => *infinite,
        }
    }

    pub(crate) fn nll(&self) -> Reading {
        if let Some(without) = self.without_pixels() {
            return without;
        }
        let sum = || match &self.source {
            Source::Images(_) => self.sum(|image| &image.nll),
            Source::Sums { nll, .. } => *nll,
        };
        match self.infinite() {
            0 => Ok(self.per_pixel(sum())),
            infinite => {
                Err(format!("infinite: the true class has probability 0 at {infinite} pixel(s)").into())
            }
        }
    }

    pub(crate) fn brier(&self) -> Reading {
        let sum = || match &self.source {
            Source::Images(_) => self.sum(|image| &image.brier),
            Source::Sums { brier, .. } => *brier,
        };
        self.without_pixels().unwrap_or_else(|| Ok(self.per_pixel(sum())))
    }

    fn bins(&self) -> Vec<Bin> {
        match &self.source {
            Source::Images(_) => self.bins_of(|image| &image.bins),
            Source::Sums { bins, .. } => bins.clone(),
        }
    }

    fn bins_of(&self, bins: impl Fn(&'a CalibrationRow) -> &'a [BinRow]) -> Vec<Bin> {
        let number = self.images().first().map_or(0, |image| bins(image).len());
        (0..number).map(|k| Bin::new(self.images().iter().map(|image| &bins(image)[k]))).collect()
    }

    fn error(&self, bins: &[Bin]) -> Reading {
        self.without_pixels().unwrap_or_else(|| Ok(exact_sum(bins.iter().map(Bin::gap)) / self.pixels as f64))
    }

    pub(crate) fn ece(&self) -> Reading {
        self.error(&self.bins())
    }

    pub(crate) fn mce(&self) -> Reading {
        let filled = self.bins().into_iter().filter(|bin| bin.count > 0);
        filled.map(|bin| bin.gap() / bin.count as f64).max_by(f64::total_cmp).ok_or(NO_SCORED_PIXEL)
    }

    pub(crate) fn mean_confidence(&self) -> Reading {
        if self.pixels == 0 {
            return Err(NO_SCORED_PIXEL);
        }
        let bins = self.bins();
        let total = bins.iter().fold(Confidence::default(), |total, bin| total.merge(bin.confidence));
        Ok(total.less(0) / self.pixels as f64)
    }

    fn ece_of_class(&self, class: usize) -> Reading {
        self.error(&self.bins_of(|image| image.classwise.get(class).map_or(&[][..], |bins| bins)))
    }

    /// The mean NLL at each temperature factor; undefined as the NLL itself.
    fn temperature_nll(&self, factors: usize) -> Result<Vec<f64>, Reason> {
        self.nll()?;
        Ok((0..factors).map(|k| self.per_pixel(self.sum(|image| &image.temperature[k]))).collect())
    }
}

fn bin_terms(bins: &[BinRow]) -> impl Iterator<Item = Term> {
    bins.iter()
        .flat_map(|bin| [Term::from(bin.count), bin.correct.into(), Term::Whole(bin.confidence as i128)])
}

fn bins_from_sums(sums: &[Sum]) -> Vec<Bin> {
    let bin = |bin: &[Sum]| {
        let [count, correct, confidence] = [0, 1, 2].map(|k| bin[k].whole());
        Bin { count, correct, confidence: Confidence::default().add(confidence.unsigned_abs()) }
    };
    sums.chunks_exact(3).map(bin).collect()
}

/// A number of all images together.
pub(crate) fn total<'a>(
    protocol: &Segmentation,
    rows: &Rows<'a, Row>,
    read: fn(&Calibration<'a>) -> Reading,
) -> Reading {
    read(&Calibration::new(protocol, probabilities(protocol, rows, Measure::Calibration)?))
}

/// The mean over the images with a scored pixel of an image's own number, which must all be finite.
pub(crate) fn over_units<'a>(
    protocol: &Segmentation,
    rows: &Rows<'a, Row>,
    read: fn(&Calibration<'a>) -> Reading,
) -> Reading {
    let images = probabilities(protocol, rows, Measure::Calibration)?;
    let scored = images.into_iter().filter(|image| image.pixels > 0);
    let values: Vec<f64> =
        scored.map(|image| read(&Calibration::new(protocol, vec![image]))).collect::<Result<_, Reason>>()?;
    mean(values.into_iter().map(Ok), NO_UNIT)
}

/// Pixels whose true class has probability 0.
pub(crate) fn infinite_pixels(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Value {
    let images = probabilities(protocol, rows, Measure::Calibration);
    images.map_or_else(Value::Undefined, |images| Value::Count(Calibration::new(protocol, images).infinite()))
}

/// What the reliability diagram shows of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reliability {
    /// How many pixels it holds.
    Count,
    /// Their mean confidence.
    Confidence,
    /// The share that is right.
    Accuracy,
}

/// One line of the reliability diagram.
pub(crate) fn reliability(protocol: &Segmentation, rows: &Rows<'_, Row>, line: Reliability) -> Value {
    let images = match probabilities(protocol, rows, Measure::Calibration) {
        Ok(images) => images,
        Err(reason) => return Value::Undefined(reason),
    };
    let mut bins = Calibration::new(protocol, images).bins();
    if bins.is_empty() {
        bins = (0..protocol.bins.count).map(|_| Bin::new([].into_iter())).collect();
    }
    let point = |bin: Bin| match line {
        Reliability::Count => Value::Count(bin.count),
        _ if bin.count == 0 => Value::undefined(""),
        Reliability::Confidence => Value::Number(bin.confidence.less(0) / bin.count as f64),
        Reliability::Accuracy => Value::Number(rounded_quotient(bin.correct, bin.count)),
    };
    Value::Series(bins.into_iter().map(point).collect())
}

/// The calibration error of each class's own probability.
pub(crate) fn ece_by_class(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Value {
    per_label(class_errors(protocol, rows))
}

/// Its mean over all classes.
pub(crate) fn ece_over_classes(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Reading {
    mean_class_error(class_errors(protocol, rows)?)
}

/// The mean over all classes, which must all have one.
pub(crate) fn mean_class_error(errors: Vec<(&str, Reading)>) -> Reading {
    let values: Vec<f64> = errors.into_iter().map(|(_, error)| error).collect::<Result<_, Reason>>()?;
    mean(values.into_iter().map(Ok), NO_SCORED_PIXEL)
}

fn class_errors<'p>(
    protocol: &'p Segmentation,
    rows: &Rows<'_, Row>,
) -> Result<Vec<(&'p str, Reading)>, Reason> {
    let calibration = Calibration::new(protocol, probabilities(protocol, rows, Measure::Classwise)?);
    let names = protocol.labels.global.iter().enumerate();
    Ok(names.map(|(class, name)| (name.as_str(), calibration.ece_of_class(class))).collect())
}

/// What a row adds to the bins of each class: pixels, and three numbers a bin.
pub(crate) fn classwise_terms(protocol: &Segmentation, row: &Row) -> Vec<Term> {
    let Some(image) = row.pixels.as_ref().and_then(|pixels| pixels.calibration.as_deref()) else {
        return Vec::new();
    };
    let bins = (0..protocol.classes()).flat_map(|class| image.classwise.get(class));
    std::iter::once(image.pixels.into()).chain(bins.flat_map(|bins| bin_terms(bins))).collect()
}

/// The calibration error of each class, from summed terms.
pub(crate) fn class_errors_from_sums<'p>(
    protocol: &'p Segmentation,
    sums: &[Sum],
) -> Vec<(&'p str, Reading)> {
    let all = Source::Sums { infinite: 0, nll: 0.0, brier: 0.0, bins: Vec::new() };
    let empty_is_zero = protocol.conventions.empty_is_zero;
    let calibration = Calibration { source: all, pixels: sums[0].whole(), empty_is_zero };
    let bins = (sums.len() - 1) / protocol.classes().max(1);
    let names = protocol.labels.global.iter().map(String::as_str);
    let error = |sums: &[Sum]| calibration.error(&bins_from_sums(sums));
    names.zip(sums[1..].chunks_exact(bins.max(1)).map(error)).collect()
}

/// The mean NLL at each temperature factor.
pub(crate) fn temperature_nll(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Value {
    let series = temperatures(protocol, rows);
    series.map_or_else(Value::Undefined, |values| {
        Value::Series(values.into_iter().map(Value::Number).collect())
    })
}

/// Among the factors whose NLL is as good as the smallest, the one fewest steps from 1; of two, the
/// smaller.
pub(crate) fn best_temperature(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Reading {
    best_of(protocol, &temperatures(protocol, rows)?)
}

/// What a row adds to the NLL at each temperature factor: pixels, those of infinite NLL, sums.
pub(crate) fn temperature_terms(_: &Segmentation, row: &Row) -> Vec<Term> {
    let Some(image) = row.pixels.as_ref().and_then(|pixels| pixels.calibration.as_deref()) else {
        return Vec::new();
    };
    let sums = image.temperature.iter().map(Term::from);
    [image.pixels.into(), image.infinite.into()].into_iter().chain(sums).collect()
}

/// The best factor of the images whose terms were summed.
pub(crate) fn best_temperature_from_sums(protocol: &Segmentation, sums: &[Sum]) -> Reading {
    let source = Source::Sums { infinite: sums[1].whole(), nll: 0.0, brier: 0.0, bins: Vec::new() };
    let empty_is_zero = protocol.conventions.empty_is_zero;
    let calibration = Calibration { source, pixels: sums[0].whole(), empty_is_zero };
    calibration.nll()?;
    let values: Vec<f64> = sums[2..].iter().map(|sum| calibration.per_pixel(sum.number())).collect();
    best_of(protocol, &values)
}

fn best_of(protocol: &Segmentation, values: &[f64]) -> Reading {
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let factors = &protocol.temperatures;
    let neutral = factors.iter().position(|factor| factor.total_cmp(&1.0).is_ge()).unwrap_or(0);
    let good = (0..values.len()).filter(|&k| values[k] <= lowest + AS_GOOD);
    let best = good.min_by_key(|&k| (k.abs_diff(neutral), k));
    best.map(|k| factors[k]).ok_or(NO_SCORED_PIXEL)
}

fn temperatures(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Result<Vec<f64>, Reason> {
    let images = probabilities(protocol, rows, Measure::Temperature)?;
    Calibration::new(protocol, images).temperature_nll(protocol.temperatures.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidences_of_the_largest_counts_are_exact() {
        let most =
            BinRow { count: u64::MAX, correct: u64::MAX - 1, confidence: u128::from(u64::MAX) << UNIT_BITS };
        let bin = Bin::new([most; 4].iter());
        assert_eq!(bin.gap().to_bits(), 4f64.to_bits());
        let half = BinRow { count: 3, correct: 1, confidence: 5 << (UNIT_BITS - 1) };
        assert_eq!(Bin::new([half, half].iter()).gap().to_bits(), 3f64.to_bits());
    }
}
