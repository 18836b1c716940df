//! Independent sets as the laws see them: a run written as JSON, and what is particular to the family.

mod cases;
mod properties;
mod published;

use calipers_core::Accumulator;
use calipers_metrics::independent_set::graph::{Graph, Storage};
use calipers_metrics::independent_set::unit::{Scores, Unit};
use calipers_metrics::independent_set::{IndependentSet, Preset};
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::family::{Family, metrics};

pub(crate) const FAMILY: Family = Family {
    name: "independent_set",
    golden: &["cases.json"],
    metrics: metrics::<IndependentSet>,
    run: |input| Ok(Box::new(run(input))),
    tolerance: |id, _| tolerance(id),
    general: str::to_owned,
};

/// The state after all units of `input`, which has `params` (only what differs from the preset's
/// defaults) and `units`.
pub(crate) fn run(input: &Json) -> Accumulator<IndependentSet> {
    let units = input["units"].as_array().expect("units");
    let mut state = Accumulator::new(protocol(&input["params"], &units[0]));
    for unit in units {
        add(&mut state, unit);
    }
    state
}

/// The protocol with the given parameters; kind and axis of the scores are the first unit's.
pub(crate) fn protocol(params: &Json, first: &Json) -> IndependentSet {
    let preset = match &params["preset"] {
        Json::Null => Preset::Strict,
        name => serde_json::from_value(name.clone()).expect("a preset"),
    };
    let mut json = serde_json::to_value(IndependentSet::new(preset)).expect("a protocol is an object");
    for (key, value) in params.as_object().into_iter().flatten() {
        json[key] = value.clone();
    }
    json["scores"] = first["kind"].clone();
    json["axis"] = first["axis"].clone();
    serde_json::from_value(json).expect("parameters of the family")
}

fn add(state: &mut Accumulator<IndependentSet>, unit: &Json) {
    let name = unit["unit"].as_str().expect("a unit has a name");
    let graph = graph(unit);
    let values: Vec<f64> = flat(&unit["scores"]);
    let (kind, axis) = (state.protocol().scores, state.protocol().axis);
    let scores = kind.map(|kind| Scores::new(kind, axis, &values, graph.nodes()).expect("good scores"));
    let labels: Option<Vec<bool>> =
        unit["labels"].as_array().map(|labels| labels.iter().map(|y| y.as_u64() == Some(1)).collect());
    let unit = Unit::new(&graph, scores, labels.as_deref(), unit["optimum"].as_u64());
    state.update(name, unit.expect("a good unit")).expect("a new name");
}

/// The unit's graph, its entries stored in both directions.
pub(crate) fn graph(unit: &Json) -> Graph {
    let ends = |row: usize| -> Vec<i64> {
        unit["edge_index"][row].as_array().into_iter().flatten().filter_map(Json::as_i64).collect()
    };
    let (tails, heads) = (ends(0), ends(1));
    let nodes = unit["n"].as_u64().expect("a number of nodes");
    Graph::build(nodes, Storage::Both, &(&tails[..], &heads[..])).expect("a good graph")
}

/// Numbers of a list, or of a list of lists row after row.
pub(crate) fn flat(json: &Json) -> Vec<f64> {
    let row = |row: &Json| row.as_f64().map_or_else(|| flat(row), |number| vec![number]);
    json.as_array().into_iter().flatten().flat_map(row).collect()
}

/// Ids that carry logarithms or exponentials; all others are exact.
fn tolerance(id: &str) -> Tolerance {
    let inexact = id.starts_with("loss_") || id.starts_with("q_hat");
    if inexact { Tolerance::Relative(1e-12) } else { Tolerance::Exact }
}
