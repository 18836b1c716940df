//! What rows come to: every column added up, term by term.

use std::collections::BTreeMap;

use super::collect::Precision;
use super::sums::{Ratios, Sum};
use super::terms::Term;
use crate::exact::floors::Aligned;
use crate::exact::{ExactSum, Rational, rational};

/// Up to so many quotients, their exact sum is short.
const MANY: usize = 64;

/// What some rows come to so far.
#[derive(Debug, Default)]
pub(super) struct Totals {
    rows: u64,
    /// How often the row counts that is being added.
    times: u32,
    columns: Vec<Total>,
}

#[derive(Debug, Default)]
enum Total {
    #[default]
    Nothing,
    Whole(i128),
    Number(Box<ExactSum>),
    Ratios(Vec<Rational>),
    Values(BTreeMap<u64, u64>),
}

impl Totals {
    /// Begins a row that counts so often.
    pub(super) fn begin_row(&mut self, times: u32) {
        self.rows += u64::from(times);
        self.times = times;
    }

    /// Adds a term of the row.
    #[inline]
    pub(super) fn add(&mut self, column: usize, term: Term<'_>) {
        if column >= self.columns.len() {
            self.columns.resize_with(column + 1, Total::default);
        }
        self.columns[column].add(term, self.times);
    }

    /// How many rows were added, each as often as it counts.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of each column.
    pub(super) fn sums(self, precision: Precision) -> Vec<Option<Sum>> {
        self.columns.into_iter().map(|total| total.sum(precision)).collect()
    }

    /// Adds the totals of other rows.
    pub(super) fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        if other.columns.len() > self.columns.len() {
            self.columns.resize_with(other.columns.len(), Total::default);
        }
        self.columns.iter_mut().zip(other.columns).for_each(|(ours, theirs)| ours.merge(theirs));
    }
}

impl Total {
    #[inline]
    fn add(&mut self, term: Term<'_>, times: u32) {
        if let (Self::Whole(sum), Term::Whole(number)) = (&mut *self, &term) {
            // Nearly all terms are counts.
            *sum += number * i128::from(times);
            return;
        }
        self.add_any(term, times);
    }

    fn add_any(&mut self, term: Term<'_>, times: u32) {
        if matches!(self, Self::Nothing) {
            *self = match term {
                Term::Whole(_) => Self::Whole(0),
                Term::Number(_) | Term::Exact(_) => Self::Number(Box::default()),
                Term::Ratio(_) => Self::Ratios(Vec::new()),
                Term::Value(_) => Self::Values(BTreeMap::new()),
            };
        }
        match (self, term) {
            (Self::Whole(sum), Term::Whole(number)) => *sum += number * i128::from(times),
            (Self::Number(sum), Term::Number(number)) => (0..times).for_each(|_| sum.add(number)),
            (Self::Number(sum), Term::Exact(more)) => (0..times).for_each(|_| more.add_to(sum)),
            (Self::Ratios(all), Term::Ratio(ratio)) => (0..times).for_each(|_| all.push(ratio.clone())),
            (Self::Values(counts), Term::Value(value)) => {
                *counts.entry(value).or_default() += u64::from(times)
            }
            _ => debug_assert!(false, "the terms of a column are of one sort"),
        }
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (_, Self::Nothing) => {}
            (ours @ Self::Nothing, theirs) => *ours = theirs,
            (Self::Whole(ours), Self::Whole(theirs)) => *ours += theirs,
            (Self::Number(ours), Self::Number(theirs)) => ours.merge(&theirs),
            (Self::Ratios(ours), Self::Ratios(theirs)) => ours.extend(theirs),
            (Self::Values(ours), Self::Values(theirs)) => {
                theirs.into_iter().for_each(|(value, times)| *ours.entry(value).or_default() += times);
            }
            _ => debug_assert!(false, "the terms of a column are of one sort"),
        }
    }

    fn sum(self, precision: Precision) -> Option<Sum> {
        Some(match self {
            Self::Nothing => return None,
            Self::Whole(sum) => Sum::Whole(sum),
            Self::Number(sum) => Sum::Exact(sum),
            Self::Ratios(all) => Sum::Ratios(ratios(all, precision)),
            Self::Values(counts) => Sum::Values(counts.into_iter().collect()),
        })
    }
}

fn ratios(all: Vec<Rational>, precision: Precision) -> Ratios {
    let known = (precision == Precision::Enough && all.len() > MANY).then(|| Aligned::new(&all)).flatten();
    match known.and_then(|aligned| aligned.total()) {
        Some(bounds) => Ratios::Between(bounds),
        None => Ratios::Exact(rational::sum(all.into_iter())),
    }
}
