//! What there is to measure.

use calipers::core::metric::MetricInfo;
use calipers::core::{Better, Error};
use calipers::registry;
use calipers::report::catalogue;
use calipers::report::terminal::Style;
use pyo3::prelude::*;

use crate::failure::{of_class, raised};

/// The exception for an id that is not known.
pub(crate) fn unknown(py: Python<'_>, error: &Error) -> PyErr {
    of_class(py, "UnknownMetricError", error)
}

/// The text of the exception for an id that is none of these.
#[pyfunction]
pub(crate) fn unknown_metric(py: Python<'_>, id: &str, ids: Vec<String>) -> PyErr {
    unknown(py, &registry::unknown(id, ids.iter().map(String::as_str)))
}

/// Every metric id, in the order of the table.
#[pyfunction]
pub(crate) fn metric_ids() -> Vec<String> {
    registry::FAMILIES.iter().flat_map(|family| (family.metrics)()).map(|info| info.id).collect()
}

type Listed = (String, &'static str, Option<&'static str>, &'static str, &'static str);

/// Id, family, better direction, range and what it measures, of every metric of a family or of all.
#[pyfunction]
pub(crate) fn metric_list(py: Python<'_>, family: Option<&str>) -> PyResult<Vec<Listed>> {
    let families = || registry::FAMILIES.iter();
    if let Some(name) = family.filter(|name| registry::find(name).is_none()) {
        let names: Vec<&str> = families().map(|family| family.name).collect();
        let error = Error::usage("no such family").at("family").found(name).allowed(names.join(", "));
        return Err(raised(py, &error));
    }
    let wanted = families().filter(|one| family.is_none_or(|name| one.name == name));
    let lines = wanted.flat_map(|one| (one.metrics)().into_iter().map(move |info| (one.name, info)));
    Ok(lines
        .map(|(name, info)| (info.id, name, better(info.better), info.range.text, info.measures))
        .collect())
}

/// The text of `calipers explain`, and its fields in order.
#[pyfunction]
pub(crate) fn metric_definition(py: Python<'_>, id: &str) -> PyResult<(String, Vec<Option<String>>)> {
    let info: MetricInfo = registry::metric(id).map_err(|error| unknown(py, &error))?;
    let text = catalogue::explain(&info, Style { colour: false, width: 100 });
    let (example, value) = info.example;
    let example = if example.is_empty() { String::new() } else { format!("{example}: {value}") };
    let fields = [Some(&*info.id), Some(info.measures), Some(info.formula), Some(info.range.text)];
    let more = [better(info.better), Some(info.undefined), Some(info.differs), Some(info.reference)];
    let all = fields.into_iter().chain(more).chain([Some(&*example)]);
    Ok((text, all.map(|text| text.map(str::to_owned)).collect()))
}

fn better(better: Better) -> Option<&'static str> {
    match better {
        Better::Higher => Some("higher"),
        Better::Lower => Some("lower"),
        Better::Neither => None,
    }
}

/// The ids of a report that are shown first, in their order, with their headings for people.
#[pyfunction]
pub(crate) fn headline_ids(protocol: &str) -> Vec<String> {
    let parsed = serde_json::from_str(protocol).unwrap_or_default();
    let mut infos = registry::metrics_of(&parsed);
    infos.retain(|info| info.headline.is_some());
    infos.sort_by_key(|info| info.headline);
    infos.into_iter().map(|info| info.id).collect()
}
