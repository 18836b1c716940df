//! The terms of all rows, cut into columns whose weighted sums stand for them.

use super::column::Column;
use super::partition::{Histogram, Occurrence, Partition};
use crate::exact::floors::Aligned;
use crate::exact::{ExactSum, Rational};
use crate::metric::AddTerms;
use crate::protocol::Protocol;
use crate::reading::{Ratios, Rows, Sum, Term, Terms};

/// The columns of one set of terms.
pub(super) struct Cut {
    columns: Vec<Kind>,
}

enum Kind {
    /// Nothing is added to the column.
    Nothing,
    Sum(Column),
    /// Floors of quotients, and what they are counted in.
    Ratios(Column, Aligned),
    /// A place among the histograms.
    Values(usize),
}

/// Terms of all rows, column by column.
type Columns<'r> = Vec<RowTerms<'r>>;

/// What the rows add to one column. Most columns count: a count is a sixth of a term in memory.
pub(super) enum RowTerms<'r> {
    /// Whole numbers; 0 for a row without a term.
    Whole(Vec<i64>),
    /// Others; nothing for a row without a term.
    Any(Vec<Option<Term<'r>>>),
}

impl<'r> RowTerms<'r> {
    /// Adds a term of the row at a place, which is the last so far or comes later.
    fn add(&mut self, place: usize, term: Term<'r>) {
        if let (Self::Whole(counts), Term::Whole(number)) = (&mut *self, &term) {
            counts.resize(counts.len().max(place + 1), 0);
            let sum = i64::try_from(*number).ok().and_then(|number| counts[place].checked_add(number));
            if let Some(sum) = sum {
                counts[place] = sum;
                return;
            }
        }
        let mut terms = std::mem::replace(self, Self::Whole(Vec::new())).into_terms();
        terms.resize(terms.len().max(place + 1), None);
        let earlier = terms[place].take();
        terms[place] = Some(match earlier {
            Some(earlier) => together(earlier, &term),
            None => term,
        });
        *self = Self::Any(terms);
    }

    /// The same as terms of any sort.
    fn into_terms(self) -> Vec<Option<Term<'r>>> {
        let term = |count: i64| (count != 0).then(|| Term::Whole(count.into()));
        match self {
            Self::Whole(counts) => counts.into_iter().map(term).collect(),
            Self::Any(terms) => terms,
        }
    }
}

/// What every row adds to the sums.
pub(super) fn terms_of<'r, P: Protocol>(
    protocol: &P,
    rows: &Rows<'r, P::Row>,
    add: AddTerms<P>,
) -> Columns<'r> {
    let mut columns: Columns<'r> = Vec::new();
    let mut own = Terms::default();
    for (place, row) in rows.iter().enumerate() {
        add(protocol, row, &mut own);
        for (column, term) in own.drain() {
            if column >= columns.len() {
                // Room that is not written to costs nothing.
                columns.resize_with(column + 1, || RowTerms::Whole(Vec::with_capacity(rows.len())));
            }
            columns[column].add(place, term);
        }
    }
    for column in &mut columns {
        match column {
            // No row adds anything here.
            RowTerms::Whole(counts) if counts.is_empty() => {}
            RowTerms::Whole(counts) => counts.resize(rows.len(), 0),
            RowTerms::Any(terms) => terms.resize(rows.len(), None),
        }
    }
    columns
}

/// Two terms that a row adds to one column.
fn together<'r>(earlier: Term<'r>, later: &Term<'r>) -> Term<'r> {
    match (&earlier, later) {
        (Term::Whole(a), Term::Whole(b)) => Term::Whole(a + b),
        (Term::Ratio(a), Term::Ratio(b)) => Term::Ratio(a.plus(b)),
        (Term::Value(_), _) => earlier,
        _ => {
            let mut sum = ExactSum::new();
            for term in [&earlier, later] {
                match term {
                    Term::Number(number) => sum.add(*number),
                    Term::Exact(more) => more.add_to(&mut sum),
                    _ => debug_assert!(false, "the terms of a column are of one sort"),
                }
            }
            Term::Exact(std::borrow::Cow::Owned(sum.into()))
        }
    }
}

impl Cut {
    /// Cuts the terms for the groups of a partition; `None` where a column cannot be cut.
    pub(super) fn new(
        columns: Columns<'_>,
        partition: &mut Partition,
        histograms: &mut Vec<Histogram>,
    ) -> Option<Self> {
        let columns = columns.into_iter().map(|terms| Kind::new(terms, partition, histograms));
        Some(Self { columns: columns.collect::<Option<_>>()? })
    }

    /// The sums of a group, from the sums of all pieces and the occurrences of all values.
    pub(super) fn sums(
        &self,
        pieces: &[f64],
        histograms: &[Histogram],
        occurrences: &[Vec<Occurrence>],
        group: usize,
    ) -> Vec<Option<Sum>> {
        let one = |kind: &Kind| match kind {
            Kind::Nothing => None,
            Kind::Sum(column) => Some(column.sum(pieces)),
            Kind::Ratios(column, aligned) => match column.sum(pieces) {
                Sum::Whole(floors) => {
                    let bounds = aligned.bounds(floors, Partition::rows(pieces));
                    Some(Sum::Ratios(Ratios::Between(bounds)))
                }
                _ => None,
            },
            Kind::Values(place) => {
                Some(Sum::Values(histograms[*place].of_group(&occurrences[*place], group).to_vec()))
            }
        };
        self.columns.iter().map(one).collect()
    }
}

impl Kind {
    fn new(terms: RowTerms<'_>, partition: &mut Partition, histograms: &mut Vec<Histogram>) -> Option<Self> {
        let terms = match terms {
            RowTerms::Whole(counts) if counts.iter().all(|count| *count == 0) => return Some(Self::Nothing),
            RowTerms::Whole(counts) => {
                let counts: Vec<Term<'_>> =
                    counts.into_iter().map(|count| Term::Whole(count.into())).collect();
                return Some(Self::Sum(partition.column(&counts)?));
            }
            RowTerms::Any(terms) => terms,
        };
        let filled = |nothing: Term<'static>| -> Vec<Term<'_>> {
            terms.iter().map(|term| term.clone().unwrap_or_else(|| nothing.clone())).collect()
        };
        Some(match terms.iter().flatten().next() {
            None => Self::Nothing,
            Some(Term::Whole(_)) => Self::Sum(partition.column(&filled(Term::Whole(0)))?),
            Some(Term::Number(_) | Term::Exact(_)) => {
                Self::Sum(partition.column(&filled(Term::Number(0.0)))?)
            }
            Some(Term::Ratio(_)) => {
                let ratio = |term: &Option<Term<'_>>| match term {
                    Some(Term::Ratio(ratio)) => ratio.clone(),
                    _ => Rational::whole(0),
                };
                let mut aligned = Aligned::new(&terms.iter().map(ratio).collect::<Vec<_>>())?;
                let floors: Vec<Term<'_>> = aligned.floors.drain(..).map(Term::Whole).collect();
                Self::Ratios(partition.column(&floors)?, aligned)
            }
            Some(Term::Value(_)) => {
                let value = |term: &Option<Term<'_>>| match term {
                    Some(Term::Value(value)) => Some(*value),
                    _ => None,
                };
                let values: Vec<Option<u64>> = terms.iter().map(value).collect();
                let new = Histogram::new(partition, &values);
                let known = histograms.iter().position(|known| *known == new);
                Self::Values(known.unwrap_or_else(|| {
                    histograms.push(new);
                    histograms.len() - 1
                }))
            }
        })
    }
}
