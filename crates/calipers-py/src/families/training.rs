//! Training runs: one curve per run.

use calipers::core::{Error, Stored};
use calipers::io::array::{Array, Dtype};
use calipers::metrics::training::{Curve, Preset, Sample, Training};
use calipers::{Accumulator, Result};
use pyo3::prelude::*;
use serde_json::Value as Json;

use super::{object, settings};
use crate::failure::detached;
use crate::given::array::read;
use crate::state::State;

/// An empty state; `options` are parameters of the protocol as JSON.
#[pyfunction]
pub(crate) fn training_new(py: Python<'_>, options: &str) -> PyResult<State> {
    detached(py, |_| {
        let options = object(options)?;
        let preset: Option<Preset> = options.get("preset").cloned().map(settings).transpose()?;
        let defaults = Training::new(preset.unwrap_or(Preset::Strict));
        let mut parameters: Json =
            serde_json::to_value(&defaults).map_err(|error| Error::usage(error.to_string()))?;
        if let Json::Object(parameters) = &mut parameters {
            parameters.extend(options);
        }
        let protocol: Training = settings(parameters)?;
        Ok(State::new(protocol.checked()?))
    })
}

/// Measures a run; without x its values stand at 0, 1, 2, ...
#[pyfunction]
pub(crate) fn training_update(
    py: Python<'_>,
    state: &State,
    group: &str,
    fold: &str,
    values: &Bound<'_, PyAny>,
    x: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let values = read(values, "values")?;
    let x = x.map(|x| read(x, "x")).transpose()?;
    detached(py, |_| {
        let mut aside = Accumulator::new(state.protocol()?);
        measure(&mut aside, group, fold, &values, x.as_ref())?;
        state.take_in(aside)
    })
}

/// A run from Python: group, fold, values and x.
type Run<'py> = (String, String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Measures runs, all of them or, on an error, none.
#[pyfunction]
pub(crate) fn training_update_batch(py: Python<'_>, state: &State, runs: Vec<Run<'_>>) -> PyResult<()> {
    let read_run = |(group, fold, values, x): &Run<'_>| {
        let x = x.as_ref().map(|x| read(x, "x")).transpose()?;
        Ok((group.clone(), fold.clone(), read(values, "values")?, x))
    };
    let runs = runs.iter().map(read_run).collect::<PyResult<Vec<_>>>()?;
    detached(py, |between| {
        let mut aside = Accumulator::new(state.protocol()?);
        for (group, fold, values, x) in &runs {
            between()?;
            measure(&mut aside, group, fold, values, x.as_ref())?;
        }
        state.take_in(aside)
    })
}

fn measure(
    aside: &mut Accumulator<Training>,
    group: &str,
    fold: &str,
    values: &Array,
    x: Option<&Array>,
) -> Result<()> {
    let samples = samples(values, x).map_err(|error| error.at(format!("run {group}/{fold}")))?;
    let protocol = aside.protocol();
    let x_key = if protocol.x == "auto" { "epoch" } else { protocol.x.as_str() }.to_owned();
    let stored = match values.dtype() {
        Dtype::F16 => Stored::Half,
        Dtype::BF16 => Stored::Brain,
        Dtype::F32 => Stored::Single,
        _ => Stored::Double,
    };
    let place = &|row| format!("position {row}");
    let curve = Curve { x_key: &x_key, place, stored, ..Curve::new(group, fold, &samples) };
    aside.update(curve.name(), curve)
}

fn samples(values: &Array, x: Option<&Array>) -> Result<Vec<Sample>> {
    let flat = |array: &Array, key: &str| match array.shape() {
        [_] => array.to_f64s().map_err(|error| error.at(format!("key {key}"))),
        shape => Err(Error::value("one number for each evaluation is needed")
            .at(format!("key {key}"))
            .found(format!("an array of shape {shape:?}"))
            .allowed("one axis")),
    };
    let values = flat(values, "values")?;
    let x = match x {
        Some(x) => flat(x, "x")?,
        None => (0..values.len()).map(|position| position as f64).collect(),
    };
    if x.len() != values.len() {
        return Err(Error::value("every value has its x").found(format!(
            "{} values, {} x",
            values.len(),
            x.len()
        )));
    }
    if values.is_empty() {
        return Err(Error::value("the run has no values"));
    }
    let sample = |(row, (x, value))| Sample { row, x, value, session: 0 };
    Ok((0..).zip(x.into_iter().zip(values)).map(sample).collect())
}
