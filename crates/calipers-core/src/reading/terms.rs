//! What a row adds to sums.

use std::borrow::Cow;

use super::totals::Totals;
use crate::exact::{CompactSum, Rational};

/// What a row adds to each of some columns. A column that nothing is added to is 0.
///
/// All terms of a column are of one sort: whole numbers, floats, quotients or values.
#[derive(Debug, Default)]
pub struct Terms<'r> {
    /// For whoever wants them row by row.
    list: Vec<(usize, Term<'r>)>,
    /// Where they are added up at once instead: a list per row would cost more than its sums.
    totals: Option<Totals>,
}

/// One addend.
#[derive(Clone, Debug)]
pub(crate) enum Term<'r> {
    /// A whole number.
    Whole(i128),
    /// A float.
    Number(f64),
    /// A sum of floats.
    Exact(Cow<'r, CompactSum>),
    /// A quotient of whole numbers.
    Ratio(Rational),
    /// A value whose occurrences are counted.
    Value(u64),
}

impl<'r> Terms<'r> {
    /// Adds a whole number to a column.
    pub fn whole(&mut self, column: usize, number: impl Into<i128>) {
        let number = number.into();
        if number != 0 {
            self.add(column, Term::Whole(number));
        }
    }

    /// Adds a float to a column.
    pub fn number(&mut self, column: usize, number: f64) {
        self.add(column, Term::Number(number));
    }

    /// Adds a sum to a column.
    pub fn exact(&mut self, column: usize, sum: &'r CompactSum) {
        self.add(column, Term::Exact(Cow::Borrowed(sum)));
    }

    /// Adds a quotient to a column.
    pub fn ratio(&mut self, column: usize, ratio: Rational) {
        self.add(column, Term::Ratio(ratio));
    }

    /// Counts one more occurrence of a value in a column; at most one per row.
    pub fn value(&mut self, column: usize, value: u64) {
        self.add(column, Term::Value(value));
    }

    // Inlined, so that the sort of a term is known where it is added up.
    #[inline]
    fn add(&mut self, column: usize, term: Term<'r>) {
        match &mut self.totals {
            Some(totals) => totals.add(column, term),
            None => self.list.push((column, term)),
        }
    }

    /// Terms that are added up.
    pub(super) fn adding_up() -> Self {
        Self { list: Vec::new(), totals: Some(Totals::default()) }
    }

    /// The totals, where terms are added up.
    pub(super) fn totals(&mut self) -> &mut Totals {
        self.totals.get_or_insert_default()
    }

    /// Takes the listed terms out.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (usize, Term<'r>)> + '_ {
        self.list.drain(..)
    }
}
