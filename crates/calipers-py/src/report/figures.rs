//! The figures of a report, as files and as the numbers behind them.

use calipers::figures::{self, Figure};
use calipers::report::chart::{Style, files, points};
use calipers::{Error, Report, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::detached;
use crate::report::opened;
use crate::state::State;

/// The name, the title and, where it cannot be drawn, the reason.
pub(crate) type Listed = (String, String, Option<String>);

fn drawn(report: &Report, state: Option<&State>) -> Result<Vec<Figure>> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match state.map(State::locked).transpose()? {
        Some(ledger) => Ok(figures::of_ledger(&**ledger, report, report.intervals.as_ref(), None)),
        None => figures::of_report(report, None, threads),
    }
}

/// The figures of a report: those of the state it was read from, else of its inputs.
#[pyfunction]
pub(crate) fn report_figures(py: Python<'_>, text: &str, state: Option<&State>) -> PyResult<Vec<Listed>> {
    detached(py, |_| {
        let figures = drawn(&opened(text)?, state)?;
        Ok(figures.into_iter().map(|figure| (figure.name, figure.title, figure.chart.err())).collect())
    })
}

/// The bytes of a figure.
pub(crate) fn written(
    figures: &[Figure],
    name: &str,
    format: &str,
    width: Option<&str>,
    style: &str,
) -> Result<Vec<u8>> {
    let (format, style): (_, Style) = (files::format(format)?, style.parse()?);
    let width = width.map(points).transpose()?;
    let (_, chart) = figures::find(figures, name)?;
    files::write(chart, format, width, style)
}

/// One figure as a file.
#[pyfunction]
pub(crate) fn report_figure<'py>(
    py: Python<'py>,
    text: &str,
    state: Option<&State>,
    name: &str,
    format: &str,
    width: Option<&str>,
    style: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = detached(py, |_| written(&drawn(&opened(text)?, state)?, name, format, width, style))?;
    Ok(PyBytes::new(py, &bytes))
}

/// What one figure draws, as JSON.
#[pyfunction]
pub(crate) fn report_chart(
    py: Python<'_>,
    text: &str,
    state: Option<&State>,
    name: &str,
) -> PyResult<String> {
    detached(py, |_| {
        let figures = drawn(&opened(text)?, state)?;
        let (_, chart) = figures::find(&figures, name)?;
        serde_json::to_string(chart)
            .map_err(|error| Error::value(format!("cannot hand over a figure: {error}")))
    })
}
