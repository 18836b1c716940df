//! Pickled networkx graphs, read as data: nothing is executed.

use std::fmt;

use calipers_core::{Error, Result};

use super::{MAX_NODES, Storage, StoredGraph};
use crate::pickle::{self, Pickle, Value};

const GRAPH: &str = "networkx.classes.graph.Graph";

/// The graph and what it keeps beside its two dictionaries: views of itself, and the class of them.
const ALLOWED: &[&str] = &[
    GRAPH,
    "networkx.classes.coreviews.AdjacencyView",
    "networkx.classes.coreviews.AtlasView",
    "networkx.classes.reportviews.NodeView",
    "networkx.classes.reportviews.NodeDataView",
    "networkx.classes.reportviews.EdgeView",
    "networkx.classes.reportviews.EdgeDataView",
    "networkx.classes.reportviews.DegreeView",
    "builtins.dict",
    "__builtin__.dict",
];

/// Reads a networkx `Graph`, or a list or tuple of them.
pub fn parse_all(bytes: &[u8]) -> Result<Vec<StoredGraph>> {
    let pickle = pickle::parse(bytes, ALLOWED).map_err(|error| error.at("gpickle"))?;
    let mut pairs_left = bytes.len();
    match pickle.sequence(pickle.root()) {
        None => Ok(vec![graph(&pickle, pickle.root(), &mut pairs_left)?]),
        Some(graphs) => {
            let one = |(index, value): (usize, &Value)| {
                graph(&pickle, *value, &mut pairs_left).map_err(|error| error.at(format!("graph {index}")))
            };
            graphs.iter().enumerate().map(one).collect()
        }
    }
}

/// Reads a networkx `Graph` whose nodes are 0 to n-1, in any order. Labels are taken from the node
/// attribute `label` when every node has it, as all nodes of a graph without nodes do.
pub fn parse(bytes: &[u8]) -> Result<StoredGraph> {
    let pickle = pickle::parse(bytes, ALLOWED).map_err(|error| error.at("gpickle"))?;
    graph(&pickle, pickle.root(), &mut bytes.len())
}

/// One graph of a file. In a file that networkx wrote each pair of a dictionary takes two bytes or more,
/// because dictionaries are not shared; a file that shares them could stand for a graph far larger than
/// itself. `pairs_left` says how many pairs there may still be.
fn graph(pickle: &Pickle<'_>, value: Value, pairs_left: &mut usize) -> Result<StoredGraph> {
    let graph = pickle.object(value).filter(|object| object.class == GRAPH);
    let state = graph.and_then(|graph| pickle.dict(graph.state)).ok_or_else(|| {
        Error::format("gpickle: not a networkx Graph; nothing was executed")
            .at("the pickled object")
            .found(pickle.describe(value))
            .allowed(format!("{GRAPH}, or a list of them"))
            .advice("pickle the graph itself; turn other kinds into networkx.Graph first")
    })?;
    let mut reader = Reader { pickle, pairs_left };
    let nodes = reader.member(state, "_node")?;
    let adjacency = reader.member(state, "_adj")?;
    if nodes.len() as u64 > MAX_NODES {
        return Err(Error::value("gpickle: too many nodes")
            .found(nodes.len())
            .allowed(format!("at most {MAX_NODES}"))
            .advice("split the graph"));
    }
    let labels = reader.labels(nodes)?;
    let entries = reader.entries(adjacency, nodes.len())?;
    Ok(StoredGraph {
        nodes: Some(nodes.len() as u64),
        entries,
        storage: Storage::Once,
        labels,
        ..StoredGraph::default()
    })
}

struct Reader<'a, 'p> {
    pickle: &'a Pickle<'p>,
    pairs_left: &'a mut usize,
}

impl<'a> Reader<'a, '_> {
    fn member(&mut self, state: &[(Value, Value)], key: &str) -> Result<&'a [(Value, Value)]> {
        let missing = || {
            Error::format(format!("gpickle: the graph has no dictionary {key}"))
                .allowed("_node and _adj, as networkx writes them")
                .advice("write the graph again with networkx")
        };
        let value = self.pickle.lookup(state, key)?.ok_or_else(missing)?;
        self.dict(value, key)
    }

    fn dict(&mut self, value: Value, what: impl fmt::Display + Copy) -> Result<&'a [(Value, Value)]> {
        let pairs = self.pickle.dict(value).ok_or_else(|| {
            Error::format("gpickle: a dictionary is expected")
                .at(what)
                .found(self.pickle.describe(value))
                .advice("write the graph again with networkx")
        })?;
        let left = self.pairs_left.checked_sub(pairs.len());
        *self.pairs_left = left.ok_or_else(|| {
            Error::format("gpickle: its dictionaries are shared")
                .at(what)
                .advice("write the graph again with pickle")
        })?;
        Ok(pairs)
    }

    /// The number of each node, once it is known that they are 0 to n-1.
    fn numbers(&self, keys: &[(Value, Value)], nodes: usize, what: &str) -> Result<Vec<u32>> {
        let mut seen = vec![false; nodes];
        let number = |(key, _): &(Value, Value)| {
            let number = self.number(*key, nodes).map_err(|error| error.at(what))?;
            if std::mem::replace(&mut seen[number as usize], true) {
                return Err(Error::value("gpickle: a node occurs twice")
                    .at(what)
                    .found(number)
                    .allowed("every node once")
                    .advice("write the graph again with networkx"));
            }
            Ok(number)
        };
        keys.iter().map(number).collect()
    }

    fn number(&self, key: Value, nodes: usize) -> Result<u32> {
        let number = match key {
            Value::Int(number) => u32::try_from(number).ok().filter(|number| (*number as usize) < nodes),
            _ => None,
        };
        number.ok_or_else(|| {
            Error::value("gpickle: nodes must be numbered 0 to n-1")
                .found(self.pickle.describe(key))
                .allowed(format!("whole numbers from 0, below {nodes}"))
                .advice("use networkx.convert_node_labels_to_integers; nothing was executed")
        })
    }

    fn labels(&mut self, nodes: &[(Value, Value)]) -> Result<Option<Vec<bool>>> {
        let numbers = self.numbers(nodes, nodes.len(), "_node")?;
        let mut labels = vec![None; nodes.len()];
        for (number, (_, attributes)) in numbers.iter().zip(nodes) {
            let attributes = self.dict(*attributes, format_args!("node {number}"))?;
            let label = self.pickle.lookup(attributes, "label");
            let label = label.map_err(|error| error.at(format!("node {number}")))?;
            labels[*number as usize] = match label {
                None => None,
                Some(Value::Int(0) | Value::Bool(false)) => Some(false),
                Some(Value::Int(1) | Value::Bool(true)) => Some(true),
                Some(other) => {
                    return Err(Error::value("gpickle: a label is neither 0 nor 1")
                        .at(format!("node {number}"))
                        .found(self.pickle.describe(other))
                        .allowed("0 and 1")
                        .advice("soft labels are not supported"));
                }
            };
        }
        let missing = labels.iter().position(Option::is_none);
        match missing {
            Some(node) if labels.iter().any(Option::is_some) => {
                Err(Error::value("gpickle: some nodes have a label and some have none")
                    .at(format!("node {node}"))
                    .found("no attribute 'label'")
                    .allowed("0 and 1")
                    .advice("label all nodes or none"))
            }
            _ => Ok(labels.into_iter().collect()),
        }
    }

    /// Each edge once, from its lower end, in the order of the file.
    fn entries(&mut self, adjacency: &[(Value, Value)], nodes: usize) -> Result<Vec<(u32, u32)>> {
        let owners = self.numbers(adjacency, nodes, "_adj")?;
        if owners.len() != nodes {
            return Err(Error::format("gpickle: the adjacency has other nodes than the graph")
                .found(format!("{} and {nodes}", owners.len()))
                .allowed("the same nodes")
                .advice("write the graph again with networkx"));
        }
        let (mut upward, mut downward) = (Vec::new(), Vec::new());
        for (owner, (_, neighbours)) in owners.into_iter().zip(adjacency) {
            for (neighbour, _) in self.dict(*neighbours, format_args!("neighbours of node {owner}"))? {
                let neighbour = self.number(*neighbour, nodes);
                let neighbour = neighbour.map_err(|error| error.at(format!("neighbours of node {owner}")))?;
                if owner <= neighbour {
                    upward.push((owner, neighbour));
                }
                if neighbour <= owner {
                    downward.push((neighbour, owner));
                }
            }
        }
        let mut sorted = upward.clone();
        sorted.sort_unstable();
        downward.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::format("gpickle: a neighbour occurs twice")
                .found(format!("edge {:?}", pair[0]))
                .allowed("every neighbour once")
                .advice("write the graph again with networkx"));
        }
        if sorted != downward {
            return Err(Error::format("gpickle: an edge is stored in one direction only")
                .advice("write the graph again with networkx"));
        }
        Ok(upward)
    }
}
