//! Models compared as `calipers compare` compares them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use calipers::compare::{self, Model, Options};
use calipers::core::resample::{Bootstrap, Method};
use calipers::core::{Error, Result};
use calipers::figures::{self, Figure};
use calipers::report::Spread;
use calipers::report::comparison::{self, Comparison as Part, Forms};
use calipers::report::page::{self, Page};
use calipers::report::terminal::Style;
use calipers::sources::clusters::ClusterRule;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::figures::{Listed, written};
use crate::failure::detached;

/// A model as it comes from Python: a file, or the bytes of a state.
#[derive(FromPyObject)]
pub(crate) enum Given {
    /// A state.
    Bytes(Vec<u8>),
    /// A state or a per-unit file.
    Path(PathBuf),
}

fn forms(all: bool, plus_minus: bool) -> Forms {
    Forms { all, spread: if plus_minus { Spread::PlusMinus } else { Spread::Brackets } }
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
        comparison::terminal(&self.0, Style { colour: false, width }, Forms::default())
    }

    /// The table as CSV.
    fn csv(&self) -> String {
        comparison::csv(&self.0)
    }

    /// The table as Markdown, with the ranks by every metric where `all` are asked for.
    fn markdown(&self, all: bool, plus_minus: bool) -> String {
        comparison::markdown(&self.0, forms(all, plus_minus))
    }

    /// The table as LaTeX, likewise.
    fn latex(&self, all: bool, plus_minus: bool) -> String {
        comparison::latex(&self.0, forms(all, plus_minus))
    }

    /// The names and titles of the figures of all models, and why one is not drawn.
    fn figures(&self) -> Vec<Listed> {
        let figures = self.0.iter().flat_map(figures::of_comparison);
        figures.map(|figure| (figure.name, figure.title, figure.chart.err())).collect()
    }

    /// One of them as a file.
    fn figure<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        format: &str,
        width: Option<&str>,
        style: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, |_| {
            let figures: Vec<Figure> = self.0.iter().flat_map(figures::of_comparison).collect();
            written(&figures, name, format, width, style)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The page.
    fn html(&self) -> String {
        let sections = self.0.iter().map(comparison::section).collect();
        page::write(&Page { title: comparison::TITLE.into(), sections })
    }
}

/// Compares every later model with the first.
#[pyfunction]
#[pyo3(signature = (models, names, metrics, by_label, resamples, confidence, seed, interval, cluster_by, between, run_by, threads))]
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
    interval: &str,
    cluster_by: Option<Clusters>,
    between: Option<&str>,
    run_by: Option<&str>,
    threads: usize,
) -> PyResult<Compared> {
    detached(py, |_| {
        let method = method(interval)?;
        if let Some(other) = between.filter(|what| *what != "groups") {
            return Err(Error::usage("no such parts to compare")
                .at("between")
                .found(other)
                .allowed("groups"));
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::usage("confidence lies between 0 and 1").found(confidence));
        }
        let models = opened(models)?;
        let options = Options {
            metrics,
            by_label,
            names: names.unwrap_or_default(),
            between_groups: between.is_some(),
            run_by: run_by.map(str::parse).transpose()?,
            cluster_by: cluster_by.map(ClusterRule::try_from).transpose()?,
            bootstrap: Bootstrap { resamples, confidence, seed, method },
            threads: threads.max(1),
        };
        compare::compare(&models, &options).map(Compared)
    })
}

/// Which sampling units come together, as Python says it.
#[derive(FromPyObject)]
pub(crate) enum Clusters {
    /// A rule in words.
    Rule(String),
    /// The cluster of each unit.
    Mapping(BTreeMap<String, String>),
}

impl TryFrom<Clusters> for ClusterRule {
    type Error = Error;

    fn try_from(given: Clusters) -> Result<Self> {
        match given {
            Clusters::Rule(text) => text.parse(),
            Clusters::Mapping(clusters) => Ok(Self::Mapping(clusters)),
        }
    }
}

fn method(name: &str) -> Result<Method> {
    let known = [Method::Expanded, Method::Percentile, Method::Bca].into_iter();
    known.into_iter().find(|method| method.name() == name).ok_or_else(|| {
        Error::usage("no such way to make intervals")
            .at("interval")
            .found(name)
            .allowed(Method::NAMES.join(", "))
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
