//! Training logs: what they hold, their runs, and the study that they are part of.

use std::collections::BTreeMap;

use calipers::core::Warning;
use calipers::report::grid::Cell;
use calipers::sources::training::points::read::Read;
use calipers_cli::keywords::histories;
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{detached, detached_told, refused};
use crate::given;
use crate::progress::Told;

/// A warning: its code, what it says, and the units it is about.
type Warned = (String, String, Vec<String>);

fn warned(warnings: Vec<Warning>) -> Vec<Warned> {
    warnings.into_iter().map(|Warning { code, message, units }| (code, message, units)).collect()
}

/// The texts of a run.
type Names = (String, String, String, String, String, String, String);

/// A run: unit, group, fold, name, source, format and key of x; numbers, x and values of its points;
/// its configuration.
type Run<'py> = (
    Names,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    BTreeMap<String, String>,
);

/// What histories hold, as JSON.
#[pyfunction]
pub(crate) fn training_keys(
    py: Python<'_>,
    inputs: Vec<Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let (inputs, options, told) = (given::paths(&inputs)?, given::options(options)?, Told::new(progress)?);
    let keys = detached_told(py, &told.raised, || histories::keys(&inputs, &options, told.progress()))?;
    keys.map_err(|error| refused(py, error))
}

/// The runs of one metric in the order of units, and what looks wrong about them.
#[pyfunction]
pub(crate) fn training_read<'py>(
    py: Python<'py>,
    inputs: Vec<Bound<'py, PyAny>>,
    options: &Bound<'py, PyDict>,
    progress: &Bound<'py, PyAny>,
) -> PyResult<(Vec<Run<'py>>, Vec<Warned>)> {
    let (inputs, options, told) = (given::paths(&inputs)?, given::options(options)?, Told::new(progress)?);
    let read = detached_told(py, &told.raised, || histories::runs(&inputs, &options, told.progress()))?;
    let (runs, warnings) = read.map_err(|error| refused(py, error))?;
    Ok((runs.into_iter().map(|run| arrays(py, run)).collect(), warned(warnings)))
}

fn arrays(py: Python<'_>, read: Read) -> Run<'_> {
    let Read { claim, format, x_key, points, config } = read;
    let numbers: Vec<i64> = points.iter().map(|point| point.number as i64).collect();
    let x: Vec<f64> = points.iter().map(|point| point.x).collect();
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let names = (claim.unit(), claim.group, claim.fold, claim.run, claim.file, format.to_owned(), x_key);
    (names, numbers.to_pyarray(py), x.to_pyarray(py), values.to_pyarray(py), config)
}

/// The per-run JSON of a study, and what looks wrong about it.
#[pyfunction]
pub(crate) fn training_extract(
    py: Python<'_>,
    inputs: Vec<Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<Warned>)> {
    let (inputs, options, told) = (given::paths(&inputs)?, given::options(options)?, Told::new(progress)?);
    let extracted =
        detached_told(py, &told.raised, || histories::extract(&inputs, options, told.progress()))?;
    let (text, warnings) = extracted.map_err(|error| refused(py, error))?;
    Ok((text, warned(warnings)))
}

/// A table: its CSV, Markdown and LaTeX, its columns, and its rows of cells.
type Table<'py> = ([String; 3], Vec<String>, Vec<Vec<Option<Bound<'py, PyAny>>>>);

/// The three tables of a study, and what looks wrong about them; `json` is the per-run JSON itself.
#[pyfunction]
pub(crate) fn training_tables<'py>(
    py: Python<'py>,
    inputs: Vec<Bound<'py, PyAny>>,
    options: &Bound<'py, PyDict>,
    json: Option<String>,
    progress: &Bound<'py, PyAny>,
) -> PyResult<(Vec<Table<'py>>, Vec<Warned>)> {
    let (inputs, options, told) = (given::paths(&inputs)?, given::options(options)?, Told::new(progress)?);
    let made =
        detached_told(py, &told.raised, || histories::tables(&inputs, &options, json, told.progress()))?;
    let (tables, warnings) = made.map_err(|error| refused(py, error))?;
    let table = |table: histories::Tabled| {
        let row = |row: Vec<Cell>| row.into_iter().map(|of_row| cell(py, of_row)).collect();
        let rows = table.grid.rows.into_iter().map(row).collect::<PyResult<_>>()?;
        Ok((table.texts, table.grid.columns, rows))
    };
    Ok((tables.into_iter().map(table).collect::<PyResult<_>>()?, warned(warnings)))
}

fn cell(py: Python<'_>, cell: Cell) -> PyResult<Option<Bound<'_, PyAny>>> {
    Ok(match cell {
        Cell::Empty => None,
        Cell::Number(number) => Some(number.into_pyobject(py)?.into_any()),
        Cell::Text(text) | Cell::Bold(text) => Some(text.into_pyobject(py)?.into_any()),
        Cell::Flag(on) => Some(on.into_pyobject(py)?.to_owned().into_any()),
    })
}

/// Writes the files of three tables.
#[pyfunction]
pub(crate) fn training_write_tables(
    py: Python<'_>,
    prefix: Bound<'_, PyAny>,
    texts: [[String; 3]; 3],
) -> PyResult<()> {
    let prefix = given::path_of("prefix", &prefix)?;
    let done = detached(py, |_| Ok(histories::write_tables(&prefix, texts.each_ref())))?;
    done.map_err(|error| refused(py, error))
}
