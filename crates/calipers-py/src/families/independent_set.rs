//! Independent sets: graphs as `edge_index` arrays, with scores and labels.

use calipers::core::Error;
use calipers::io::array::{Array, Arrays};
use calipers::metrics::independent_set::losses::loss_and_grad;
use calipers::metrics::independent_set::{
    Graph, IndependentSet, Kind, PosWeight, Preset, Reference, certificate, search, solution,
};
use calipers::sources::independent_set::memory;
use calipers::sources::independent_set::options::Options;
use calipers::{Accumulator, Result};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value as Json, json};

use super::{object, settings};
use crate::failure::detached;
use crate::given::array::{read, read_all};
use crate::state::State;

/// An empty state; `options` are those of the command line as JSON.
#[pyfunction]
pub(crate) fn independent_set_new(py: Python<'_>, options: &str) -> PyResult<State> {
    detached(py, |_| protocol(options).map(State::new))
}

fn protocol(options: &str) -> Result<IndependentSet> {
    let given = object(options)?;
    let preset: Preset = settings(given.get("preset").cloned().unwrap_or(json!("strict")))?;
    if preset != Preset::Strict && given.contains_key("reference") {
        return Err(Error::usage("--reference does not go with this preset").advice("use --preset strict"));
    }
    let mut whole = settings::<serde_json::Map<String, Json>>(
        serde_json::to_value(IndependentSet::new(preset)).unwrap_or_default(),
    )?;
    whole.extend(given);
    let mut protocol: IndependentSet = settings(Json::Object(whole))?;
    protocol.decoders.sort();
    protocol.decoders.dedup();
    if preset != Preset::Strict {
        protocol.reference = Reference::Labels;
    }
    // The checks are those of the command line, which also wants to know where the files are.
    Options { inputs: vec!["memory".into()], protocol: protocol.clone(), ..Options::default() }.check()?;
    Ok(protocol)
}

/// Measures the graph, or the graphs of a packed batch, that the arrays hold.
#[pyfunction]
pub(crate) fn independent_set_update(
    py: Python<'_>,
    state: &State,
    names: Vec<String>,
    arrays: &Bound<'_, PyDict>,
    self_loops: &str,
) -> PyResult<()> {
    let arrays = read_all(arrays)?;
    detached(py, |between| {
        let refuse_self_loops = match self_loops {
            "drop" => false,
            "error" => true,
            other => {
                return Err(Error::usage("no such rule for self loops").found(other).allowed("drop, error"));
            }
        };
        let protocol: IndependentSet = state.protocol()?;
        let options = Options { axis: protocol.axis, refuse_self_loops, protocol, ..Options::default() };
        let aside: Accumulator<IndependentSet> = memory::measure(&options, &names, arrays, between)?;
        state.take_in(aside)
    })
}

/// A graph without anything else.
fn graph(edge_index: Array, nodes: u64) -> Result<Graph> {
    let arrays = Arrays::of([("edge_index".to_owned(), edge_index)]);
    let options = Options { num_nodes: Some(nodes), no_scores: true, ..Options::default() };
    let mut graphs = memory::graphs(&options, arrays)?;
    graphs.pop().map(|one| one.graph).ok_or_else(|| Error::value("there is no graph"))
}

/// A graph and one number a node.
fn scored(key: &str, values: &Array, edge_index: Array) -> Result<(Graph, Vec<f64>)> {
    let &[nodes] = values.shape() else {
        return Err(Error::value(format!("'{key}' must be one-dimensional"))
            .at(format!("key {key}"))
            .found(format!("{:?}", values.shape()))
            .allowed("[N]"));
    };
    let values = values.to_f64s().map_err(|error| error.at(format!("key {key}")))?;
    if let Some(node) = values.iter().position(|value| value.is_nan()) {
        return Err(Error::value("a score is not a number").at(format!("key {key}, node {node}")));
    }
    Ok((graph(edge_index, nodes)?, values))
}

fn chosen(set: &Array, edge_index: Array) -> Result<(Graph, Vec<bool>)> {
    let (graph, values) = scored("set", set, edge_index)?;
    let set = calipers::sources::independent_set::node_values::labels(&values)
        .map_err(|_| Error::value("a set holds another value than 0 and 1").allowed("0 or 1"))?;
    Ok((graph, set))
}

/// The greedy decode of scores.
#[pyfunction]
pub(crate) fn independent_set_greedy_decode<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    edge_index: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let (scores, edges) = (read(scores, "scores")?, read(edge_index, "edge_index")?);
    let set = detached(py, |_| {
        let (graph, values) = scored("scores", &scores, edges)?;
        Ok(search::greedy(&graph, &values))
    })?;
    Ok(set.to_pyarray(py))
}

/// The decode by smallest residual degree.
#[pyfunction]
pub(crate) fn independent_set_min_degree<'py>(
    py: Python<'py>,
    edge_index: &Bound<'py, PyAny>,
    num_nodes: u64,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let edges = read(edge_index, "edge_index")?;
    let set = detached(py, |_| Ok(search::min_degree(&graph(edges, num_nodes)?)))?;
    Ok(set.to_pyarray(py))
}

/// Swaps of one node for two until there is none.
#[pyfunction]
pub(crate) fn independent_set_swap_search<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    edge_index: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let (start, edges) = (read(start, "start")?, read(edge_index, "edge_index")?);
    let set = detached(py, |_| {
        let (graph, start) = chosen(&start, edges)?;
        if !solution::is_independent(&graph, &start) {
            return Err(Error::value("the start is not an independent set").advice("decode it first"));
        }
        Ok(search::swap_search(&graph, &start))
    })?;
    Ok(set.to_pyarray(py))
}

/// The clique-cover bound.
#[pyfunction]
pub(crate) fn independent_set_upper_bound(
    py: Python<'_>,
    edge_index: &Bound<'_, PyAny>,
    num_nodes: u64,
) -> PyResult<u64> {
    let edges = read(edge_index, "edge_index")?;
    detached(py, |_| Ok(certificate::upper_bound(&graph(edges, num_nodes)?)))
}

/// Whether no edge has both ends in the set.
#[pyfunction]
pub(crate) fn independent_set_is_independent(
    py: Python<'_>,
    set: &Bound<'_, PyAny>,
    edge_index: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let (set, edges) = (read(set, "set")?, read(edge_index, "edge_index")?);
    detached(py, |_| {
        let (graph, set) = chosen(&set, edges)?;
        Ok(solution::is_independent(&graph, &set))
    })
}

/// The training losses and the gradient by the logits, in f64.
#[pyfunction]
pub(crate) fn independent_set_loss_and_grad<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyDict>,
    pos_weight: &str,
    feasibility_weight: f64,
    preset: &str,
) -> PyResult<(f64, f64, f64, Bound<'py, PyArray1<f64>>)> {
    let arrays = read_all(arrays)?;
    let losses = detached(py, |_| {
        let weight: PosWeight =
            settings(serde_json::from_str(pos_weight).unwrap_or_default()).map_err(|_| {
                Error::usage("no such weight of labels 1")
                    .found(pos_weight)
                    .allowed("graph, pooled or a number")
            })?;
        let preset: Preset = settings(json!(preset))?;
        let protocol = IndependentSet {
            scores: Some(Kind::Logits),
            pos_weight: weight,
            feasibility_weight,
            ..IndependentSet::new(preset)
        };
        let options = Options { inputs: vec!["memory".into()], protocol, ..Options::default() };
        options.check()?;
        let graphs = memory::graphs(&options, arrays)?;
        let batch: Option<Vec<_>> = graphs
            .iter()
            .map(|one| Some((&one.graph, one.scores.as_deref()?, one.labels.as_deref()?)))
            .collect();
        let batch = batch.ok_or_else(|| Error::value("logits and labels are needed"))?;
        loss_and_grad(&batch, weight, feasibility_weight, preset)
    })?;
    let grad = losses.grad.to_pyarray(py);
    Ok((losses.loss_bce, losses.loss_feasibility, losses.loss_total, grad))
}
