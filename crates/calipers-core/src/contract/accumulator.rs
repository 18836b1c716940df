//! A protocol and its rows, keyed by unit name: the only state there is, and its only merge.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::differences::mismatch;
use crate::error::{Error, ErrorKind, Result};
use crate::metric::{Metric, full_id};
use crate::protocol::{Protocol, protocol_json};
use crate::provenance::{Fact, Provenance, are_many, readings_json};
use crate::reading::{Reader, Rows};
use crate::report::{Report, Warning};
use crate::resample::Bootstrap;
use crate::unit_id::UnitId;
use crate::value::Value;
use crate::workers::{Alone, Workers};

/// A protocol, its rows and where they came from.
///
/// *Correctness.* `merge` is associative, commutative and idempotent: equal rows under one name
/// coincide, unequal ones are a conflict. Therefore no sample is ever counted twice, however often
/// a shard arrives.
#[derive(Clone, Debug)]
pub struct Accumulator<P: Protocol> {
    protocol: P,
    rows: BTreeMap<UnitId, Kept<P::Row>>,
    /// Files, readings, facts, shards and what was left out.
    pub provenance: Provenance,
    source: Arc<str>,
}

/// A row, and the state it came from so that a conflict can name both sides. The source is no
/// part of the state.
#[derive(Clone, Debug)]
struct Kept<R> {
    row: R,
    source: Arc<str>,
}

impl<P: Protocol> PartialEq for Accumulator<P> {
    fn eq(&self, other: &Self) -> bool {
        self.protocol == other.protocol
            && self.provenance == other.provenance
            && self.rows.len() == other.rows.len()
            && self.rows.iter().zip(&other.rows).all(|((a, x), (b, y))| a == b && x.row == y.row)
    }
}

impl<P: Protocol> Accumulator<P> {
    /// An accumulator without rows: the neutral element of `merge`.
    pub fn new(protocol: P) -> Self {
        Self { protocol, rows: BTreeMap::new(), provenance: Provenance::default(), source: "this run".into() }
    }

    /// Rebuilds a state from its parts; `source` names it in conflicts.
    pub(crate) fn from_parts(
        protocol: P,
        rows: BTreeMap<UnitId, P::Row>,
        provenance: Provenance,
        source: &str,
    ) -> Self {
        let source: Arc<str> = source.into();
        let rows =
            rows.into_iter().map(|(id, row)| (id, Kept { row, source: Arc::clone(&source) })).collect();
        Self { protocol, rows, provenance, source }
    }

    /// The protocol.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// The rows in key order.
    pub fn rows(&self) -> Rows<'_, P::Row> {
        Rows::new(self.rows.iter().map(|(id, kept)| (id, &kept.row)).collect())
    }

    /// Whether there is a unit of that name.
    pub fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// How many units there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Measures a unit and keeps its row. A name seen before is a `Duplicate`.
    pub fn update(&mut self, id: impl Into<UnitId>, unit: P::Unit<'_>) -> Result<()> {
        let id = id.into();
        if self.rows.contains_key(&id) {
            return Err(twice(&id));
        }
        let measured = self.protocol.measure(id.as_str(), unit);
        let row = measured.map_err(|error| error.at(format!("unit {id}")))?;
        self.insert(id, row)
    }

    /// Keeps the row of a unit that was measured before its name was settled. A name seen before is a
    /// `Duplicate`.
    pub fn insert(&mut self, id: impl Into<UnitId>, row: P::Row) -> Result<()> {
        let id = id.into();
        debug_assert_eq!(
            self.protocol.check_row(&row).map_err(|error| error.to_string()),
            Ok(()),
            "what is measured can be stored and read again"
        );
        match self.rows.entry(id) {
            Entry::Occupied(entry) => Err(twice(entry.key())),
            Entry::Vacant(entry) => {
                self.provenance.left_out.remove(entry.key());
                entry.insert(Kept { row, source: Arc::clone(&self.source) });
                Ok(())
            }
        }
    }

    /// Adds units of this run that were measured aside, under the same protocol. A name seen before
    /// is a `Duplicate`, and then nothing has changed.
    pub fn take_in(&mut self, aside: Self) -> Result<()> {
        if let Some(id) = aside.rows.keys().find(|id| self.rows.contains_key(*id)) {
            return Err(twice(id));
        }
        self.merge(aside)
    }

    /// Moves its units, measured under the same protocol, to another accumulator of this run. A name seen
    /// before is a `Duplicate`.
    pub fn move_to(&mut self, whole: &mut Self) -> Result<()> {
        whole.provenance.merge(std::mem::take(&mut self.provenance), P::READING_IN_ROWS)?;
        std::mem::take(&mut self.rows).into_iter().try_for_each(|(id, kept)| whole.insert(id, kept.row))
    }

    /// Adds the rows of another state. Equal rows under one name coincide; unequal rows are a
    /// `Conflict` and different parameters a `ProtocolMismatch`. On an error nothing has changed.
    pub fn merge(&mut self, mut other: Self) -> Result<()> {
        if self.protocol != other.protocol {
            return Err(mismatch(&self.protocol, &other.protocol, &self.source, &other.source));
        }
        for (id, theirs) in &other.rows {
            if let Some(ours) = self.rows.get(id)
                && ours.row != theirs.row
            {
                return Err(different_rows(id.as_str(), &ours.source, &theirs.source));
            }
        }
        self.provenance.merge(other.provenance, P::READING_IN_ROWS)?;
        if are_many(other.rows.len(), self.rows.len()) {
            // Of two rows under one name the appended one stays, which is ours.
            other.rows.append(&mut self.rows);
            self.rows = other.rows;
        } else {
            for (id, theirs) in other.rows {
                self.rows.entry(id).or_insert(theirs);
            }
        }
        // Who was left out there and measured here is measured.
        self.provenance.left_out.retain(|id, _| !self.rows.contains_key(id));
        Ok(())
    }

    /// Keeps the units whose names are wanted, with what was noticed about them.
    pub fn retain(&mut self, mut wanted: impl FnMut(&str) -> bool) {
        self.rows.retain(|id, _| wanted(id.as_str()));
        let Provenance { facts, contents, .. } = &mut self.provenance;
        facts.retain(|fact| self.rows.contains_key(fact.unit.as_str()));
        contents.retain(|content| self.rows.contains_key(&content.unit));
    }

    /// Its rows under other names, without those that get none. What was recorded of files and units
    /// stays behind. A name given twice is a `Duplicate`.
    pub fn renamed(
        &self,
        mut name: impl FnMut(&str, &P::Row) -> Result<Option<(String, P::Row)>>,
    ) -> Result<Self> {
        let mut rows = BTreeMap::new();
        for (id, kept) in &self.rows {
            let Some((id, row)) = name(id.as_str(), &kept.row)? else { continue };
            match rows.entry(UnitId::from(id)) {
                Entry::Occupied(entry) => return Err(twice(entry.key())),
                Entry::Vacant(entry) => _ = entry.insert(Kept { row, source: Arc::clone(&kept.source) }),
            }
        }
        let source = Arc::clone(&self.source);
        Ok(Self { protocol: self.protocol.clone(), rows, provenance: Provenance::default(), source })
    }

    /// Adds the rows of another process of this run, which may have measured some of our units again.
    /// Where such rows differ against one truth, ours stay, and the report says how many; rows of two
    /// truths are a `Conflict`. On an error nothing has changed.
    pub fn merge_repeated(&mut self, mut other: Self) -> Result<()> {
        let differs = |(id, theirs): &(&UnitId, &Kept<P::Row>)| {
            self.rows.get(*id).is_some_and(|ours| {
                ours.row != theirs.row && self.protocol.same_truth(&ours.row, &theirs.row)
            })
        };
        let repeated: Vec<UnitId> = other.rows.iter().filter(differs).map(|(id, _)| id.clone()).collect();
        for id in &repeated {
            other.rows.remove(id);
        }
        self.merge(other)?;
        self.provenance.facts.extend(repeated.iter().map(padded_row));
        Ok(())
    }

    /// Reads every metric from the rows. Ask as often as you like.
    pub fn finish(&self) -> Report {
        self.finish_on(&Alone)
    }

    /// The same report, with workers to share long passes over the rows.
    pub fn finish_on(&self, workers: &dyn Workers) -> Report {
        let rows = self.rows().on(workers);
        let reader = Reader::new(&self.protocol, &rows);
        let metrics = P::METRICS
            .iter()
            .filter(|metric| metric.is_reported(&self.protocol, &rows))
            .map(|metric| (full_id::<P>(metric.id), reader.value(metric)))
            .collect();
        let mut warnings = self.protocol.warnings(&rows, &self.provenance);
        warnings.extend(self.provenance.listings.warnings());
        warnings.extend(padded_rows(&self.provenance));
        Report {
            version: env!("CARGO_PKG_VERSION").into(),
            protocol: protocol_json(&self.protocol),
            reading: readings_json(&self.provenance),
            units: self.rows.len() as u64,
            metrics,
            intervals: None,
            warnings,
            left_out: self.left_out(),
            inputs: self.provenance.inputs.clone(),
        }
    }

    fn left_out(&self) -> Vec<(String, String)> {
        let left_out = self.provenance.left_out.iter();
        left_out.map(|(unit, reason)| (unit.to_string(), reason.clone())).collect()
    }

    /// Reads one metric from the rows.
    pub fn value(&self, metric: &Metric<P>) -> Value {
        metric.read(&self.protocol, &self.rows())
    }

    /// See [`Protocol::resample_as`]; rows do not depend on it.
    pub fn resample_as(&mut self, bootstrap: &Bootstrap) {
        self.protocol.resample_as(bootstrap);
    }

    /// Names this state in conflicts that later merges find.
    pub fn set_source(&mut self, source: &str) {
        self.source = source.into();
        for kept in self.rows.values_mut() {
            kept.source = Arc::clone(&self.source);
        }
    }
}

/// The code of the warning about units that several processes measured, with different rows.
const PADDED: &str = "padded-rows-differ";

fn padded_row(id: &UnitId) -> Fact {
    Fact { code: PADDED.into(), unit: id.to_string(), detail: "measured again with another row".into() }
}

fn padded_rows(provenance: &Provenance) -> Option<Warning> {
    let units: Vec<String> =
        provenance.facts.iter().filter(|fact| fact.code == PADDED).map(|fact| fact.unit.clone()).collect();
    let message = match units.len() {
        0 => return None,
        1 => "1 unit was measured by several processes with different rows; that of the first counts".into(),
        n => format!(
            "{n} units were measured by several processes with different rows; that of the first counts"
        ),
    };
    Some(Warning { code: PADDED.into(), message, units })
}

/// The error of a unit with two rows, named by their states.
pub(crate) fn different_rows(id: &str, ours: &str, theirs: &str) -> Error {
    Error::new(ErrorKind::Conflict, format!("unit '{id}' has two different rows"))
        .found(format!("one in {ours}, another in {theirs}"))
        .advice("the same unit was measured from different data: remove one of the two")
}

fn twice(id: &UnitId) -> Error {
    Error::new(ErrorKind::Duplicate, format!("unit '{id}' occurs twice in this run"))
        .advice("give every unit a name of its own; merge states to combine runs")
}
