//! Files measured as the command line measures them.

use std::path::Path;
use std::sync::Arc;

use calipers::core::stop;
use calipers::io::file::InputFile;
use calipers::report::json;
use calipers::run::Silent;
use calipers::sources::segmentation::fit::Share;
use calipers::{reports, states};
use calipers_cli::keywords;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::failure::{detached, detached_told, refused};
use crate::given;
use crate::progress::{Raised, Told};
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
    let (inputs, told) = (given::paths(&inputs)?, Told::new(progress)?);
    let options = given::options_and_calls(options, &told.raised)?;
    let measured =
        detached_told(py, &told.raised, || keywords::evaluate(family, &inputs, options, told.progress()))?;
    let measured = measured.map_err(|error| refused(py, error))?;
    let chosen = measured.chosen();
    Ok((measured.ledgers.into_iter().map(State::of).collect(), chosen))
}

/// Weights and temperatures of heads: alpha and tau by head, the surprise before and after of the units
/// that were fitted to and of those held back, and the text of the configuration.
type Fitted = (Vec<(String, f64, f64)>, [f64; 2], Option<[f64; 2]>, String);

/// Fits the heads of a configuration.
#[pyfunction]
pub(crate) fn segmentation_fit(
    py: Python<'_>,
    config: Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Fitted> {
    let config = given::path_of("config", &config)?;
    let (options, told) = (given::options(options)?, Told::new(progress)?);
    let fit = detached_told(py, &told.raised, || keywords::fit(&config, options, told.progress()))?;
    let keywords::Fit { fitted, toml } = fit.map_err(|error| refused(py, error))?;
    let heads = fitted.heads.into_iter().map(|(name, head)| (name, head.alpha, head.tau)).collect();
    let both = |share: Share| [share.before, share.after];
    Ok((heads, both(fitted.fitted), fitted.held_back.map(both), toml))
}

/// What differs between a report or state and its inputs, measured again.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    let (path, options) = (given::path_of("path", &path)?, given::options(options)?);
    let found = detached(py, |_| Ok(keywords::verify(&path, &options)))?;
    found.map_err(|error| refused(py, error))
}

/// Makes a data set of every family and scores it: the reports.
#[pyfunction]
pub(crate) fn demo(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let options = given::options(options)?;
    let made = detached(py, |_| Ok(keywords::demo(&options, &Silent)))?;
    let reports = made.map_err(|error| refused(py, error))?;
    Ok(reports.into_iter().map(|report| json::write(&[report])).collect())
}

/// Serves the reports of a folder until a signal arrives; `tell` is called with the address.
#[pyfunction]
pub(crate) fn serve(
    py: Python<'_>,
    folder: Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
    tell: Py<PyAny>,
) -> PyResult<()> {
    let (folder, options) = (given::path_of("folder", &folder)?, given::options(options)?);
    let raised = Arc::<Raised>::default();
    let told = |address: &str| {
        if let Err(error) = Python::attach(|py| tell.call1(py, (address,)).map(drop)) {
            raised.set(error);
        }
    };
    let done = detached_told(py, &raised, || keywords::serve(&folder, &options, told, || !stop::asked()))?;
    done.map_err(|error| refused(py, error))
}

/// What is in a file or in bytes: the states of evaluators, or else reports as JSON.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<(Vec<State>, Vec<String>)> {
    let held = given.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes().to_vec());
    let path = match &held {
        Some(_) => None,
        None => Some(given::path_of("path_or_bytes", given)?),
    };
    detached(py, |_| {
        let source = path.as_deref().unwrap_or("bytes");
        let bytes = match (held, &path) {
            (Some(bytes), _) => bytes,
            (None, path) => {
                let path = Path::new(path.as_deref().unwrap_or_default());
                let opened = InputFile::open(path).map_err(|error| error.at("path_or_bytes"))?;
                opened.read_all().map_err(|error| error.in_file(source))?
            }
        };
        if states::is_state(&bytes) {
            let ledgers = states::from_bytes(&bytes, source)?;
            return Ok((ledgers.into_iter().map(State::of).collect(), Vec::new()));
        }
        let reports = reports::read(&bytes, source)?;
        Ok((Vec::new(), reports.into_iter().map(|report| json::write(&[report])).collect()))
    })
}

/// The keywords that a report takes, and that `evaluate` remembers for it.
#[pyfunction]
pub(crate) fn report_keywords() -> Vec<String> {
    keywords::report_keywords()
}
