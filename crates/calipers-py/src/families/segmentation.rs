//! Segmentations: a truth map and the arrays of the heads.

use calipers::core::Error;
use calipers::io::array::Array;
use calipers::metrics::segmentation::{Config, PixelRow, Segmentation, Sparse};
use calipers::run::{Silent, in_parts};
use calipers::sources::segmentation::memory;
use calipers::{Accumulator, Result};
use numpy::{PyArray1, PyArray3, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{object, settings};
use crate::failure::detached;
use crate::given::array::{along, entries, read};
use crate::state::State;

fn protocol(config: &str) -> Result<Segmentation> {
    settings::<Config>(object(config)?.into())?.resolve()
}

/// An empty state; `config` is a configuration as JSON.
#[pyfunction]
pub(crate) fn segmentation_new(py: Python<'_>, config: &str) -> PyResult<State> {
    detached(py, |_| protocol(config).map(State::new))
}

/// Measures one image; `pred` is one array, or one for each head by name.
#[pyfunction]
pub(crate) fn segmentation_update(
    py: Python<'_>,
    state: &State,
    name: &str,
    truth: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
    spacing: Option<Vec<f64>>,
) -> PyResult<()> {
    let truth = read(truth, "truth")?;
    let given = predictions(pred)?;
    detached(py, |_| {
        let protocol: Segmentation = state.protocol()?;
        let preds = in_order(&protocol, given)?;
        state.take_in(memory::measure(&protocol, name, truth, &preds, spacing.as_deref())?)
    })
}

/// Measures an image for each name, all of them or, on an error, none.
#[pyfunction]
pub(crate) fn segmentation_update_batch(
    py: Python<'_>,
    state: &State,
    names: Vec<String>,
    truth: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
    threads: usize,
    spacing: Option<Vec<f64>>,
) -> PyResult<()> {
    let truths = along(truth, "truth", names.len())?;
    let of_each = |object: &Bound<'_, PyAny>, name: &str| along(object, name, names.len());
    let by_head = pred.cast::<PyDict>().ok().map(|heads| entries(heads, of_each)).transpose()?;
    let only = if by_head.is_none() { of_each(pred, "pred")? } else { Vec::new() };
    detached(py, |between| {
        let protocol: Segmentation = state.protocol()?;
        let given = |at: usize| match &by_head {
            None => Given::Only(only[at].clone()),
            Some(heads) => {
                Given::ByHead(heads.iter().map(|(name, arrays)| (name.clone(), arrays[at].clone())).collect())
            }
        };
        let new = || (Accumulator::new(protocol.clone()), memory::Buffers::default());
        let measure = |at: usize, name: &String, (part, buffers): &mut (Accumulator<_>, memory::Buffers)| {
            let heads = in_order(&protocol, given(at)).map_err(|error| error.at(format!("unit {name}")))?;
            memory::measure_into(part, buffers, name, truths[at].clone(), &heads, spacing.as_deref())
        };
        let mut aside = Accumulator::new(protocol.clone());
        for (part, _) in in_parts(&names, threads.max(1), &Silent, new, measure)? {
            aside.take_in(part)?;
        }
        between()?;
        state.take_in(aside)
    })
}

/// Measures one confusion matrix.
#[pyfunction]
pub(crate) fn segmentation_update_confusion(
    py: Python<'_>,
    state: &State,
    name: &str,
    matrix: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let matrix = read(matrix, "confusion")?;
    detached(py, |_| {
        let protocol: Segmentation = state.protocol()?;
        state.take_in(memory::measure_confusion(&protocol, name, &matrix)?)
    })
}

/// What was given as prediction.
enum Given {
    Only(Array),
    ByHead(Vec<(String, Array)>),
}

fn predictions(pred: &Bound<'_, PyAny>) -> PyResult<Given> {
    match pred.cast::<PyDict>() {
        Ok(heads) => entries(heads, read).map(Given::ByHead),
        Err(_) => read(pred, "pred").map(Given::Only),
    }
}

/// The arrays in the order of the heads.
fn in_order(protocol: &Segmentation, given: Given) -> Result<Vec<Option<Array>>> {
    let names = || protocol.heads.iter().map(|head| head.name.as_str()).collect::<Vec<_>>().join(", ");
    let arrays = match given {
        Given::Only(array) if protocol.heads.len() == 1 => return Ok(vec![Some(array)]),
        Given::Only(_) => {
            return Err(
                Error::value("several heads, but one array").allowed(format!("a dict of {}", names()))
            );
        }
        Given::ByHead(arrays) => arrays,
    };
    let mut preds = vec![None; protocol.heads.len()];
    for (name, array) in arrays {
        match protocol.heads.iter().position(|head| head.name == name) {
            Some(at) => preds[at] = Some(array),
            None => return Err(Error::value("there is no such head").found(name).allowed(names())),
        }
    }
    Ok(preds)
}

/// Something for each foreground class by name, in order.
type ByClass<T> = Vec<(String, T)>;

/// The counts of the only row of an accumulator.
fn counts<T: Clone + Default + Send>(
    py: Python<'_>,
    config: &str,
    truth: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
    of: impl Fn(&PixelRow) -> &Sparse<u32, T> + Send + Sync,
) -> PyResult<ByClass<T>> {
    let truth = read(truth, "truth")?;
    let given = predictions(pred)?;
    detached(py, |_| {
        let protocol = protocol(config)?;
        let preds = in_order(&protocol, given)?;
        let measured: Accumulator<Segmentation> = memory::measure(&protocol, "image", truth, &preds, None)?;
        let by_class = measured.rows().first().and_then(|row| row.pixels.as_ref()).map(of);
        let classes = protocol.foreground().map(|class| {
            let name = protocol.labels.global[class].clone();
            (name, by_class.and_then(|counts| counts.get(&(class as u32)).cloned()).unwrap_or_default())
        });
        Ok(classes.collect())
    })
}

/// Both, truth and prediction: the pixels of the outer band of each foreground class.
#[pyfunction]
pub(crate) fn segmentation_boundary_counts(
    py: Python<'_>,
    config: &str,
    truth: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
) -> PyResult<ByClass<(u64, u64, u64)>> {
    let classes = counts(py, config, truth, pred, |pixels| &pixels.band)?;
    Ok(classes.into_iter().map(|(class, band)| (class, (band.both, band.truth, band.pred))).collect())
}

/// Matched and all contour pixels of the prediction, then of the truth, of each foreground class.
#[pyfunction]
pub(crate) fn segmentation_contour_counts(
    py: Python<'_>,
    config: &str,
    truth: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
) -> PyResult<ByClass<(u64, u64, u64, u64)>> {
    let classes = counts(py, config, truth, pred, |pixels| &pixels.contour)?;
    let plain = classes.into_iter().map(|(class, contour)| {
        (class, (contour.pred_matched, contour.pred, contour.truth_matched, contour.truth))
    });
    Ok(plain.collect())
}

/// The Hausdorff distances of the class 1 from prediction to truth and back: the largest distances, or those
/// at a percentile. None unless both have a surface.
#[pyfunction]
pub(crate) fn segmentation_hausdorff(
    py: Python<'_>,
    config: &str,
    truth: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
    spacing: Option<Vec<f64>>,
) -> PyResult<Option<[f64; 2]>> {
    let (truth, pred) = (read(truth, "truth")?, read(pred, "pred")?);
    detached(py, |_| {
        let protocol = protocol(config)?;
        let measured = memory::measure(&protocol, "image", truth, &[Some(pred)], spacing.as_deref())?;
        let rows = measured.rows();
        let surfaces = rows.iter().next().and_then(|row| row.space()?.surfaces.get(&1));
        let (surface, surfaces) = protocol.surface.as_ref().zip(surfaces).unzip();
        Ok(surfaces.and_then(|surfaces| surfaces.hausdorff(surface?)).map(|[truth, pred]| [pred, truth]))
    })
}

/// The probability of every global class at every pixel.
#[pyfunction]
pub(crate) fn segmentation_fuse<'py>(
    py: Python<'py>,
    config: &str,
    pred: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let given = predictions(pred)?;
    let (shape, values) = detached(py, |_| {
        let protocol = protocol(config)?;
        let preds = in_order(&protocol, given)?;
        memory::fuse(&protocol, &preds)
    })?;
    let flat: Bound<'py, PyArray1<f64>> = values.to_pyarray(py);
    flat.reshape(shape)
}
