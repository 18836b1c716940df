//! Explanations of graph neural networks: arrays under the family's keys.

use calipers::io::array::{AnyElements, Array};
use calipers::metrics::explanation::{self, Evidence, Explanation, Options};
use calipers::{Accumulator, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{object, settings};
use crate::failure::detached;
use crate::given::array::{entries, read};
use crate::state::State;

/// An empty state; `options` are those of the command line as JSON.
#[pyfunction]
pub(crate) fn explanation_new(py: Python<'_>, options: &str) -> PyResult<State> {
    detached(py, |_| settings::<Options>(object(options)?.into())?.resolve().map(State::new))
}

/// Measures the explanation that the arrays hold; a mask of one type is under `KEY.TYPE`.
#[pyfunction]
pub(crate) fn explanation_update(
    py: Python<'_>,
    state: &State,
    name: &str,
    arrays: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let given = entries(arrays, read)?;
    detached(py, |_| {
        let mut aside = Accumulator::new(state.protocol()?);
        measure(&mut aside, name, &given)?;
        state.take_in(aside)
    })
}

/// Measures explanations, all of them or, on an error, none.
#[pyfunction]
pub(crate) fn explanation_update_batch(
    py: Python<'_>,
    state: &State,
    units: Vec<(String, Bound<'_, PyDict>)>,
) -> PyResult<()> {
    let units = units.iter().map(|(name, arrays)| Ok((name, entries(arrays, read)?)));
    let units = units.collect::<PyResult<Vec<_>>>()?;
    detached(py, |between| {
        let mut aside = Accumulator::new(state.protocol()?);
        for (name, given) in &units {
            between()?;
            measure(&mut aside, name, given)?;
        }
        state.take_in(aside)
    })
}

fn measure(aside: &mut Accumulator<Explanation>, name: &str, given: &[(String, Array)]) -> Result<()> {
    let opened = given.iter().map(|(key, array)| Ok((key, Elements::new(key, array)?)));
    let opened = opened.collect::<Result<Vec<_>>>().map_err(|error| error.at(format!("unit {name}")))?;
    let mut evidence = Evidence::new();
    for (key, elements) in &opened {
        evidence.insert(key, elements.array()?);
    }
    aside.update(name, evidence)
}

/// An array in one of the types in which evidence is measured, borrowed where memory allows.
struct Elements<'a> {
    shape: Vec<usize>,
    values: AnyElements<'a>,
}

impl<'a> Elements<'a> {
    fn new(key: &str, array: &'a Array) -> Result<Self> {
        let values = array.any_elements().map_err(|error| error.at(format!("key {key}")))?;
        // The array is in memory, so that its axes fit.
        let shape = array.shape().iter().map(|&axis| axis as usize).collect();
        Ok(Self { shape, values })
    }

    fn array(&self) -> Result<explanation::Array<'_>> {
        explanation::Array::new(self.shape.clone(), self.values.view())
    }
}
