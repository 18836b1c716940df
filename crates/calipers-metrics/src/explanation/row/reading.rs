//! How sums of rows become quotients and means, and the reasons why there is none.

use calipers_core::exact::exact_mean;
use calipers_core::{CompactSum, Sums, Terms, Value};

use crate::explanation::row::Row;
use crate::reading::{Reading, quotient};

pub(crate) const NO_INSTANCES: &str = "no explained instances";
pub(crate) const ZERO_WEIGHT: &str = "0/0: weight 0 on a fidelity term of 0";
pub(crate) const LENGTHS_DIFFER: &str = "curves have different lengths";
pub(crate) const AXES_DIFFER: &str = "units have different x";
pub(crate) const NO_ELEMENTS: &str = "mask has no elements";
pub(crate) const NO_POSITIVE: &str = "target mask has no positive element";
pub(crate) const NO_NEGATIVE: &str = "target mask has no negative element";
pub(crate) const NONE_SELECTED: &str = "no element is selected (pred_mask > threshold)";
pub(crate) const NEITHER: &str = "neither mask has a positive element";
pub(crate) const ZERO_MASK: &str = "mask is zero everywhere";
pub(crate) const NO_RANGE: &str = "x range is 0";
pub(crate) const PUBLISHED_NAN: &str = "published code returns NaN";
/// What a single unit shows in the table of units for evidence it lacks.
const NO_EVIDENCE: &str = "the unit lacks a key that this needs";

/// The value that reports print.
pub(crate) fn number(reading: Reading) -> Value {
    reading.map_or_else(Value::Undefined, Value::finite)
}

/// The same, for a reading that needs evidence.
pub(crate) fn given(reading: Option<Reading>) -> Value {
    reading.map_or(Value::undefined(NO_EVIDENCE), number)
}

/// The value of a unit that a mean is taken of; an infinite one makes the mean infinite.
pub(crate) fn of_unit(reading: Option<Reading>) -> Value {
    match reading {
        Some(Ok(value)) => Value::Number(value),
        other => given(other),
    }
}

/// The mean of the defined values; of none, the first reason. `None` without values.
pub(crate) fn mean(values: impl Iterator<Item = Reading> + Clone) -> Option<Reading> {
    let first = values.clone().next()?;
    Some(exact_mean(values.flatten()).map_or(first, Ok))
}

/// A quotient of two sums over rows: its place among those of one set of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pooled(pub(crate) usize);

/// The columns of a [`Pooled`] quotient.
const COLUMNS: usize = 3;

impl Pooled {
    /// Adds counts.
    pub(crate) fn whole(self, terms: &mut Terms<'_>, numerator: impl Into<i128>, divisor: u64) {
        terms.whole(self.numerator(), numerator);
        self.divide(terms, divisor);
    }

    /// Adds a sum over so many instances.
    pub(crate) fn exact<'r>(self, terms: &mut Terms<'r>, numerator: &'r CompactSum, divisor: u64) {
        terms.exact(self.numerator(), numerator);
        self.divide(terms, divisor);
    }

    /// Adds a number over so many instances.
    pub(crate) fn number(self, terms: &mut Terms<'_>, numerator: f64, divisor: u64) {
        terms.number(self.numerator(), numerator);
        self.divide(terms, divisor);
    }

    fn divide(self, terms: &mut Terms<'_>, divisor: u64) {
        terms.whole(self.divisor(), divisor);
        // A row may have the evidence and no instance.
        terms.whole(self.rows(), 1);
    }

    /// Whether a row has the evidence.
    pub(crate) fn is_given(self, sums: &Sums<'_, Row>) -> bool {
        sums.whole(self.rows()) > 0
    }

    /// The numerator and the divisor of a quotient of counts; `None` without evidence.
    pub(crate) fn counts(self, sums: &Sums<'_, Row>) -> Option<(i128, i128)> {
        self.is_given(sums).then(|| (sums.whole(self.numerator()), sums.whole(self.divisor())))
    }

    /// The quotient of counts.
    pub(crate) fn share(self, sums: &Sums<'_, Row>) -> Option<Reading> {
        self.counts(sums).map(|(numerator, divisor)| quotient(numerator, divisor, NO_INSTANCES))
    }

    /// The quotient of a sum of numbers and a count.
    pub(crate) fn mean(self, sums: &Sums<'_, Row>) -> Option<Reading> {
        self.is_given(sums).then(|| match sums.whole(self.divisor()) {
            0 => Err(NO_INSTANCES.into()),
            divisor => Ok(sums.number_over(self.numerator(), divisor)),
        })
    }

    fn rows(self) -> usize {
        self.0 * COLUMNS
    }

    fn divisor(self) -> usize {
        self.0 * COLUMNS + 1
    }

    fn numerator(self) -> usize {
        self.0 * COLUMNS + 2
    }
}
