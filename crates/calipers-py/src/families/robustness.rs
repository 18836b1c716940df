//! Attacks on graph models: the arrays of a run under the family's keys.

use calipers::Accumulator;
use calipers::metrics::robustness::{Options, Robustness};
use calipers::sources::robustness::memory;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{object, settings};
use crate::failure::detached;
use crate::given::array::read_all;
use crate::state::State;

/// An empty state; `options` are those of the command line as JSON.
#[pyfunction]
pub(crate) fn robustness_new(py: Python<'_>, options: &str) -> PyResult<State> {
    detached(py, |_| settings::<Options>(object(options)?.into())?.resolve().map(State::new))
}

/// Measures every pair of the run that the arrays hold.
#[pyfunction]
pub(crate) fn robustness_update(
    py: Python<'_>,
    state: &State,
    run: &str,
    attack: Option<&str>,
    arrays: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let arrays = read_all(arrays)?;
    detached(py, |_| {
        let protocol: Robustness = state.protocol()?;
        state.take_in(memory::measure(&protocol, run, attack, arrays)?)
    })
}

/// Measures every pair of these runs, all of them or, on an error, none.
#[pyfunction]
pub(crate) fn robustness_update_batch(
    py: Python<'_>,
    state: &State,
    attack: Option<&str>,
    runs: Vec<(String, Bound<'_, PyDict>)>,
) -> PyResult<()> {
    let runs = runs.iter().map(|(run, arrays)| Ok((run, read_all(arrays)?)));
    let runs = runs.collect::<PyResult<Vec<_>>>()?;
    detached(py, |between| {
        let protocol: Robustness = state.protocol()?;
        let mut aside = Accumulator::new(protocol.clone());
        for (run, arrays) in runs {
            between()?;
            aside.take_in(memory::measure(&protocol, run, attack, arrays)?)?;
        }
        state.take_in(aside)
    })
}
