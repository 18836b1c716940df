//! How a number over many rows follows from sums over them: what makes resampling fast.
//!
//! A resample only counts rows several times or not at all. A number that is a function of sums
//! over rows is then a function of weighted sums, which cost a multiplication where reading the
//! rows again costs a hundred.

use std::cmp::Ordering;

use crate::compact_sum::CompactSum;
use crate::protocol::Protocol;
use crate::value::Value;

/// How a metric's reading of many rows follows from single rows.
///
/// *Correctness.* Over any rows of an accumulator over which the metric is defined as a whole, the
/// shortcut and the reading of the rows give the same bits; a test holds every protocol to it.
pub enum Pooling<P: Protocol> {
    /// Only by reading the rows.
    Rows,
    /// The mean of the readings of single rows, where they are defined: their exact sum rounded once,
    /// divided by their number.
    Mean,
    /// The sum of the counts of single rows, where they are defined.
    Total,
    /// One quotient of two sums of whole numbers, over the rows that have them.
    Quotient(PerRow<P, (i128, i128)>),
    /// An exact sum, rounded once, divided by a sum of whole numbers, over the rows that have them.
    Average(PerRow<P, (Term, u64)>),
    /// The mean of numbers that floats need not hold, rounded once; every row has one, or one for each
    /// label.
    RoundedMean(PerRow<P, Vec<Scaled>>),
    /// Any function of sums.
    Tally(Tally<P>),
    /// A number of each group of rows, from sums over the group.
    Groups(Groups<P>),
    /// A number of each group of rows, from how often each value occurs in it.
    Counts(Counts<P>),
    /// The largest value of each group of rows.
    Largest(Largest<P>),
    /// One number from the means of all groups of rows.
    Conditions(Conditions<P>),
}

/// What one row gives, where it has the evidence.
pub type PerRow<P, T> = fn(&P, &<P as Protocol>::Row) -> Option<T>;

/// Sums over rows, and a number that is read from them.
pub struct Tally<P: Protocol> {
    /// Tallies of one name have the same terms.
    pub name: &'static str,
    /// What a row adds to each sum: as many terms, of the same sorts, for every row.
    pub terms: fn(&P, &P::Row) -> Vec<Term>,
    /// The number.
    pub read: fn(&P, &[Sum]) -> Value,
}

/// Which rows belong together.
pub struct Grouping<P: Protocol> {
    /// The label under which the metric has a number of the group.
    pub label: fn(&P::Row) -> &str,
    /// What the number needs beside sums, and what all rows of a group have alike: where they do not,
    /// there is no shortcut.
    pub alike: fn(&P::Row) -> Option<u64>,
}

impl<P: Protocol> Clone for Grouping<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Protocol> Copy for Grouping<P> {}

/// Sums over the rows of each group, and a number that is read from them.
pub struct Groups<P: Protocol> {
    /// Which rows belong together.
    pub grouping: Grouping<P>,
    /// What a row adds to each sum of its group: as many terms, of the same sorts, for every row.
    pub terms: fn(&P, &P::Row) -> Vec<Term>,
    /// The number, from what the rows have alike and the sums; asked for groups with a row.
    pub read: fn(&P, Option<u64>, &[Sum]) -> Value,
}

/// How often each value occurs in each group, and a number that is read from that.
pub struct Counts<P: Protocol> {
    /// Which rows belong together.
    pub grouping: Grouping<P>,
    /// The value of a row; one without is left out.
    pub item: PerRow<P, u64>,
    /// The number, from values in ascending order and how often each occurs; some may occur 0 times.
    pub read: fn(&P, &[(u64, u32)]) -> Value,
}

/// The largest value of each group, and the number that it stands for.
pub struct Largest<P: Protocol> {
    /// Which rows belong together.
    pub grouping: Grouping<P>,
    /// The value of a row; one without is left out.
    pub item: PerRow<P, u64>,
    /// The number of a group that has a value.
    pub read: fn(u64) -> Value,
}

/// Sums over the rows of each condition, and a number that is read from all of them together.
pub struct Conditions<P: Protocol> {
    /// The order of conditions; rows that are equal in it are of one condition.
    pub order: fn(&P::Row, &P::Row) -> Ordering,
    /// The numbers of a row that are summed over its condition; every row has as many.
    pub numbers: PerRow<P, Vec<Scaled>>,
    /// The number, from the conditions with a row in their order; `None` where the sums are not
    /// known well enough.
    pub read: ReadConditions<P>,
}

/// A number from what was drawn of each condition.
pub type ReadConditions<P> = fn(&P, &[Condition<'_, <P as Protocol>::Row>]) -> Option<Value>;

/// What was drawn of a condition.
pub struct Condition<'r, R> {
    /// One of its rows.
    pub row: &'r R,
    /// How many were drawn.
    pub rows: u64,
    /// The sums over them.
    pub sums: Vec<Bounds>,
}

/// A sum between `low` and `high` times `2^exponent / divisor`; the ends of an exact one are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The sum is not below.
    pub low: i128,
    /// The sum is not above.
    pub high: i128,
    /// What both ends are divided by; the same for all conditions.
    pub divisor: i128,
    /// Of two; the same for all conditions.
    pub exponent: i32,
}

/// A number close to `significand * 2^exponent`: not below, and less than one unit of the significand
/// above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// At most 2^[`Scaled::BITS`] in size.
    pub significand: i128,
    /// Of two.
    pub exponent: i32,
    /// Whether it is this very number.
    pub exact: bool,
    /// The number as a quotient of small whole numbers, where it is one.
    pub quotient: Option<(i64, u64)>,
}

impl Scaled {
    /// The bits of a significand: room for sums over 2^25 rows below those of an i128.
    pub const BITS: u32 = 101;
}

/// What a row adds to a sum.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A whole number.
    Whole(i128),
    /// A finite number.
    Number(f64),
    /// A sum of its own.
    Exact(CompactSum),
}

/// A sum over rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// Of whole numbers.
    Whole(i128),
    /// Of other numbers, exact and rounded once.
    Number(f64),
}

impl Sum {
    /// The sum of whole numbers; 0 for others, which no tally mistakes for them.
    pub fn whole(self) -> i128 {
        match self {
            Self::Whole(sum) => sum,
            Self::Number(_) => 0,
        }
    }

    /// The sum as a number.
    pub fn number(self) -> f64 {
        match self {
            Self::Whole(sum) => sum as f64,
            Self::Number(sum) => sum,
        }
    }
}

impl From<u64> for Term {
    fn from(count: u64) -> Self {
        Self::Whole(count.into())
    }
}

impl From<f64> for Term {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&CompactSum> for Term {
    fn from(sum: &CompactSum) -> Self {
        Self::Exact(sum.clone())
    }
}
