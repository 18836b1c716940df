//! Sampling units with their rows, drawn with replacement into accumulators.

use calipers::core::Protocol;
use calipers::{Accumulator, Ledger, Result};

/// What samples are drawn from, whatever the family.
pub(crate) trait Drawable: Sync {
    /// How many sampling units there are.
    fn len(&self) -> usize;
    /// The accumulator of some of them, each as often as it is drawn.
    fn sample(&self, drawn: &[usize]) -> Result<Box<dyn Ledger>>;
    /// The accumulator of all of them.
    fn all(&self) -> Result<Box<dyn Ledger>> {
        self.sample(&(0..self.len()).collect::<Vec<_>>())
    }
}

/// How a row of the sampling unit at a place of a sample is named, and its row there.
type Named<R> = fn(place: usize, number: usize, row: &R) -> (String, R);

/// The rows of one protocol by sampling unit.
pub(super) struct Units<P: Protocol> {
    protocol: P,
    units: Vec<Vec<P::Row>>,
    named: Named<P::Row>,
}

impl<P: Protocol> Drawable for Units<P> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn sample(&self, drawn: &[usize]) -> Result<Box<dyn Ledger>> {
        let mut rows = Accumulator::new(self.protocol.clone());
        for (place, unit) in drawn.iter().enumerate() {
            for (number, row) in self.units[*unit].iter().enumerate() {
                let (name, row) = (self.named)(place, number, row);
                rows.insert(name, row)?;
            }
        }
        Ok(Box::new(rows))
    }
}

fn rows_of<P: Protocol>(rows: &Accumulator<P>) -> Vec<P::Row> {
    rows.rows().iter().cloned().collect()
}

/// Every row is a sampling unit.
pub(super) fn units_of<P: Protocol>(rows: &Accumulator<P>) -> Units<P> {
    let named: Named<P::Row> = |place, _, row| (format!("{place:04}"), row.clone());
    let units = rows_of(rows).into_iter().map(|row| vec![row]).collect();
    Units { protocol: rows.protocol().clone(), units, named }
}

/// Neighbours in the order of their names come together; the folder of a name is its cluster.
pub(super) fn blocks_of<P: Protocol>(rows: &Accumulator<P>, size: usize) -> Units<P> {
    let named: Named<P::Row> = |place, number, row| (format!("{place:04}/{number:02}"), row.clone());
    let units = rows_of(rows).chunks_exact(size).map(<[P::Row]>::to_vec).collect();
    Units { protocol: rows.protocol().clone(), units, named }
}

/// Rows that belong together by a key, in the order of the keys; another name may be part of the row.
pub(super) fn grouped_by<P: Protocol>(
    rows: &Accumulator<P>,
    key: impl Fn(&P::Row) -> String,
    named: Named<P::Row>,
) -> Units<P> {
    let mut units = std::collections::BTreeMap::<String, Vec<P::Row>>::new();
    for row in rows_of(rows) {
        units.entry(key(&row)).or_default().push(row);
    }
    Units { protocol: rows.protocol().clone(), units: units.into_values().collect(), named }
}
