//! What rows come to: sums by column, from which a metric is read.

use std::cell::Cell;
use std::rc::Rc;

use num_bigint::{BigInt, BigUint};

use super::rows::Rows;
use crate::exact::fixed_point::power_of_two;
use crate::exact::floors::{self, Bounds};
use crate::exact::{ExactSum, Rational, rounded_quotient};
use crate::value::Value;

/// The sums of some rows, each counted as often as its weight says, and the rows themselves.
#[derive(Debug)]
pub struct Sums<'s, R> {
    rows: Rows<'s, R>,
    count: u64,
    columns: Rc<[Option<Sum>]>,
    /// Whether a number was asked for that is not known well enough.
    undecided: Rc<Cell<bool>>,
}

/// One sum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sum {
    /// Of whole numbers.
    Whole(i128),
    /// Of floats.
    Exact(Box<ExactSum>),
    /// Of floats, as `total * 2^exponent`, far from the smallest floats.
    Narrow { total: i128, exponent: i32 },
    /// Of quotients.
    Ratios(Ratios),
    /// How often each value occurs, values ascending.
    Values(Vec<(u64, u64)>),
}

/// A sum of quotients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ratios {
    Exact(Rational),
    Between(Bounds),
}

/// One of the two ends between which a sum of quotients is known to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sum is not below.
    Low,
    /// The sum is not above.
    High,
}

impl<'s, R> Sums<'s, R> {
    pub(crate) fn new(rows: Rows<'s, R>, count: u64, columns: Vec<Option<Sum>>) -> Self {
        Self { rows, count, columns: columns.into(), undecided: Rc::default() }
    }

    /// The rows that were added up; for what no sum holds, such as the names in a reason.
    pub fn rows(&self) -> &Rows<'s, R> {
        &self.rows
    }

    /// How many rows were added up, each as often as it counts.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of a column of whole numbers.
    pub fn whole(&self, column: usize) -> i128 {
        self.column(column).map_or(0, Sum::whole)
    }

    /// The sum of a column of floats, rounded once.
    pub fn number(&self, column: usize) -> f64 {
        self.column(column).map_or(0.0, Sum::number)
    }

    /// The sum of a column of floats over a whole number above 0, rounded once.
    pub fn number_over(&self, column: usize, divisor: i128) -> f64 {
        self.column(column).map_or(0.0, |sum| sum.number_over(divisor))
    }

    /// How often each value of a column occurs, values ascending; some may occur 0 times.
    pub fn values(&self, column: usize) -> &[(u64, u64)] {
        match self.column(column) {
            Some(Sum::Values(values)) => values,
            _ => &[],
        }
    }

    /// One end of the sum of a column of quotients.
    pub fn ratio(&self, column: usize, end: End) -> Rational {
        match self.column(column) {
            Some(Sum::Ratios(Ratios::Exact(sum))) => sum.clone(),
            Some(Sum::Ratios(Ratios::Between(bounds))) => at_end(bounds, end),
            _ => Rational::whole(0),
        }
    }

    /// The mean over all rows of a column of quotients, rounded once.
    pub fn ratio_mean(&self, column: usize) -> f64 {
        match self.column(column) {
            Some(Sum::Ratios(Ratios::Exact(sum))) => sum.over(&Rational::whole(self.count)).nearest(),
            Some(Sum::Ratios(Ratios::Between(bounds))) => floors::mean(*bounds, self.count.into())
                .unwrap_or_else(|| {
                    self.undecided.set(true);
                    f64::NAN
                }),
            _ => 0.0,
        }
    }

    /// Whether a number was asked for, since the last question, that is not known well enough.
    pub(crate) fn take_undecided(&self) -> bool {
        self.undecided.take()
    }

    fn is_exact(&self) -> bool {
        let unknown =
            |sum: &Sum| matches!(sum, Sum::Ratios(Ratios::Between(bounds)) if bounds.low != bounds.high);
        !self.columns.iter().flatten().any(unknown)
    }

    fn column(&self, column: usize) -> Option<&Sum> {
        self.columns.get(column).and_then(Option::as_ref)
    }
}

impl Sum {
    /// The sum of whole numbers.
    pub(crate) fn whole(&self) -> i128 {
        match self {
            Self::Whole(sum) => *sum,
            _ => 0,
        }
    }

    /// The sum of floats, rounded once.
    pub(crate) fn number(&self) -> f64 {
        match self {
            Self::Exact(sum) => sum.value(),
            Self::Narrow { total, exponent } => *total as f64 * power_of_two(*exponent),
            _ => 0.0,
        }
    }

    /// The sum of floats over a whole number above 0, rounded once.
    pub(crate) fn number_over(&self, divisor: i128) -> f64 {
        match self {
            Self::Exact(sum) => sum.over(divisor.unsigned_abs() as u64),
            Self::Narrow { total, exponent } => rounded_quotient(*total, divisor) * power_of_two(*exponent),
            _ => 0.0,
        }
    }
}

/// What is read at the lower ends of all sums of quotients, where the upper ends give the same; else
/// it is read again from exact sums. The number grows, or falls, with every sum.
pub fn settled<R>(groups: &[Sums<'_, R>], read: impl Fn(End) -> Value) -> Value {
    let low = read(End::Low);
    if !groups.iter().all(Sums::is_exact) && read(End::High) != low {
        groups.iter().for_each(|sums| sums.undecided.set(true));
    }
    low
}

fn at_end(sum: &Bounds, end: End) -> Rational {
    let numerator = BigInt::from(if end == End::Low { sum.low } else { sum.high });
    let denominator = BigUint::from(sum.divisor.unsigned_abs());
    match sum.exponent {
        exponent if exponent < 0 => Rational::new(numerator, denominator << -exponent),
        exponent => Rational::new(numerator << exponent, denominator),
    }
}
