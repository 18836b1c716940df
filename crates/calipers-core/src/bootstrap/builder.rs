//! From rows to the columns whose weighted sums stand for them.

use std::collections::BTreeMap;

use super::column::Column;
use super::known_bits::{Aligned, KnownColumn};
use super::partition::{Descent, Histogram, Partition};
use super::shortcut::{Formula, Shortcut};
use crate::pooling::{Grouping, Pooling, Scaled, Term};
use crate::protocol::{Metric, Protocol, Rows};
use crate::value::Value;
use crate::weighted_sum::Panels;

/// Cuts columns, each piece once.
pub(super) struct Builder<'b, 'a, P: Protocol> {
    protocol: &'b P,
    rows: &'b Rows<'a, P::Row>,
    pub(super) panels: Panels,
    pub(super) partitions: Vec<Partition>,
    pub(super) histograms: Vec<Histogram>,
    tallies: BTreeMap<&'static str, Option<Vec<Column>>>,
}

impl<'b, 'a, P: Protocol> Builder<'b, 'a, P> {
    pub(super) fn new(protocol: &'b P, rows: &'b Rows<'a, P::Row>) -> Self {
        Self {
            protocol,
            rows,
            panels: Panels::new(rows.len()),
            partitions: Vec::new(),
            histograms: Vec::new(),
            tallies: BTreeMap::new(),
        }
    }

    /// How the metric follows from weighted sums, where it does.
    pub(super) fn shortcut(&mut self, metric: &Metric<P>, labels: &[String]) -> Option<Shortcut<P>> {
        let (protocol, rows) = (self.protocol, self.rows);
        let single = |i: usize| (metric.read)(protocol, &rows.select([i]));
        let (columns, formula) = match protocol.pooling(metric) {
            Pooling::Rows => return None,
            Pooling::Mean => {
                let values = (0..rows.len()).map(|i| single(i).as_f64().map(|x| (Term::Number(x), 1)));
                (self.two_columns(values, &Term::Number(0.0))?, Formula::Mean)
            }
            Pooling::Total => {
                let count = |value| match value {
                    Value::Count(count) => Some((Term::Whole(count), 1)),
                    _ => None,
                };
                let counts = (0..rows.len()).map(|i| count(single(i)));
                (self.two_columns(counts, &Term::Whole(0))?, Formula::Total)
            }
            Pooling::Quotient(parts) => {
                let parts = |row| parts(protocol, row).map(|(part, whole)| (Term::Whole(part), whole));
                (self.two_columns(rows.iter().map(parts), &Term::Whole(0))?, Formula::Quotient)
            }
            Pooling::Average(parts) => {
                let parts = |row| parts(protocol, row).map(|(sum, count)| (sum, i128::from(count)));
                let parts: Vec<_> = rows.iter().map(parts).collect();
                let sort = parts.iter().flatten().next().map_or(Term::Number(0.0), |(sum, _)| match sum {
                    Term::Exact(_) => Term::Exact(Default::default()),
                    _ => Term::Number(0.0),
                });
                (self.two_columns(parts, &sort)?, Formula::Quotient)
            }
            Pooling::Tally(tally) => {
                if !self.tallies.contains_key(tally.name) {
                    let columns = terms(rows.iter(), |row| (tally.terms)(protocol, row));
                    let columns = columns.and_then(|columns| {
                        columns.iter().map(|terms| self.column(terms)).collect::<Option<Vec<_>>>()
                    });
                    self.tallies.insert(tally.name, columns);
                }
                (self.tallies[tally.name].clone()?, Formula::Tally(tally.read))
            }
            Pooling::RoundedMean(value) => {
                let columns = by_place(rows.iter().map(|row| value(protocol, row)), labels.len().max(1))?;
                let means = columns.iter().map(|values| self.known_column(values));
                return Some(Shortcut::RoundedMeans(means.collect::<Option<_>>()?));
            }
            Pooling::Conditions(conditions) => {
                let first = (conditions.numbers)(protocol, rows.iter().next()?)?.len();
                let columns = by_place(rows.iter().map(|row| (conditions.numbers)(protocol, row)), first)?;
                let order = |a: usize, b: usize| (conditions.order)(rows.at(a), rows.at(b));
                let partition = self.known_partition(Partition::by_order(rows.len(), order));
                let known = &mut self.partitions[partition];
                let column = |values: &Vec<Scaled>| {
                    KnownColumn::new(Aligned::new(values)?, |terms| known.column(terms))
                };
                let columns = columns.iter().map(column).collect::<Option<_>>()?;
                return Some(Shortcut::Conditions { partition, columns, read: conditions.read });
            }
            Pooling::Groups(groups) => {
                let partition = self.partition(&groups.grouping)?;
                let columns = terms(rows.iter(), |row| (groups.terms)(protocol, row))?;
                let known = &mut self.partitions[partition];
                let columns = columns.iter().map(|terms| known.column(terms)).collect::<Option<_>>()?;
                let places = known.places(labels)?;
                return Some(Shortcut::Groups { partition, columns, groups: places, read: groups.read });
            }
            Pooling::Counts(counts) => {
                let partition = self.partition(&counts.grouping)?;
                let items: Vec<_> = rows.iter().map(|row| (counts.item)(protocol, row)).collect();
                let histogram = Histogram::new(&self.partitions[partition], &items);
                let known = self.histograms.iter().position(|known| *known == histogram);
                let histogram = known.unwrap_or_else(|| {
                    self.histograms.push(histogram);
                    self.histograms.len() - 1
                });
                let groups = self.partitions[partition].places(labels)?;
                return Some(Shortcut::Counts { partition, histogram, groups, read: counts.read });
            }
            Pooling::Largest(largest) => {
                let partition = self.partition(&largest.grouping)?;
                let items: Vec<_> = rows.iter().map(|row| (largest.item)(protocol, row)).collect();
                let groups = self.partitions[partition].places(labels)?;
                let descent = Descent::new(&self.partitions[partition], &items);
                return Some(Shortcut::Largest { descent, groups, read: largest.read });
            }
        };
        Some(Shortcut::Sums { columns, formula })
    }

    /// A column of terms and one of whole numbers; rows that do not take part add nothing.
    fn two_columns(
        &mut self,
        parts: impl IntoIterator<Item = Option<(Term, i128)>>,
        nothing: &Term,
    ) -> Option<Vec<Column>> {
        let (terms, counts): (Vec<Term>, Vec<Term>) = parts
            .into_iter()
            .map(|part| part.unwrap_or_else(|| (nothing.clone(), 0)))
            .map(|(term, count)| (term, Term::Whole(count)))
            .unzip();
        Some(vec![self.column(&terms)?, self.column(&counts)?])
    }

    fn column(&mut self, terms: &[Term]) -> Option<Column> {
        let panels = &mut self.panels;
        Column::new(terms, |piece| panels.place_of(&piece).unwrap_or_else(|| panels.push(&piece)))
    }

    fn known_column(&mut self, values: &[Scaled]) -> Option<KnownColumn> {
        KnownColumn::new(Aligned::new(values)?, |terms| self.column(terms))
    }

    fn partition(&mut self, grouping: &Grouping<P>) -> Option<usize> {
        let units = self.rows.iter().map(|row| ((grouping.label)(row), (grouping.alike)(row)));
        Some(self.known_partition(Partition::new(units)?))
    }

    fn known_partition(&mut self, new: Partition) -> usize {
        let known = self.partitions.iter().position(|known| known.is(&new));
        known.unwrap_or_else(|| {
            self.partitions.push(new);
            self.partitions.len() - 1
        })
    }
}

/// The terms of all rows, column by column; `None` where rows have different numbers of them.
fn terms<'r, R: 'r>(
    rows: impl Iterator<Item = &'r R>,
    of: impl Fn(&R) -> Vec<Term>,
) -> Option<Vec<Vec<Term>>> {
    let mut columns: Option<Vec<Vec<Term>>> = None;
    for row in rows {
        let terms = of(row);
        let columns = columns.get_or_insert_with(|| vec![Vec::new(); terms.len()]);
        if columns.len() != terms.len() {
            return None;
        }
        columns.iter_mut().zip(terms).for_each(|(column, term)| column.push(term));
    }
    columns
}

/// The numbers of all rows, place by place; `None` where a row lacks one.
fn by_place(rows: impl Iterator<Item = Option<Vec<Scaled>>>, numbers: usize) -> Option<Vec<Vec<Scaled>>> {
    let mut columns = vec![Vec::new(); numbers];
    for row in rows {
        let row = row.filter(|row| row.len() == numbers)?;
        columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
    }
    Some(columns)
}
