//! Adding rows up, one after the other: the way of reports, and of what is not known well enough.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::rows::Rows;
use super::sums::{Ratios, Sum, Sums};
use super::terms::{Term, Terms};
use crate::exact::floors::Aligned;
use crate::exact::{ExactSum, Rational, rational};
use crate::metric::AddTerms;
use crate::protocol::Protocol;

/// Up to so many quotients, their exact sum is short.
const MANY: usize = 64;

/// How well sums of quotients are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Exactly where that is short, else to the first bits, which nearly always settle a number.
    Enough,
    /// Exactly.
    Full,
}

/// The sums of all rows together.
pub(crate) fn collected<'s, P: Protocol>(
    protocol: &P,
    rows: &Rows<'s, P::Row>,
    terms: AddTerms<P>,
    precision: Precision,
) -> Sums<'s, P::Row> {
    let totals = rows.folded(
        Totals::default,
        |totals, row, times| {
            let mut own = Terms::default();
            terms(protocol, row, &mut own);
            totals.add(&mut own, times);
        },
        Totals::merge,
    );
    Sums::new(
        rows.clone(),
        totals.rows,
        totals.columns.into_iter().map(|total| total.sum(precision)).collect(),
    )
}

/// The rows of each group, groups in order.
pub(crate) fn grouped<'s, R>(rows: &Rows<'s, R>, order: fn(&R, &R) -> Ordering) -> Vec<Rows<'s, R>> {
    let mut places: Vec<u32> = rows.positions().collect();
    places.sort_by(|&a, &b| order(rows.at(a as usize), rows.at(b as usize)));
    let same = |a: &u32, b: &u32| order(rows.at(*a as usize), rows.at(*b as usize)).is_eq();
    places.chunk_by(same).map(|members| rows.of(members.into())).collect()
}

/// What some rows come to so far.
#[derive(Default)]
struct Totals {
    rows: u64,
    columns: Vec<Total>,
}

#[derive(Default)]
enum Total {
    #[default]
    Nothing,
    Whole(i128),
    Number(Box<ExactSum>),
    Ratios(Vec<Rational>),
    Values(BTreeMap<u64, u64>),
}

impl Totals {
    fn add(&mut self, terms: &mut Terms<'_>, times: u32) {
        self.rows += u64::from(times);
        for (column, term) in terms.drain() {
            if column >= self.columns.len() {
                self.columns.resize_with(column + 1, Total::default);
            }
            self.columns[column].add(term, times);
        }
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        if other.columns.len() > self.columns.len() {
            self.columns.resize_with(other.columns.len(), Total::default);
        }
        self.columns.iter_mut().zip(other.columns).for_each(|(ours, theirs)| ours.merge(theirs));
    }
}

impl Total {
    fn add(&mut self, term: Term<'_>, times: u32) {
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
