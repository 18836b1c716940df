//! Graph files: which of the known forms a file has, and what it says in that form.

use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays, Dtype};
use calipers_io::graph::{FORMATS, GraphOptions, Reader, Storage, StoredGraph, edgelist};
use calipers_metrics::robustness::NumberSlice;
use calipers_sources::array_file;
use calipers_sources::array_file::{axis, shape};
use calipers_sources::inputs::Inputs;
use calipers_sources::walk::{self, Found};

use super::csr::{Csr, PARTS, needed};
use super::stored::{Listed, Stored};

/// A graph file that is open.
pub(super) enum GraphFile {
    /// Named arrays in one of the known forms.
    Arrays(Form, Arrays),
    /// A graph that was read already.
    Read(StoredGraph),
    /// A text, and the function that reads it.
    Text(ReadText, Vec<u8>),
}

type ReadText = fn(&[u8], &GraphOptions) -> Result<StoredGraph>;

/// How a graph is laid out in named arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`, `attr_*`, `labels`.
    Nettack,
    /// `node_features`, `node_labels`, `edges`, `train_masks`, ...
    Heterophilous,
    /// `data`, `indices`, `indptr`, `shape`, `format`.
    Scipy,
    /// `edge_index` or `edges`, `features`, `labels`.
    Keys,
}

/// The features that a file has.
pub(super) enum StoredFeatures {
    Dense {
        rows: usize,
        columns: usize,
        values: Vec<f64>,
    },
    Sparse(Csr),
    /// Every node is known by its number alone.
    Identity,
}

fn unweighted(read: StoredGraph) -> Result<Stored> {
    let nodes = axis(read.nodes.unwrap_or(0))?;
    let listed = match read.storage {
        Storage::Both => Listed::BothWays,
        Storage::Once => Listed::Once,
    };
    Ok(Stored::unweighted(nodes, read.entries, listed))
}

/// The file at a path, which must be one; `word` says what it is read as.
pub(super) fn one_file(path: &Path, word: &str) -> Result<Found> {
    let found = walk::files(path, word, &Inputs::default(), &|_| true)?;
    match <[Found; 1]>::try_from(found) {
        Ok([found]) if found.path == path => Ok(found),
        _ => Err(Error::io("not a regular file").in_file(path.display()).found("a folder")),
    }
}

impl GraphFile {
    /// Opens a file and tells its form.
    pub(super) fn open(found: &Found, inputs: &Inputs) -> Result<Self> {
        let text = |read: ReadText| Ok(Self::Text(read, inputs.read_found(found)?.into_owned()));
        match FORMATS.by_name(&found.name).map(|format| format.reader) {
            // An edge list may have any name.
            None => return text(edgelist::parse),
            Some(Reader::One { read, .. }) => return text(read),
            Some(Reader::Several { read, .. }) => {
                let mut graphs = read(&inputs.read_found(found)?)?;
                let graph = graphs.pop().filter(|_| graphs.is_empty());
                let several = || Error::value("one graph is expected").found("a list of them");
                return graph.map(Self::Read).ok_or_else(several);
            }
            Some(Reader::Lines { .. }) => {
                return Err(Error::value("one graph is expected").found("a file of one per line"));
            }
            Some(Reader::DataSet(_)) => {
                return Err(Error::value("one graph is expected").found("a TU data set"));
            }
            Some(Reader::Arrays) => {}
        }
        if array_file::reader(&found.name).is_some_and(|reader| !reader.has_names()) {
            return Err(Error::value("a single array is no graph file").allowed(FORMS));
        }
        let mut containers = array_file::open(&found.name, inputs.open_found(found)?)?;
        let arrays = containers.pop().filter(|_| containers.is_empty());
        let arrays = arrays.ok_or_else(|| Error::value("one graph is expected").found("a list of them"))?;
        let form = Form::of(&arrays)?;
        Ok(Self::Arrays(form, arrays))
    }

    /// The graph itself. `nodes` is how many nodes there are where the file does not say it.
    pub(super) fn graph(&self, nodes: Option<usize>) -> Result<Stored> {
        match self {
            Self::Text(read, bytes) => {
                let nodes = nodes.map(|nodes| nodes as u64);
                unweighted(read(bytes, &GraphOptions { nodes, ..GraphOptions::default() })?)
            }
            Self::Read(graph) => unweighted(graph.clone()),
            Self::Arrays(Form::Nettack, arrays) => Csr::read(arrays, "adj_")?.graph(),
            Self::Arrays(Form::Scipy, arrays) => {
                let format = arrays.get("format")?;
                let format = format.as_ref().and_then(Array::texts).and_then(<[String]>::first);
                if let Some(format) = format.filter(|format| *format != "csr") {
                    return Err(Error::value("a sparse matrix in another layout")
                        .at("key format")
                        .found(format)
                        .allowed("csr")
                        .advice("save it with scipy.sparse.save_npz(file, matrix.tocsr())"));
                }
                Csr::read(arrays, "")?.graph()
            }
            Self::Arrays(Form::Heterophilous | Form::Keys, arrays) => {
                let nodes = nodes.map_or_else(|| nodes_of(arrays), Ok)?;
                listed(arrays, nodes)
            }
        }
    }

    /// How many nodes the labels or features of the file are for, where it has any.
    pub(super) fn nodes(&self) -> Result<Option<usize>> {
        match self {
            Self::Arrays(Form::Heterophilous | Form::Keys, arrays) => {
                let has = NODE_ARRAYS.iter().any(|key| arrays.keys().iter().any(|found| found == key));
                if has { nodes_of(arrays).map(Some) } else { Ok(None) }
            }
            _ => Ok(None),
        }
    }

    /// The features of the file.
    pub(super) fn features(&self) -> Result<Option<StoredFeatures>> {
        match self {
            Self::Text(..) | Self::Read(_) | Self::Arrays(Form::Scipy, _) => Ok(None),
            Self::Arrays(Form::Nettack, arrays) => {
                if arrays.keys().iter().any(|key| key.starts_with("attr_")) {
                    return Ok(Some(StoredFeatures::Sparse(Csr::read(arrays, "attr_")?)));
                }
                Ok(Some(StoredFeatures::Identity))
            }
            Self::Arrays(Form::Heterophilous, arrays) => {
                dense(needed(arrays, "node_features")?, "key node_features").map(Some)
            }
            Self::Arrays(Form::Keys, arrays) => {
                arrays.get("features")?.map(|array| dense(array, "key features")).transpose()
            }
        }
    }

    /// The labels of the file.
    pub(super) fn labels(&self) -> Result<Option<Array>> {
        match self {
            Self::Text(..) | Self::Read(_) | Self::Arrays(Form::Scipy, _) => Ok(None),
            Self::Arrays(Form::Heterophilous, arrays) => arrays.get("node_labels"),
            Self::Arrays(Form::Nettack | Form::Keys, arrays) => arrays.get("labels"),
        }
    }

    /// The arrays of the file, where it has any.
    pub(super) fn arrays(&self) -> Option<&Arrays> {
        match self {
            Self::Arrays(_, arrays) => Some(arrays),
            Self::Text(..) | Self::Read(_) => None,
        }
    }
}

/// Arrays with an entry or a row for each node.
const NODE_ARRAYS: [&str; 4] = ["node_labels", "labels", "node_features", "features"];

/// The forms a graph can have, for messages.
const FORMS: &str = "adj_data, adj_indices, adj_indptr, adj_shape; node_features, node_labels, edges; \
                     data, indices, indptr, shape; edge_index or edges; or an edge list as text";

impl Form {
    /// The form that named arrays have.
    pub(super) fn of(arrays: &Arrays) -> Result<Self> {
        let keys = arrays.keys();
        let has = |key: &str| keys.iter().any(|found| found == key);
        if keys.iter().any(|key| key.starts_with("adj_")) {
            Ok(Self::Nettack)
        } else if has("node_features") || has("node_labels") {
            Ok(Self::Heterophilous)
        } else if has("edge_index") || has("edges") {
            Ok(Self::Keys)
        } else if PARTS.iter().all(|part| has(part)) {
            Ok(Self::Scipy)
        } else {
            let found = if keys.is_empty() { "no arrays".to_owned() } else { keys.join(", ") };
            Err(Error::value("no graph of a known form").found(found).allowed(FORMS))
        }
    }
}

fn nodes_of(arrays: &Arrays) -> Result<usize> {
    for key in NODE_ARRAYS {
        if let Some(array) = arrays.get(key)? {
            let rows = array.shape().first().copied();
            return axis(
                rows.ok_or_else(|| Error::value("one entry a node is needed").at(format!("key {key}")))?,
            );
        }
    }
    Err(Error::value("nothing says how many nodes there are")
        .found(arrays.keys().join(", "))
        .advice("add `features`, or give --features-file"))
}

/// `edge_index` or `edges`, as they are.
fn listed(arrays: &Arrays, nodes: usize) -> Result<Stored> {
    let (index, edges) = (arrays.get("edge_index")?, arrays.get("edges")?);
    match (index, edges) {
        (Some(_), Some(_)) => Err(Error::value("the graph is given in two forms")
            .at("key edges")
            .found("`edge_index` and `edges`")
            .advice("keep one of them")),
        (Some(array), None) => {
            let values = array.to_i64s().map_err(|error| error.at("key edge_index"))?;
            let &[2, count] = array.shape() else { return Err(misshapen(&array, "edge_index", "(2, E)")) };
            let (from, to) = values.split_at(axis(count)?);
            let pairs = from.iter().copied().zip(to.iter().copied());
            Ok(Stored::unweighted(nodes, ends(pairs, nodes, "edge_index, column")?, Listed::BothWays))
        }
        (None, Some(array)) => {
            if array.is_empty() {
                return Ok(Stored::unweighted(nodes, Vec::new(), Listed::Once));
            }
            let values = array.to_i64s().map_err(|error| error.at("key edges"))?;
            let &[_, 2] = array.shape() else { return Err(misshapen(&array, "edges", "(m, 2)")) };
            let pairs = values.as_chunks::<2>().0.iter().map(|[a, b]| (*a, *b));
            Ok(Stored::unweighted(nodes, ends(pairs, nodes, "edges, row")?, Listed::Once))
        }
        (None, None) => Err(Error::value("the graph is missing")
            .found(arrays.keys().join(", "))
            .allowed("`edge_index` or `edges`")),
    }
}

fn misshapen(array: &Array, key: &str, allowed: &str) -> Error {
    let error =
        Error::value(format!("`{key}` is an {allowed} array")).at(format!("key {key}")).found(shape(array));
    let transposed = array.shape().len() == 2 && array.shape().contains(&2);
    if transposed { error.advice("it looks transposed") } else { error }
}

fn ends(pairs: impl Iterator<Item = (i64, i64)>, nodes: usize, place: &str) -> Result<Vec<(u32, u32)>> {
    let node = |number: i64, at: usize| {
        let node =
            usize::try_from(number).ok().filter(|node| *node < nodes).and_then(|n| u32::try_from(n).ok());
        node.ok_or_else(|| {
            Error::value("not a node number")
                .at(format!("key {place} {at}"))
                .found(number)
                .allowed(format!("0 to {}, there are {nodes} nodes", nodes as i64 - 1))
        })
    };
    pairs.enumerate().map(|(at, (a, b))| Ok((node(a, at)?, node(b, at)?))).collect()
}

/// A matrix of features. `place` names it in errors.
pub(super) fn dense(array: Array, place: &str) -> Result<StoredFeatures> {
    let &[rows, columns] = array.shape() else {
        return Err(Error::value("features have two axes")
            .at(place)
            .found(shape(&array))
            .allowed("(nodes, features)"));
    };
    let values = array.to_f64s().map_err(|error| error.at(place))?;
    Ok(StoredFeatures::Dense { rows: axis(rows)?, columns: axis(columns)?, values })
}

/// Workers whole numbers over as such, and others as floats.
pub(super) fn with_cells<T>(array: &Array, read: impl FnOnce(NumberSlice<'_>) -> Result<T>) -> Result<T> {
    match array.dtype() {
        Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64 | Dtype::Text => {
            read(NumberSlice::F64(&array.to_f64s()?))
        }
        _ => read(NumberSlice::Int(&array.to_i64s()?)),
    }
}
