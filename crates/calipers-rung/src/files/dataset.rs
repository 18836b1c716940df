//! `--graph`: a graph, the features and labels of its nodes, and the masks beside them, prepared.

use std::path::PathBuf;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays};
use calipers_metrics::robustness::Prepare;
use calipers_sources::array_file;
use calipers_sources::array_file::shape;
use calipers_sources::inputs::Inputs;

use super::graph_file::{Form, GraphFile, StoredFeatures, dense, one_file};
use super::prepare::{self, Prepared};
use super::split_file::of_arrays;
use super::splits::NodeSplit;
use crate::model::{Features, Graph};

/// Where the graph is, and how it is prepared.
#[derive(Clone, Debug)]
pub struct GraphSource {
    /// The graph file.
    pub graph: PathBuf,
    /// The features of its nodes, where the graph file has none (npy).
    pub features: Option<PathBuf>,
    /// The labels of its nodes, where the graph file has none (npy).
    pub labels: Option<PathBuf>,
    /// What happens to the graph first.
    pub prepare: Prepare,
}

/// A graph in memory: the arrays of a graph file under the same keys.
#[derive(Clone, Debug)]
pub struct GivenGraph {
    /// `edge_index`, `features`, `labels` and masks.
    pub arrays: Vec<(String, Array)>,
    /// How many nodes there are, where the graph itself knows.
    pub nodes: Option<usize>,
}

/// What messages call a graph in memory: the argument it is.
pub const GIVEN: &str = "graph";

/// A graph that is ready for a model.
#[derive(Debug)]
pub struct Dataset {
    /// The prepared graph.
    pub graph: Graph,
    /// The features of its nodes.
    pub features: Features,
    /// The labels of its nodes, each at least 0.
    pub labels: Option<Vec<i64>>,
    /// The splits that the graph file holds.
    pub masks: Option<Vec<NodeSplit>>,
    /// The graph file, for messages.
    pub shown: String,
    /// The file with the labels, for messages.
    pub labels_shown: String,
}

impl Dataset {
    /// Reads and prepares everything.
    pub fn load(source: &GraphSource, inputs: &Inputs) -> Result<Self> {
        let found = one_file(&source.graph, "graph")?;
        let file = GraphFile::open(&found, inputs).map_err(|error| error.in_file(&found.shown))?;
        let beside = |path: &Option<PathBuf>, word: &str| {
            path.as_deref().map(|path| single_array(path, word, inputs)).transpose()
        };
        let beside = (beside(&source.features, "features")?, beside(&source.labels, "labels")?);
        Self::made(&file, None, beside, source.prepare, &found.shown)
    }

    /// Prepares what is in memory.
    pub fn of_given(given: &GivenGraph, prepare: Prepare) -> Result<Self> {
        let arrays = Arrays::of(given.arrays.clone());
        let form = Form::of(&arrays)?;
        Self::made(&GraphFile::Arrays(form, arrays), given.nodes, (None, None), prepare, GIVEN)
    }

    /// `beside` are the features and labels that files of their own hold; `nodes` is how many nodes there are
    /// where the graph itself knows.
    fn made(
        file: &GraphFile,
        nodes: Option<usize>,
        beside: (Option<Single>, Option<Single>),
        prepare: Prepare,
        shown: &str,
    ) -> Result<Self> {
        let in_graph = |error: Error| error.in_file(shown);
        let (features, features_shown) = match beside.0 {
            Some((array, shown)) => {
                (Some(dense(array, "the array").map_err(|error| error.in_file(&shown))?), shown)
            }
            None => (file.features().map_err(in_graph)?, shown.to_owned()),
        };
        let (labels, labels_shown) = match beside.1 {
            Some((array, shown)) => (Some(array), shown),
            None => (file.labels().map_err(in_graph)?, shown.to_owned()),
        };
        let nodes = nodes.or_else(|| features.as_ref().and_then(StoredFeatures::rows));
        let stored = file.graph(nodes).map_err(in_graph)?;
        let features = features.ok_or_else(|| {
            in_graph(Error::value("the file has no features").advice("give --features-file FILE.npy"))
        })?;
        if let Some(rows) = features.rows().filter(|rows| *rows != stored.nodes) {
            return Err(Error::value("features for another number of nodes than the graph has")
                .in_file(&features_shown)
                .found(format!("{rows} rows"))
                .allowed(format!("{} nodes", stored.nodes)));
        }
        let Prepared { graph, kept } = prepare::prepare(&stored, prepare).map_err(in_graph)?;
        let kept = kept.as_deref();
        let labels = labels.map(|array| node_labels(&array, stored.nodes, kept)).transpose();
        let masks = file.arrays().map(|arrays| masks(arrays, stored.nodes, kept)).transpose();
        Ok(Self {
            features: features
                .of_nodes(stored.nodes, kept)
                .map_err(|error| error.in_file(&features_shown))?,
            labels: labels.map_err(|error| error.in_file(&labels_shown))?,
            masks: masks.map_err(in_graph)?.flatten(),
            graph,
            shown: shown.to_owned(),
            labels_shown,
        })
    }

    /// The labels, which have to be there.
    pub fn needed_labels(&self) -> Result<&[i64]> {
        self.labels.as_deref().ok_or_else(|| {
            Error::value("the file has no labels").in_file(&self.shown).advice("give --labels-file FILE.npy")
        })
    }

    /// One more than the greatest label.
    pub fn classes(&self) -> usize {
        let greatest = self.labels.iter().flatten().max();
        greatest.map_or(0, |label| *label as usize + 1)
    }
}

impl StoredFeatures {
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Dense { rows, .. } => Some(*rows),
            Self::Sparse(csr) => Some(csr.rows),
            Self::Identity => None,
        }
    }

    /// The features of the nodes that are left.
    fn of_nodes(self, nodes: usize, kept: Option<&[u32]>) -> Result<Features> {
        match self {
            Self::Sparse(csr) => {
                let csr = csr.of_nodes(kept);
                Features::sparse(csr.rows, csr.columns, csr.indptr, csr.indices, csr.values)
            }
            Self::Dense { rows, columns, values } => match kept {
                None => Features::dense(rows, columns, values),
                Some(kept) => {
                    let row = |node: &u32| &values[*node as usize * columns..][..columns];
                    Features::dense(kept.len(), columns, kept.iter().flat_map(row).copied().collect())
                }
            },
            Self::Identity => match kept {
                None => Ok(Features::identity(nodes)),
                Some(kept) => Features::sparse(
                    kept.len(),
                    nodes,
                    (0..=kept.len()).collect(),
                    kept.to_vec(),
                    vec![1.0; kept.len()],
                ),
            },
        }
    }
}

/// The array of an npy file, and the file as messages show it.
type Single = (Array, String);

/// The array of an npy file that is read as `word`.
fn single_array(path: &std::path::Path, word: &str, inputs: &Inputs) -> Result<Single> {
    let found = one_file(path, word)?;
    let read = || array_file::open_one(&found.name, inputs.open_found(&found)?)?.read_all();
    let array = read().map_err(|error| error.in_file(&found.shown))?;
    Ok((array, found.shown))
}

/// The labels of the nodes that are left, each a whole number from 0 on.
fn node_labels(array: &Array, nodes: usize, kept: Option<&[u32]>) -> Result<Vec<i64>> {
    const LARGEST: f64 = u32::MAX as f64;
    if array.shape() != [nodes as u64] {
        return Err(Error::value("labels are one number a node")
            .at("labels")
            .found(shape(array))
            .allowed(format!("({nodes},)")));
    }
    let values = array.to_f64s().map_err(|error| error.at("labels"))?;
    let label = |node: usize| {
        let value = values[node];
        if value.fract().abs() > 0.0 || !(0.0..=LARGEST).contains(&value) {
            return Err(Error::value("not a label")
                .at(format!("labels, node {node}"))
                .found(value)
                .allowed("whole numbers from 0"));
        }
        Ok(value as i64)
    };
    match kept {
        None => (0..nodes).map(label).collect(),
        Some(kept) => kept.iter().map(|node| label(*node as usize)).collect(),
    }
}

/// The splits that a graph file holds, in the numbers of the nodes that are left.
fn masks(arrays: &Arrays, nodes: usize, kept: Option<&[u32]>) -> Result<Option<Vec<NodeSplit>>> {
    let Some(splits) = of_arrays(arrays, nodes)? else { return Ok(None) };
    let Some(kept) = kept else { return Ok(Some(splits)) };
    let left = |set: Option<Vec<u32>>| {
        set.map(|set| {
            set.iter().filter_map(|node| kept.binary_search(node).ok()).map(|node| node as u32).collect()
        })
    };
    let part = |split: NodeSplit| NodeSplit {
        train: left(split.train),
        val: left(split.val),
        test: left(split.test),
    };
    Ok(Some(splits.into_iter().map(part).collect()))
}
