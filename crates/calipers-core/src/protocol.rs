//! What a family defines: units, rows, parameters and the table of its metrics.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::accumulator::UnitId;
use crate::error::Result;
use crate::hands::{Alone, Hands};
use crate::pooling::Pooling;
use crate::provenance::Provenance;
use crate::report::Warning;
use crate::value::Value;

/// A way of measuring: its parameters, how a unit becomes a row, and what is read from rows.
///
/// *Correctness.* `measure` depends on the protocol and the unit alone, never on other units, so
/// that any split of the work gives the same rows; everything that needs several units happens in
/// the readings of [`Protocol::METRICS`].
pub trait Protocol: Clone + PartialEq + Serialize + DeserializeOwned + 'static {
    /// The name in reports and states, also the prefix of every metric id.
    const NAME: &'static str;
    /// Every number it reports, in report order.
    const METRICS: &'static [Metric<Self>];
    /// The first columns of the per-unit table, before the per-unit metrics.
    const COLUMNS: &'static [Column<Self>];
    /// Keys of [`Provenance::readings`] that rows depend on: states that differ there do not merge.
    const READING_IN_ROWS: &'static [&'static str];

    /// Parameters that say how a prediction is read, not what is measured: two models may differ in
    /// them and still be compared unit by unit.
    const READING_PARAMETERS: &'static [&'static str] = &[];

    /// The metrics, without the family's prefix, that a comparison of models shows first; the others follow in
    /// report order.
    const COMPARED_FIRST: &'static [&'static str] = &[];

    /// A checked, borrowed view of one piece of evidence.
    type Unit<'a>;
    /// What is kept of a unit: counts and exact sums, never a ratio.
    type Row: Clone + PartialEq + Serialize + DeserializeOwned;

    /// Reduces a unit to its row. Fails only on a bad value whose check would have needed a second
    /// pass over the data when the view was built.
    fn measure(&self, unit: Self::Unit<'_>) -> Result<Self::Row>;

    /// Whether this protocol's preset and evidence have the metric at all.
    fn reports(&self, _metric: &Metric<Self>) -> bool {
        true
    }

    /// Whether the rows hold what the metric needs; a number nobody gave evidence for is left out of
    /// the report.
    fn has_evidence(&self, _metric: &Metric<Self>, _rows: &Rows<'_, Self::Row>) -> bool {
        true
    }

    /// The protocol under which single rows are read for the per-unit table: parameters that are
    /// pooled over all rows are fixed to their value here.
    fn for_single_rows(&self, _rows: &Rows<'_, Self::Row>) -> Self {
        self.clone()
    }

    /// How the metric over many rows follows from sums over them; asked only where it is defined over
    /// all rows together.
    fn pooling(&self, _metric: &Metric<Self>) -> Pooling<Self> {
        Pooling::Rows
    }

    /// What there is to say about one unit beside its numbers, in words.
    fn explain_unit(&self, _row: &Self::Row) -> Option<String> {
        None
    }

    /// What looks wrong in the evidence, in the order of the spec.
    fn warnings(&self, rows: &Rows<'_, Self::Row>, provenance: &Provenance) -> Vec<Warning>;
}

/// Rows with their names, in key order; a resample may hold one row several times.
#[derive(Clone, Debug)]
pub struct Rows<'a, R> {
    rows: Vec<(&'a UnitId, &'a R)>,
    shared: OnceLock<Arc<dyn Any + Send + Sync>>,
    hands: &'a dyn Hands,
}

impl<'a, R> Rows<'a, R> {
    /// The rows as given; the caller keeps them in key order.
    pub fn new(rows: Vec<(&'a UnitId, &'a R)>) -> Self {
        Self { rows, shared: OnceLock::new(), hands: &Alone }
    }

    /// The same rows, with hands to share long passes over them.
    pub fn on(self, hands: &'a dyn Hands) -> Self {
        Self { hands, ..self }
    }

    /// The rows without their names.
    pub fn iter(&self) -> impl Iterator<Item = &'a R> + Clone + '_ {
        self.rows.iter().map(|(_, row)| *row)
    }

    /// Names and rows.
    pub fn named(&self) -> impl Iterator<Item = (&'a str, &'a R)> + Clone + '_ {
        self.rows.iter().map(|(id, row)| (id.as_str(), *row))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row at a position.
    pub(crate) fn at(&self, position: usize) -> &'a R {
        self.rows[position].1
    }

    /// The rows at the given positions, in that order.
    pub fn select(&self, positions: impl IntoIterator<Item = usize>) -> Self {
        Self::new(positions.into_iter().map(|i| self.rows[i]).collect())
    }

    /// A pass over all rows: each hand folds neighbours into a part of its own, and the parts are joined
    /// in their order. What comes out may not depend on where the parts begin.
    pub fn folded<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, &'a R) + Sync,
        join: impl Fn(&mut T, T),
    ) -> T
    where
        R: Sync,
    {
        let length = self.rows.len().div_ceil(self.hands.count().max(1)).max(1);
        let stretches: Vec<_> = self.rows.chunks(length).collect();
        let parts: Vec<Mutex<Option<T>>> = stretches.iter().map(|_| Mutex::default()).collect();
        self.hands.each(stretches.len(), &|at| {
            let mut part = new();
            stretches[at].iter().for_each(|(_, row)| add(&mut part, row));
            *parts[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(part);
        });
        let parts =
            parts.into_iter().filter_map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        let joined = parts.reduce(|mut whole, part| {
            join(&mut whole, part);
            whole
        });
        joined.unwrap_or_else(new)
    }

    /// What many metrics of a family read from the same rows, such as their totals: made for the first
    /// that asks and kept for the others. Only what is asked for first is kept.
    pub fn shared<T: Any + Send + Sync>(&self, make: impl Fn() -> T) -> Arc<T> {
        let kept = self.shared.get_or_init(|| Arc::new(make()));
        Arc::clone(kept).downcast().unwrap_or_else(|_| Arc::new(make()))
    }
}

/// One line of a protocol's metric table: everything there is to know about one number.
pub struct Metric<P: Protocol> {
    /// The id without the family prefix.
    pub id: &'static str,
    /// The heading under which tables show it.
    pub group: &'static str,
    /// Which direction is better; may depend on the preset.
    pub better: fn(&P) -> Better,
    /// The values it can take.
    pub range: Range,
    /// Whether the per-unit table has it as a column.
    pub per_unit: bool,
    /// What `calipers explain` says.
    pub doc: Doc,
    /// The reading.
    pub read: fn(&P, &Rows<'_, P::Row>) -> Value,
}

/// One column of the per-unit table that is not a metric.
pub struct Column<P: Protocol> {
    /// The heading.
    pub name: &'static str,
    /// The cell of one row.
    pub read: fn(&P, &P::Row) -> Value,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// A description, not a score.
    Neither,
}

/// The values a metric can take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest value.
    pub low: f64,
    /// The largest value; infinite where only the data bounds it.
    pub high: f64,
    /// The range as people write it, with the names of the family.
    pub text: &'static str,
}

/// The definition of a metric under fixed headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doc {
    /// What it measures.
    pub measures: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// When it has no value, and the reason then given; empty when it always has one.
    pub undefined: &'static str,
    /// How it differs from what others compute under the same name; may be empty.
    pub differs: &'static str,
    /// Where the definition comes from.
    pub reference: &'static str,
    /// A worked example of `spec/` and the value it gives there, as JSON; a test runs it.
    pub example: (&'static str, &'static str),
}

/// A line of the metric table without its type: what lists, docs and tables need.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricInfo {
    /// The id with the family prefix.
    pub id: String,
    /// See [`Metric::group`].
    pub group: &'static str,
    /// See [`Metric::better`].
    pub better: Better,
    /// See [`Metric::range`].
    pub range: Range,
    /// See [`Metric::per_unit`].
    pub per_unit: bool,
    /// See [`Protocol::COMPARED_FIRST`].
    pub compared_first: bool,
    /// See [`Metric::doc`].
    pub doc: Doc,
}

/// Every line of a protocol's table, for the given parameters.
pub fn metric_infos<P: Protocol>(protocol: &P) -> Vec<MetricInfo> {
    P::METRICS
        .iter()
        .map(|metric| MetricInfo {
            id: full_id::<P>(metric.id),
            group: metric.group,
            better: (metric.better)(protocol),
            range: metric.range,
            per_unit: metric.per_unit,
            compared_first: P::COMPARED_FIRST.contains(&metric.id),
            doc: metric.doc,
        })
        .collect()
}

/// The id with its family prefix.
pub(crate) fn full_id<P: Protocol>(id: &str) -> String {
    format!("{}.{id}", P::NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does the last job first.
    #[derive(Debug)]
    struct Backwards(usize);

    impl Hands for Backwards {
        fn count(&self) -> usize {
            self.0
        }

        fn each(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
            (0..jobs).rev().for_each(job);
        }
    }

    #[test]
    fn a_pass_takes_every_row_once_and_in_order_whoever_shares_it() {
        let rows: Vec<(UnitId, u32)> = (0..10).map(|row| (row.to_string().into(), row)).collect();
        for count in [0, 1, 2, 3, 9, 10, 50] {
            for length in [0, 1, 10] {
                let hands = Backwards(count);
                let some = Rows::new(rows[..length].iter().map(|(id, row)| (id, row)).collect()).on(&hands);
                let seen = some.folded(Vec::new, |seen, row| seen.push(*row), |seen, more| seen.extend(more));
                assert_eq!(seen, (0..length as u32).collect::<Vec<_>>(), "{count} hands");
            }
        }
    }
}
