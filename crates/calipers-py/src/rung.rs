//! The RUNG network: models in memory, and the commands that make and use them.

use calipers::core::Error;
use calipers::io::array::{Array, Dtype};
use calipers::metrics::robustness::Prepare;
use calipers::report::json;
use calipers::rung::files::checkpoint;
use calipers::rung::files::dataset::{Dataset, GIVEN, GivenGraph};
use calipers::rung::from_model::conditions::AttackFile;
use calipers::rung::model::Rung;
use calipers_cli::keywords::rung::{self, Memory};
use numpy::{PyArray2, PyArrayDyn, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::failure::{detached, detached_told, refused};
use crate::given;
use crate::given::array::{entries, read};
use crate::progress::Told;

/// A trained model.
#[pyclass(frozen, module = "calipers._calipers")]
pub(crate) struct RungModel {
    model: Rung,
}

#[pymethods]
impl RungModel {
    /// The model in the bytes of a safetensors file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Vec<u8>) -> PyResult<Self> {
        detached(py, |_| Ok(Self { model: checkpoint::of_bytes(data)? }))
    }

    /// The bytes of a safetensors file with its settings.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, |_| checkpoint::to_bytes(&self.model))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a file in the form of its ending.
    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        detached(py, |_| checkpoint::write(path.as_ref(), &self.model))
    }

    /// What it says of itself, as the texts of a file.
    fn settings(&self) -> Vec<(String, String)> {
        self.model.settings().to_metadata().into_iter().collect()
    }

    /// Its weights by name.
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyArrayDyn<f32>>)>> {
        let tensor = |(name, tensor): (String, calipers::rung::model::Tensor)| {
            Ok((name, tensor.data.to_pyarray(py).reshape(tensor.shape)?))
        };
        self.model.tensors().into_iter().map(tensor).collect()
    }

    /// The class scores of every node, [N, C].
    fn forward<'py>(
        &self,
        py: Python<'py>,
        edge_index: &Bound<'py, PyAny>,
        features: &Bound<'py, PyAny>,
        nodes: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let arrays = vec![
            ("edge_index".to_owned(), read(edge_index, "A")?),
            ("features".to_owned(), read(features, "X")?),
        ];
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let found = detached(py, |_| {
            let given = GivenGraph { arrays, nodes };
            let dataset = Dataset::of_given(&given, Prepare::None).map_err(|error| match error.file() {
                Some(GIVEN) => error.in_argument("A, X"),
                _ => error,
            })?;
            self.model.forward(&dataset.graph, &dataset.features, threads)
        })?;
        let nodes = found.features.len() / found.columns.max(1);
        found.features.to_pyarray(py).reshape([nodes, found.columns])
    }
}

/// A graph in memory: its arrays, and how many nodes it has where it says so.
type Graph<'py> = Option<(Bound<'py, PyDict>, Option<usize>)>;

fn memory<'py>(
    graph: Graph<'py>,
    splits: Option<Bound<'py, PyDict>>,
    model: Option<&RungModel>,
) -> PyResult<Memory> {
    let graph =
        graph.map(|(arrays, nodes)| PyResult::Ok(GivenGraph { arrays: entries(&arrays, read)?, nodes }));
    Ok(Memory {
        graph: graph.transpose()?,
        splits: splits.map(|sets| entries(&sets, read)).transpose()?,
        model: model.map(|model| model.model.clone()),
        attacked: Vec::new(),
    })
}

/// A model of a file, and the warnings.
#[pyfunction]
pub(crate) fn rung_load(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<(RungModel, Vec<String>)> {
    let (path, options) = (given::path_of("path", path)?, given::options(options)?);
    let loaded = detached(py, |_| Ok(rung::load(&path, &options)))?;
    let (model, warnings) = loaded.map_err(|error| refused(py, error))?;
    Ok((RungModel { model }, warnings))
}

/// A trained model, and the warnings.
#[pyfunction]
pub(crate) fn rung_train<'py>(
    py: Python<'py>,
    options: &Bound<'py, PyDict>,
    graph: Graph<'py>,
    splits: Option<Bound<'py, PyDict>>,
    progress: &Bound<'py, PyAny>,
) -> PyResult<(RungModel, Vec<String>)> {
    let (options, told) = (given::options(options)?, Told::new(progress)?);
    let memory = memory(graph, splits, None)?;
    let trained = detached_told(py, &told.raised, || rung::train(&options, memory, told.progress()))?;
    let (model, warnings) = trained.map_err(|error| refused(py, error))?;
    Ok((RungModel { model }, warnings))
}

/// The pairs to toggle for each budget, (k, 2), and the warnings.
type Flips<'py> = (Vec<(String, Bound<'py, PyArray2<i64>>)>, Vec<String>);

/// The flips of an attack.
#[pyfunction]
pub(crate) fn rung_attack<'py>(
    py: Python<'py>,
    model: &RungModel,
    options: &Bound<'py, PyDict>,
    graph: Graph<'py>,
    splits: Option<Bound<'py, PyDict>>,
    progress: &Bound<'py, PyAny>,
) -> PyResult<Flips<'py>> {
    let (options, told) = (given::options(options)?, Told::new(progress)?);
    let memory = memory(graph, splits, Some(model))?;
    let found = detached_told(py, &told.raised, || rung::attack(&options, memory, told.progress()))?;
    let (flips, warnings) = found.map_err(|error| refused(py, error))?;
    let array = |(budget, pairs): (String, Vec<(u32, u32)>)| {
        let ends: Vec<i64> = pairs.iter().flat_map(|(i, j)| [i64::from(*i), i64::from(*j)]).collect();
        Ok((budget, ends.to_pyarray(py).reshape([pairs.len(), 2])?))
    };
    Ok((flips.into_iter().map(array).collect::<PyResult<_>>()?, warnings))
}

/// The arrays of a run, and the warnings. `attacked` are graphs, or pairs to toggle (`true`), by budget.
#[pyfunction]
pub(crate) fn rung_forward<'py>(
    py: Python<'py>,
    model: &RungModel,
    options: &Bound<'py, PyDict>,
    graph: Graph<'py>,
    splits: Option<Bound<'py, PyDict>>,
    attacked: Vec<(String, bool, Bound<'py, PyAny>)>,
) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
    let options = given::options(options)?;
    let mut memory = memory(graph, splits, Some(model))?;
    let condition = |(budget, flips, array): &(String, bool, Bound<'py, PyAny>)| {
        let form = if *flips { AttackFile::Flips } else { AttackFile::Graph };
        Ok((budget.clone(), form, read(array, form.word())?))
    };
    memory.attacked = attacked.iter().map(condition).collect::<PyResult<_>>()?;
    let made = detached(py, |_| Ok(rung::forward(&options, memory)))?;
    let (arrays, warnings) = made.map_err(|error| refused(py, error))?;
    let dict = PyDict::new(py);
    for (key, array) in arrays {
        dict.set_item(key, as_numpy(py, &array)?)?;
    }
    Ok((dict, warnings))
}

/// The reports of a reproduction.
#[pyfunction]
pub(crate) fn rung_reproduce<'py>(
    py: Python<'py>,
    options: &Bound<'py, PyDict>,
    graph: Graph<'py>,
    progress: &Bound<'py, PyAny>,
) -> PyResult<Vec<String>> {
    let (options, told) = (given::options(options)?, Told::new(progress)?);
    let memory = memory(graph, None, None)?;
    let made = detached_told(py, &told.raised, || rung::reproduce(&options, memory, told.progress()))?;
    let reports = made.map_err(|error| refused(py, error))?;
    Ok(reports.into_iter().map(|report| json::write(&[report])).collect())
}

/// Floats as f64, everything else as i64.
fn as_numpy<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let failed = |error: Error| crate::failure::raised(py, &error);
    let shape: Vec<usize> = array.shape().iter().map(|length| *length as usize).collect();
    Ok(match array.dtype() {
        Dtype::F64 => array.to_f64s().map_err(failed)?.to_pyarray(py).reshape(shape)?.into_any(),
        _ => array.to_i64s().map_err(failed)?.to_pyarray(py).reshape(shape)?.into_any(),
    })
}
