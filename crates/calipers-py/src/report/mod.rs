//! The text forms of a report, made from its JSON as `calipers show` makes them.

pub(crate) mod comparison;
pub(crate) mod figures;

use calipers::chosen::Chosen;
use calipers::core::Error;
use calipers::core::metric::MetricInfo;
use calipers::report::terminal::{self, Style};
use calipers::report::{Amount, Shown, Spread, csv, json, latex, markdown, notebook};
use calipers::{Report, Result, registry, reports};
use calipers_cli::keywords;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::catalogue::unknown;
use crate::failure::{detached, refused};
use crate::given;
use crate::state::State;

/// How messages name a text that is in no file.
const TEXT: &str = "the text of the report";

pub(crate) fn opened(text: &str) -> Result<Report> {
    let mut reports = reports::read(text.as_bytes(), TEXT)?;
    match (reports.pop(), reports.len()) {
        (Some(report), 0) => Ok(report),
        (_, others) => Err(Error::format("not one report").found(format!("{} of them", others + 1))),
    }
}

fn infos(report: &Report) -> Vec<MetricInfo> {
    registry::metrics_of(&report.protocol)
}

/// The report in one of its forms, with the selected metrics in their order. Text goes to the file, where
/// one is given, and is returned otherwise.
#[pyfunction]
pub(crate) fn report_form(
    py: Python<'_>,
    text: &str,
    form: &str,
    select: Option<Vec<String>>,
    all: bool,
    plus_minus: bool,
    path: Option<&str>,
) -> PyResult<Option<String>> {
    let amount = match (&select, all) {
        (Some(_), _) => Amount::Selected,
        (None, true) => Amount::Everything,
        (None, false) => Amount::Headline,
    };
    let shown = Shown { amount, spread: if plus_minus { Spread::PlusMinus } else { Spread::Brackets } };
    let selected = detached(py, |_| {
        let report = opened(text)?;
        Ok(match &select {
            Some(ids) => Chosen::select(report, ids),
            None => Ok(report),
        })
    })?;
    let report = selected.map_err(|error| unknown(py, &error))?;
    detached(py, |_| {
        let infos = [infos(&report)];
        let reports = [report];
        let text = match form {
            "csv" => csv::write(&reports),
            "markdown" => markdown::write(&reports, &infos, shown),
            "latex" => latex::write(&reports, &infos, shown),
            _ => json::write(&reports),
        };
        written(text, path)
    })
}

/// The report as a page; what it does not hold comes from the state it was read from, or from its inputs.
#[pyfunction]
pub(crate) fn report_page(
    py: Python<'_>,
    text: &str,
    state: Option<&State>,
    options: &Bound<'_, PyDict>,
    select: Option<Vec<String>>,
    path: Option<&str>,
) -> PyResult<Option<String>> {
    let options = given::options(options)?;
    let report = detached(py, |_| opened(text))?;
    let select = select.unwrap_or_default();
    Chosen::select(report.clone(), &select).map_err(|error| unknown(py, &error))?;
    let page = detached(py, |_| {
        let ledger = state.map(State::locked).transpose()?;
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let page =
            keywords::page(ledger.as_ref().map(|ledger| &***ledger), &report, &options, &select, threads);
        Ok(match page {
            Ok(page) => Ok(written(page, path)?),
            Err(refused) => Err(refused),
        })
    })?;
    page.map_err(|error| refused(py, error))
}

fn written(text: String, path: Option<&str>) -> Result<Option<String>> {
    match path {
        None => Ok(Some(text)),
        Some(path) => calipers::output::write(path.as_ref(), text.as_bytes()).map(|()| None),
    }
}

/// The table for a terminal of that width.
#[pyfunction]
pub(crate) fn report_table(py: Python<'_>, text: &str, width: usize) -> PyResult<String> {
    detached(py, |_| {
        let report = opened(text)?;
        let infos = [infos(&report)];
        Ok(terminal::write(&[report], &infos, Style { colour: false, width }, Amount::Headline))
    })
}

/// The table that a notebook shows.
#[pyfunction]
pub(crate) fn report_notebook(py: Python<'_>, text: &str) -> PyResult<String> {
    detached(py, |_| opened(text).map(|report| notebook::write(&report, &infos(&report))))
}

/// The reports in this text, each as the command line writes it. Refuses what is not the JSON of reports.
#[pyfunction]
pub(crate) fn report_check(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    detached(py, |_| {
        let reports = reports::read(text.as_bytes(), TEXT)?;
        Ok(reports.into_iter().map(|report| json::write(&[report])).collect())
    })
}

/// Reports as the array that the command line writes for several.
#[pyfunction]
pub(crate) fn report_array(py: Python<'_>, texts: Vec<String>) -> PyResult<String> {
    detached(py, |_| {
        let reports = texts.iter().map(|text| opened(text)).collect::<Result<Vec<_>>>()?;
        Ok(json::write_array(&reports))
    })
}
