//! Objects of PyG as arrays by name: a `Data`, a `Batch`, a `HeteroData`, and the processed file of a data set.
//!
//! Keys of a `HeteroData` have the type behind them: `pred_mask.paper`, `pred_mask.author__writes__paper`.
//! An object is its class name and its state. Nothing is looked up or called.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use calipers_core::{Error, Result};

use super::{Pairs, items};
use crate::array::{Array, Arrays, Decode};
use crate::memory;
use crate::pickle::{Node, Pickle, Value};

const DATA: &str = "torch_geometric.data.data.Data";
const HETERO: &str = "torch_geometric.data.hetero_data.HeteroData";
const BATCH: &str = "torch_geometric.data.batch.DynamicInheritanceGetter";
const SPARSE: &str = "torch_sparse.tensor.SparseTensor";

/// The classes that files of PyG name beside those of tensors.
pub(super) const ALLOWED: [&str; 12] = [
    DATA,
    "torch_geometric.data.data.DataEdgeAttr",
    "torch_geometric.data.data.DataTensorAttr",
    "torch_geometric.data.batch.Batch",
    BATCH,
    "torch_geometric.data.storage.GlobalStorage",
    "torch_geometric.data.storage.BaseStorage",
    "torch_geometric.data.storage.NodeStorage",
    "torch_geometric.data.storage.EdgeStorage",
    HETERO,
    "torch_geometric.data.feature_store.TensorAttr",
    "torch_geometric.data.graph_store.EdgeAttr",
];

/// The keys that have one row per node, the surest first, and whether a row is always a single value.
const OF_NODES: [(&str, bool); 7] = [
    ("x", false),
    ("pos", false),
    ("logits", true),
    ("probs", true),
    ("set", true),
    ("labels", true),
    ("y", true),
];

/// The keys of an object: pairs that a dictionary has too. Nothing where it is no object of PyG.
pub(super) fn keys(pickle: &Pickle<'_>, value: Value) -> Result<Option<Vec<(Value, Value)>>> {
    let Some(object) = pickle.object(value) else { return Ok(None) };
    if ![DATA, BATCH].contains(&object.class) {
        return Ok(None);
    }
    let odd = || Error::format("pt: an object of PyG without its keys").found(pickle.describe(object.state));
    let state = pickle.dict(object.state).ok_or_else(odd)?;
    // Before PyG 2.0 the keys were the state itself.
    let Some(store) = pickle.lookup(state, "_store")? else { return Ok(Some(given(pickle, state))) };
    let store = pickle.object(store).and_then(|store| pickle.dict(store.state)).ok_or_else(odd)?;
    let mapping = pickle.lookup(store, "_mapping")?.and_then(|mapping| pickle.dict(mapping));
    Ok(Some(given(pickle, mapping.ok_or_else(odd)?)))
}

/// What has keys in a `HeteroData`: how they end, and the pairs of each. Nothing where it is none.
pub(super) fn stores(pickle: &Pickle<'_>, value: Value) -> Result<Option<Vec<Store>>> {
    let Some(object) = pickle.object(value).filter(|object| object.class == HETERO) else { return Ok(None) };
    let odd = || Error::format("pt: a HeteroData without its keys").found(pickle.describe(object.state));
    let state = pickle.dict(object.state).ok_or_else(odd)?;
    let store = |end: String, store: Value| -> Result<Store> {
        let state = pickle.object(store).and_then(|store| pickle.dict(store.state)).ok_or_else(odd)?;
        let mapping = pickle.lookup(state, "_mapping")?.and_then(|mapping| pickle.dict(mapping));
        Ok((end, given(pickle, mapping.ok_or_else(odd)?)))
    };
    let mut stores = Vec::new();
    if let Some(global) = pickle.lookup(state, "_global_store")? {
        stores.push(store(String::new(), global)?);
    }
    for types in ["_node_store_dict", "_edge_store_dict"] {
        let Some(types) = pickle.lookup(state, types)? else { continue };
        for (name, of_type) in pickle.dict(types).ok_or_else(odd)? {
            // Edges are of a type from, one between and one to.
            let parts = pickle.sequence(*name).map_or_else(|| vec![*name], <[Value]>::to_vec);
            let parts: Option<Vec<&str>> = parts.iter().map(|part| pickle.text(*part)).collect();
            stores.push(store(format!(".{}", parts.ok_or_else(odd)?.join("__")), *of_type)?);
        }
    }
    Ok(Some(stores))
}

/// How the keys of a store end, and its pairs.
pub(super) type Store = (String, Vec<(Value, Value)>);

/// Pairs with a value, under names that are not PyG's own.
pub(super) fn given(pickle: &Pickle<'_>, pairs: Pairs<'_>) -> Vec<(Value, Value)> {
    let is_given = |(key, value): &&(Value, Value)| {
        *value != Value::None && pickle.text(*key).is_some_and(|key| !key.starts_with("__"))
    };
    pairs.iter().filter(is_given).copied().collect()
}

/// The object and the slices of a processed file: a tuple of both, and the class that they are of.
pub(super) fn processed(pickle: &Pickle<'_>, root: Value) -> Option<(Value, Option<Value>)> {
    let Some(Node::Tuple(values)) = pickle.node(root) else { return None };
    let (data, slices) = match values[..] {
        [data, slices] => (data, slices),
        // Some data sets keep the sizes of their features between the two.
        [data, slices, class] | [data, slices, _, class] if is_class(pickle, class) => (data, slices),
        _ => return None,
    };
    let is_data = pickle.object(data).is_some_and(|data| data.class == DATA) || items(pickle, data).is_some();
    let is_object = |value| pickle.object(value).is_some();
    match slices {
        Value::None if is_data => Some((data, None)),
        slices if is_data && items(pickle, slices).is_some() && !is_object(slices) => {
            Some((data, Some(slices)))
        }
        _ => None,
    }
}

fn is_class(pickle: &Pickle<'_>, value: Value) -> bool {
    matches!(pickle.node(value), Some(Node::Global(class)) if class.starts_with("torch_geometric."))
}

/// Says how many nodes there are where the object does not, but has something for each node. `rows` are
/// those of a key, and whether each is a single value.
pub(super) fn say_nodes(arrays: &mut Arrays, rows: impl Fn(&str) -> Option<(u64, bool)>) {
    if ["num_nodes", "ptr", "batch"].iter().any(|key| arrays.stored.contains_key(*key)) {
        return;
    }
    let of_nodes =
        |(key, single): &(&str, bool)| rows(key).filter(|(_, one)| !*single || *one).map(|(rows, _)| rows);
    let Some(nodes) = OF_NODES.iter().find_map(of_nodes) else { return };
    let decode: Decode = Box::new(move || Ok(Array::of_number(nodes)));
    arrays.stored.insert("num_nodes".to_owned(), decode);
}

/// The graphs of a processed file: the part of every array that is each graph's.
pub(super) fn cut(arrays: Arrays, slices: &Arrays) -> Result<Vec<Arrays>> {
    let mut graphs: Vec<Arrays> = Vec::new();
    let mut first: Option<String> = None;
    let mut rows: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (key, decode) in arrays.stored {
        let Some(ends) = slices.get(&key)? else { continue };
        let ends = ends.to_i64s().map_err(|error| error.at(format!("slices of {key}")))?;
        check(&key, &ends)?;
        let count = ends.len() - 1;
        match &first {
            None => {
                first = Some(key.clone());
                graphs
                    .resize_with(count, || Arrays { stored: Default::default(), texts: Default::default() });
            }
            Some(first) if count != graphs.len() => {
                return Err(Error::value("pt: slices of different numbers of graphs")
                    .found(format!("{} for {first}, {count} for {key}", graphs.len()))
                    .allowed("one number of graphs"));
            }
            Some(_) => {}
        }
        let whole = Arc::new(Whole { decode, array: OnceLock::new() });
        for (graph, ends) in graphs.iter_mut().zip(ends.windows(2)) {
            let (whole, name, range) = (Arc::clone(&whole), key.clone(), ends[0] as u64..ends[1] as u64);
            let part: Decode = Box::new(move || {
                let array = whole
                    .array
                    .get_or_init(|| memory::for_all(|| (whole.decode)()))
                    .as_ref()
                    .map_err(Error::clone)?;
                part(array, &name, range.clone())
            });
            graph.stored.insert(key.clone(), part);
        }
        rows.insert(key, ends);
    }
    for (graph, arrays) in graphs.iter_mut().enumerate() {
        let of_key = |key: &str| Some(((rows.get(key)?[graph + 1] - rows.get(key)?[graph]) as u64, true));
        say_nodes(arrays, of_key);
    }
    Ok(graphs)
}

/// An array that is decoded once for all graphs.
struct Whole {
    decode: Decode,
    array: OnceLock<Result<Array>>,
}

fn check(key: &str, ends: &[i64]) -> Result<()> {
    let bad = |index: usize, what: &str| {
        let error =
            Error::value(format!("pt: slices must {what}")).at(format!("slices of {key}, index {index}"));
        Err(error.found(ends.get(index).map_or("nothing".into(), ToString::to_string)))
    };
    match ends.first() {
        None => return bad(0, "have one number more than there are graphs"),
        Some(first) if *first < 0 => return bad(0, "begin with 0 or more"),
        Some(_) => {}
    }
    match (1..ends.len()).find(|index| ends[*index] < ends[index - 1]) {
        Some(index) => bad(index, "not decrease"),
        None => Ok(()),
    }
}

/// The part of one graph: columns of `edge_index`, rows of everything else.
fn part(array: &Array, key: &str, range: std::ops::Range<u64>) -> Result<Array> {
    let axis = if key == "edge_index" { array.shape().len().saturating_sub(1) } else { 0 };
    // A single number is that of every graph.
    if array.shape().is_empty() {
        return Ok(array.clone());
    }
    let length = array.shape().get(axis).copied().unwrap_or(0);
    if range.end > length {
        return Err(Error::value("pt: a slice passes the end of its array")
            .at(format!("slices of {key}"))
            .found(range.end)
            .allowed(format!("at most {length}")));
    }
    array.part(axis, range)
}

/// The error of a file that names a class outside the table, with what can be done about it.
pub(super) fn with_advice(error: Error) -> Error {
    match error.what().contains(SPARSE) {
        true => error.advice("save edge_index instead of adj_t"),
        false => error,
    }
}
