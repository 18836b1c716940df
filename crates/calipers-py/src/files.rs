//! Files measured as the command line measures them.

use calipers_cli::keywords;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{detached_told, refused};
use crate::given;
use crate::progress::Told;
use crate::state::State;

/// Measures what the family's command measures with these inputs and options: a state for each report,
/// and the ids of the metrics that were chosen.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    family: &str,
    inputs: Vec<Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<(Vec<State>, Vec<String>)> {
    let (inputs, options, told) = (given::paths(&inputs)?, given::options(options)?, Told::new(progress)?);
    let measured =
        detached_told(py, &told.raised, || keywords::evaluate(family, &inputs, options, told.progress()))?;
    let measured = measured.map_err(|error| refused(py, error))?;
    let chosen = measured.chosen();
    Ok((measured.ledgers.into_iter().map(State::of).collect(), chosen))
}

/// The keywords that a report takes, and that `evaluate` remembers for it.
#[pyfunction]
pub(crate) fn report_keywords() -> Vec<String> {
    keywords::report_keywords()
}
