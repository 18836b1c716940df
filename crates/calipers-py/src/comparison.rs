//! Models compared as `calipers compare` compares them.

use std::path::PathBuf;

use calipers::compare::{self, Model, Options};
use calipers::core::resample::{Bootstrap, Method};
use calipers::core::{Error, Result};
use calipers::report::comparison::{self, Comparison as Part};
use calipers::report::page::{self, Page};
use calipers::report::terminal::Style;
use pyo3::prelude::*;

use crate::failure::detached;

/// A model as it comes from Python: a file, or the bytes of a state.
#[derive(FromPyObject)]
pub(crate) enum Given {
    /// A state.
    Bytes(Vec<u8>),
    /// A state or a per-unit file.
    Path(PathBuf),
}

/// One comparison a protocol.
#[pyclass(frozen, module = "calipers._calipers")]
pub(crate) struct Compared(Vec<Part>);

#[pymethods]
impl Compared {
    /// The object that the command line's `--json` writes.
    fn json(&self) -> String {
        comparison::json(&self.0)
    }

    /// The table for a terminal of that width.
    fn table(&self, width: usize) -> String {
        comparison::terminal(&self.0, Style { colour: false, width })
    }

    /// The table as CSV.
    fn csv(&self) -> String {
        comparison::csv(&self.0)
    }

    /// The table as Markdown.
    fn markdown(&self) -> String {
        comparison::markdown(&self.0)
    }

    /// The table as LaTeX.
    fn latex(&self) -> String {
        comparison::latex(&self.0)
    }

    /// The page.
    fn html(&self) -> String {
        let sections = self.0.iter().map(comparison::section).collect();
        page::write(&Page { title: comparison::TITLE.into(), sections })
    }
}

/// Compares every later model with the first.
#[pyfunction]
#[pyo3(signature = (models, names, metrics, by_label, resamples, confidence, seed, threads))]
#[expect(clippy::too_many_arguments, reason = "one a keyword of the function in Python")]
pub(crate) fn compare_models(
    py: Python<'_>,
    models: Vec<Given>,
    names: Option<Vec<String>>,
    metrics: Vec<String>,
    by_label: bool,
    resamples: u32,
    confidence: f64,
    seed: u64,
    threads: usize,
) -> PyResult<Compared> {
    detached(py, |_| {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::usage("confidence lies between 0 and 1").found(confidence));
        }
        let mut models = opened(models)?;
        if let Some(names) = names {
            if names.len() != models.len() {
                return Err(Error::usage("there is a name for each model")
                    .found(names.len())
                    .allowed(models.len()));
            }
            models.iter_mut().zip(names).for_each(|(model, name)| model.name = name);
        }
        let bootstrap = Bootstrap { resamples, confidence, seed, method: Method::default() };
        let options = Options { metrics, by_label, bootstrap, threads: threads.max(1) };
        compare::compare(&models, &options).map(Compared)
    })
}

/// Files are named as on the command line, others by their place.
fn opened(models: Vec<Given>) -> Result<Vec<Model>> {
    let paths: Vec<&PathBuf> = models
        .iter()
        .filter_map(|model| match model {
            Given::Path(path) => Some(path),
            Given::Bytes(_) => None,
        })
        .collect();
    let mut files = compare::open(&paths)?.into_iter();
    let mut all = Vec::with_capacity(models.len());
    for (place, model) in models.iter().enumerate() {
        match model {
            Given::Path(_) => all.extend(files.next()),
            Given::Bytes(bytes) => {
                let name = format!("model {}", place + 1);
                all.push(Model::from_bytes(&name, name.as_ref(), bytes)?);
            }
        }
    }
    Ok(all)
}
