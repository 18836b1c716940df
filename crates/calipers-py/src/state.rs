//! An accumulator of any family.

use std::any::Any;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use calipers::core::{Error, Protocol, Result, stop};
use calipers::report::{json, per_unit};
use calipers::{Accumulator, Ledger, registry, states};
use calipers_cli::keywords;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::failure::{detached, refused};
use crate::given;

/// What an evaluator holds: measured units and how they were measured.
#[pyclass(frozen, module = "calipers._calipers")]
pub(crate) struct State {
    /// Shared with reports that were read from it; copied before it is changed.
    ledger: Mutex<Arc<dyn Ledger>>,
}

impl State {
    /// An accumulator without units.
    pub(crate) fn new<P: Protocol>(protocol: P) -> Self {
        Self { ledger: Mutex::new(Arc::new(Accumulator::new(protocol))) }
    }

    /// What was measured elsewhere.
    pub(crate) fn of(ledger: Box<dyn Ledger>) -> Self {
        Self { ledger: Mutex::new(Arc::from(ledger)) }
    }

    pub(crate) fn locked(&self) -> Result<MutexGuard<'_, Arc<dyn Ledger>>> {
        self.ledger
            .lock()
            .map_err(|_| Error::io("an earlier call stopped half-way: make the evaluator again"))
    }

    /// The protocol, which is that of the family asked for.
    pub(crate) fn protocol<P: Protocol>(&self) -> Result<P> {
        let ledger = self.locked()?;
        let any: &dyn Any = &**ledger;
        let accumulator = any.downcast_ref::<Accumulator<P>>().ok_or_else(|| other_family(ledger.name()))?;
        Ok(accumulator.protocol().clone())
    }

    /// Adds units that were measured without holding on to the state, so that threads measure at once.
    pub(crate) fn take_in<P: Protocol>(&self, aside: Accumulator<P>) -> Result<()> {
        // Kernels that were told to stop leave rows that mean nothing.
        stop::wanted()?;
        let mut ledger = self.locked()?;
        let name = ledger.name();
        let any: &mut dyn Any = owned(&mut ledger)?;
        any.downcast_mut::<Accumulator<P>>().ok_or_else(|| other_family(name))?.take_in(aside)
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let ledger = self.locked()?;
        Ok(calipers::core::state::encode(&[ledger.section()]))
    }
}

/// The accumulator to change: a copy where a report still refers to it.
fn owned(ledger: &mut Arc<dyn Ledger>) -> Result<&mut dyn Ledger> {
    if Arc::get_mut(ledger).is_none() {
        *ledger = Arc::from(registry::open(&ledger.section(), "the evaluator")?);
    }
    Arc::get_mut(ledger).ok_or_else(|| Error::io("the evaluator is in use: try again"))
}

fn other_family(name: &str) -> Error {
    Error::usage("the state is of another family").found(name)
}

fn opened(bytes: &[u8], source: &str) -> Result<Box<dyn Ledger>> {
    let mut ledgers = states::from_bytes(bytes, source)?;
    match (ledgers.pop(), ledgers.len()) {
        (Some(ledger), 0) => Ok(ledger),
        (_, more) => Err(Error::format("an evaluator holds a state of one protocol")
            .in_file(source)
            .found(format!("{more} more"))),
    }
}

#[pymethods]
impl State {
    /// The state in these bytes; `source` names it in messages.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Self> {
        detached(py, |_| opened(data, source)).map(Self::of)
    }

    /// The bytes of the state.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        detached(py, |_| self.bytes()).map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Writes the bytes of the state to a file, whole or not at all.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        detached(py, |_| calipers::output::write(Path::new(path), &self.bytes()?))
    }

    /// The name of the family.
    fn family(&self, py: Python<'_>) -> PyResult<&'static str> {
        detached(py, |_| Ok(self.locked()?.name()))
    }

    /// How many units there are.
    fn units(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, |_| Ok(self.locked()?.units()))
    }

    /// The same units, as they are now: what is added to one later is not in the other.
    fn shared(&self, py: Python<'_>) -> PyResult<Self> {
        let ledger = detached(py, |_| Ok(Arc::clone(&*self.locked()?)))?;
        Ok(Self { ledger: Mutex::new(ledger) })
    }

    /// Adds the units of another state.
    fn merge(&self, py: Python<'_>, other: &Self, source: &str) -> PyResult<()> {
        detached(py, |_| {
            // Two locks at once could wait for each other, or for themselves.
            let other = opened(&other.bytes()?, source)?;
            owned(&mut *self.locked()?)?.merge(other)
        })
    }

    /// Adds the state of another process, whose rows of our units may differ in last bits: ours stay.
    fn merge_repeated(&self, py: Python<'_>, other: &Self, source: &str) -> PyResult<()> {
        detached(py, |_| {
            let other = opened(&other.bytes()?, source)?;
            owned(&mut *self.locked()?)?.merge_repeated(other)
        })
    }

    /// The rows without the protocol; such bytes may be put one after another.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        detached(py, |_| Ok(self.locked()?.rows_alone())).map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Adds rows that `rows` gave.
    fn add_rows(&self, py: Python<'_>, rows: &[u8], source: &str) -> PyResult<()> {
        detached(py, |_| owned(&mut *self.locked()?)?.add_rows(rows, source))
    }

    /// The report as JSON, with the intervals and metrics that the options ask for.
    fn report(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<String> {
        let options = given::options(options)?;
        let written = detached(py, |_| {
            let ledger = self.locked()?;
            Ok(keywords::report(&**ledger, &options, 1).map(|report| json::write(&[report])))
        })?;
        written.map_err(|error| refused(py, error))
    }

    /// The per-unit table: its headings, and its rows as JSON lines.
    fn per_unit(&self, py: Python<'_>) -> PyResult<(Vec<String>, String)> {
        detached(py, |_| {
            let table = self.locked()?.per_unit();
            let lines = per_unit::jsonl(&table);
            Ok((table.columns, lines))
        })
    }
}
