//! The text forms of a report, made from its JSON as `calipers show` makes them.

use calipers::core::metric::MetricInfo;
use calipers::report::terminal::{self, Style};
use calipers::report::{csv, json, latex, markdown};
use calipers::{Report, Result, registry};
use pyo3::prelude::*;

use crate::failure::detached;

fn opened(text: &str) -> Result<(Vec<Report>, Vec<Vec<MetricInfo>>)> {
    let reports = json::read(text.as_bytes())?;
    let infos = reports.iter().map(|report| registry::metrics_of(&report.protocol)).collect();
    Ok((reports, infos))
}

/// The table for a terminal of that width.
#[pyfunction]
pub(crate) fn report_table(py: Python<'_>, text: &str, width: usize) -> PyResult<String> {
    detached(py, |_| {
        opened(text).map(|(reports, infos)| terminal::write(&reports, &infos, Style { colour: false, width }))
    })
}

/// The report as Markdown.
#[pyfunction]
pub(crate) fn report_markdown(py: Python<'_>, text: &str) -> PyResult<String> {
    detached(py, |_| opened(text).map(|(reports, infos)| markdown::write(&reports, &infos)))
}

/// The report as a LaTeX table.
#[pyfunction]
pub(crate) fn report_latex(py: Python<'_>, text: &str) -> PyResult<String> {
    detached(py, |_| opened(text).map(|(reports, infos)| latex::write(&reports, &infos)))
}

/// The report as CSV.
#[pyfunction]
pub(crate) fn report_csv(py: Python<'_>, text: &str) -> PyResult<String> {
    detached(py, |_| opened(text).map(|(reports, _)| csv::write(&reports)))
}

/// Refuses text that is not the JSON of a report; returns it as the command line writes it.
#[pyfunction]
pub(crate) fn report_check(py: Python<'_>, text: &str) -> PyResult<String> {
    detached(py, |_| json::read(text.as_bytes()).map(|reports| json::write(&reports)))
}

/// Every metric id, in the order of the table.
#[pyfunction]
pub(crate) fn metric_ids() -> Vec<String> {
    registry::FAMILIES.iter().flat_map(|family| (family.metrics)()).map(|info| info.id).collect()
}
