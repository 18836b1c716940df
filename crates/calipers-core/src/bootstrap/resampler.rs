//! The numbers of an accumulator over resamples of its units.

use std::collections::BTreeMap;

use super::column::Column;
use crate::accumulator::Accumulator;
use crate::pooling::{Pooling, Sum, Term};
use crate::protocol::{Metric, Protocol, Rows, full_id};
use crate::value::{Value, rounded_quotient};
use crate::weighted_sum::{Panels, Weights};

/// One number that is read from resamples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// The full id of the metric.
    pub id: String,
    /// The class, group or type, where the metric has a number for each.
    pub label: Option<String>,
}

impl Leaf {
    /// The id, and the label behind a point.
    pub fn path(&self) -> String {
        match &self.label {
            Some(label) => format!("{}.{label}", self.id),
            None => self.id.clone(),
        }
    }
}

/// Which numbers are read from resamples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Metrics that are single numbers.
    Single,
    /// These, and the numbers of metrics that have one for each label.
    Labels,
}

/// Reads the numbers of an accumulator from resamples of its units. Pieces of the work can be done
/// anywhere and in any order: what is read depends on the weights alone.
pub trait Resampler: Sync {
    /// The numbers, in report order, with their value over all units.
    fn leaves(&self) -> &[(Leaf, f64)];
    /// Every number in every resample, resample by resample.
    fn read(&self, weights: &Weights) -> Vec<Vec<Option<f64>>>;
}

/// The numbers of one protocol.
pub(crate) struct Numbers<'a, P: Protocol> {
    protocol: &'a P,
    rows: Rows<'a, P::Row>,
    leaves: Vec<(Leaf, f64)>,
    metrics: Vec<Read<P>>,
    panels: Panels,
}

/// How one metric is read from a resample.
struct Read<P: Protocol> {
    metric: &'static Metric<P>,
    /// Its labels; none where it is a single number.
    labels: Vec<String>,
    shortcut: Option<Shortcut<P>>,
}

struct Shortcut<P: Protocol> {
    columns: Vec<Column>,
    formula: Formula<P>,
}

enum Formula<P: Protocol> {
    /// The sum over the number of rows that take part.
    Mean,
    /// The sum, where any row takes part.
    Total,
    /// One sum over another.
    Quotient,
    /// Any function.
    Tally(fn(&P, &[Sum]) -> Value),
}

impl<'a, P: Protocol> Numbers<'a, P> {
    pub(crate) fn new(accumulator: &'a Accumulator<P>, scope: Scope) -> Self {
        let (protocol, rows) = (accumulator.protocol(), accumulator.rows());
        let mut builder = Builder {
            protocol,
            rows: &rows,
            panels: Panels::new(rows.len()),
            kept: BTreeMap::new(),
            tallies: BTreeMap::new(),
        };
        let (mut leaves, mut metrics) = (Vec::new(), Vec::new());
        let reported = |metric: &&Metric<P>| protocol.reports(metric) && protocol.has_evidence(metric, &rows);
        for metric in P::METRICS.iter().filter(reported) {
            let leaf = |label: Option<&String>| Leaf { id: full_id::<P>(metric.id), label: label.cloned() };
            let mut labels = Vec::new();
            match (metric.read)(protocol, &rows) {
                Value::PerLabel(entries) if scope == Scope::Labels => {
                    for (label, value) in entries {
                        if let Some(number) = value.as_f64() {
                            leaves.push((leaf(Some(&label)), number));
                            labels.push(label);
                        }
                    }
                    if labels.is_empty() {
                        continue;
                    }
                }
                value => match value.as_f64() {
                    Some(number) => leaves.push((leaf(None), number)),
                    None => continue,
                },
            }
            let shortcut = builder.shortcut(metric);
            metrics.push(Read { metric, labels, shortcut });
        }
        let panels = builder.panels;
        Self { protocol, rows, leaves, metrics, panels }
    }

    fn put(&self, read: &Read<P>, value: &Value, out: &mut Vec<Option<f64>>) {
        if read.labels.is_empty() {
            return out.push(value.as_f64());
        }
        let entries = match value {
            Value::PerLabel(entries) => entries.as_slice(),
            _ => &[],
        };
        for (place, label) in read.labels.iter().enumerate() {
            let here = entries.get(place).filter(|(name, _)| name == label);
            let found = here.or_else(|| entries.iter().find(|(name, _)| name == label));
            out.push(found.and_then(|(_, value)| value.as_f64()));
        }
    }
}

impl<P> Resampler for Numbers<'_, P>
where
    P: Protocol + Sync,
    P::Row: Sync,
{
    fn leaves(&self) -> &[(Leaf, f64)] {
        &self.leaves
    }

    fn read(&self, weights: &Weights) -> Vec<Vec<Option<f64>>> {
        let from_rows = self.metrics.iter().any(|read| read.shortcut.is_none());
        let sums = self.panels.sums(weights);
        let one = |(counts, sums): (&[u32], Vec<f64>)| {
            let drawn = || counts.iter().enumerate().flat_map(|(i, &n)| std::iter::repeat_n(i, n as usize));
            let sample = from_rows.then(|| self.rows.select(drawn()));
            let mut out = Vec::with_capacity(self.leaves.len());
            for read in &self.metrics {
                let value = match (&read.shortcut, &sample) {
                    (Some(shortcut), _) => shortcut.value(self.protocol, &sums),
                    (None, Some(sample)) => (read.metric.read)(self.protocol, sample),
                    (None, None) => continue,
                };
                self.put(read, &value, &mut out);
            }
            out
        };
        weights.each().zip(sums).map(one).collect()
    }
}

impl<P: Protocol> Shortcut<P> {
    fn value(&self, protocol: &P, pieces: &[f64]) -> Value {
        const NOTHING: &str = "no row takes part";
        let sum = |k: usize| self.columns[k].sum(pieces);
        match self.formula {
            Formula::Mean => match sum(1).whole() {
                0 => Value::undefined(NOTHING),
                count => Value::Number(sum(0).number() / count as f64),
            },
            Formula::Total => match sum(1).whole() {
                0 => Value::undefined(NOTHING),
                _ => Value::Count(sum(0).whole()),
            },
            Formula::Quotient => match (sum(0), sum(1).whole()) {
                (_, 0) => Value::undefined(NOTHING),
                (Sum::Whole(part), whole) => Value::Number(rounded_quotient(part, whole)),
                (Sum::Number(sum), count) => Value::Number(sum / count as f64),
            },
            Formula::Tally(read) => {
                let sums: Vec<Sum> = self.columns.iter().map(|column| column.sum(pieces)).collect();
                read(protocol, &sums)
            }
        }
    }
}

/// Cuts columns, each piece once.
struct Builder<'b, 'a, P: Protocol> {
    protocol: &'b P,
    rows: &'b Rows<'a, P::Row>,
    panels: Panels,
    kept: BTreeMap<[u8; 32], usize>,
    tallies: BTreeMap<&'static str, Option<Vec<Column>>>,
}

impl<P: Protocol> Builder<'_, '_, P> {
    fn shortcut(&mut self, metric: &Metric<P>) -> Option<Shortcut<P>> {
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
                    let columns = self.tally(tally.terms);
                    self.tallies.insert(tally.name, columns);
                }
                (self.tallies[tally.name].clone()?, Formula::Tally(tally.read))
            }
        };
        Some(Shortcut { columns, formula })
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

    fn tally(&mut self, terms: fn(&P, &P::Row) -> Vec<Term>) -> Option<Vec<Column>> {
        let rows: Vec<Vec<Term>> = self.rows.iter().map(|row| terms(self.protocol, row)).collect();
        let columns = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != columns) {
            return None;
        }
        let mut terms = Vec::with_capacity(rows.len());
        let mut one = |k: usize| {
            terms.clear();
            terms.extend(rows.iter().map(|row| row[k].clone()));
            self.column(&terms)
        };
        (0..columns).map(&mut one).collect()
    }

    fn column(&mut self, terms: &[Term]) -> Option<Column> {
        let Self { panels, kept, .. } = self;
        Column::new(terms, |piece| {
            let mut hasher = blake3::Hasher::new();
            piece.iter().for_each(|number| _ = hasher.update(&number.to_bits().to_le_bytes()));
            let hash = *hasher.finalize().as_bytes();
            *kept.entry(hash).or_insert_with(|| panels.push(&piece))
        })
    }
}
