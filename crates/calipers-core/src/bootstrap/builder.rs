//! From rows to the columns whose weighted sums stand for them.

use std::collections::BTreeMap;

use super::column::Column;
use super::partition::{Histogram, Partition};
use super::shortcut::{Formula, RoundedMean, Shortcut};
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
                let values: Vec<Vec<Scaled>> =
                    rows.iter().map(|row| value(protocol, row)).collect::<Option<_>>()?;
                let numbers = labels.len().max(1);
                if values.iter().any(|values| values.len() != numbers) {
                    return None;
                }
                let mean = |k: usize| {
                    let values: Vec<Scaled> = values.iter().map(|values| values[k]).collect();
                    let (floors, exponent, exact) = aligned(&values)?;
                    Some(RoundedMean { column: self.column(&floors)?, exponent, exact })
                };
                return Some(Shortcut::RoundedMeans((0..numbers).map(mean).collect::<Option<_>>()?));
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

    fn partition(&mut self, grouping: &Grouping<P>) -> Option<usize> {
        let units = self.rows.iter().map(|row| ((grouping.label)(row), (grouping.alike)(row)));
        let new = Partition::new(units)?;
        let known = self.partitions.iter().position(|known| known.is(&new));
        Some(known.unwrap_or_else(|| {
            self.partitions.push(new);
            self.partitions.len() - 1
        }))
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

/// The numbers as whole multiples of one power of two, rounded down: multiples, exponent, and
/// whether nothing was lost.
fn aligned(values: &[Scaled]) -> Option<(Vec<Term>, i32, bool)> {
    let end = |value: &Scaled| {
        let bits = u128::BITS - value.significand.unsigned_abs().leading_zeros();
        (bits > 0).then_some(value.exponent + bits as i32)
    };
    let exponent = values.iter().filter_map(end).max().unwrap_or(0) - Scaled::BITS as i32;
    let mut exact = true;
    let floor = |value: &Scaled| {
        exact &= value.exact;
        if value.exponent >= exponent {
            // What is unknown of a number would grow with it.
            let known = value.exact || value.exponent == exponent;
            let shift = (value.exponent - exponent) as u32;
            let zero = value.significand == 0;
            return known.then(|| Term::Whole(if zero { 0 } else { value.significand << shift }));
        }
        let shift = (exponent - value.exponent).min(127) as u32;
        let floor = value.significand >> shift;
        exact &= floor << shift == value.significand;
        Some(Term::Whole(floor))
    };
    let floors = values.iter().map(floor).collect::<Option<Vec<Term>>>()?;
    Some((floors, exponent, exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_become_multiples_of_one_unit() {
        let scaled = |significand, exponent, exact| Scaled { significand, exponent, exact };
        let values = [scaled(3, 0, true), scaled(-5, -102, true), scaled(0, 500, true)];
        let (floors, exponent, exact) = aligned(&values).unwrap();
        assert_eq!(exponent, 2 - Scaled::BITS as i32);
        assert_eq!(floors, [3i128 << 99, -1, 0].map(Term::Whole));
        assert!(!exact, "-5 is not a multiple of 8");
        assert!(aligned(&[scaled(1, 0, false), scaled(1, 3, true)]).is_none());
        assert!(aligned(&[scaled(1, 0, true), scaled(1, 3, true)]).unwrap().2);
    }
}
