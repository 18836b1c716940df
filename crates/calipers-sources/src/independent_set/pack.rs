//! Packed batches: arrays over the nodes of many graphs, cut at `ptr` or `batch`.

use calipers_core::{Error, Result};
use calipers_io::array::Arrays;
use calipers_metrics::independent_set::graph::EdgeSource;

use super::arrays::{self, MatrixEdges};

/// Where the graphs of a pack begin and end: graph i has the nodes `ptr[i]..ptr[i + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundaries(Vec<usize>);

/// The key that says where graphs end, for messages.
fn boundary_key(arrays: &Arrays) -> &'static str {
    if arrays.keys().iter().any(|key| key == "ptr") { "ptr" } else { "batch" }
}

impl Boundaries {
    /// How many graphs there are.
    pub fn graphs(&self) -> usize {
        self.0.len() - 1
    }

    /// The nodes of a graph.
    pub fn nodes(&self, graph: usize) -> std::ops::Range<usize> {
        self.0[graph]..self.0[graph + 1]
    }

    /// How many nodes there are in all.
    pub fn total(&self) -> usize {
        self.0.last().copied().unwrap_or(0)
    }

    /// Refuses values of another number than the boundaries have nodes; `arrays` is what both came
    /// from.
    pub fn cover(&self, arrays: &Arrays, nodes: usize) -> Result<()> {
        if self.total() == nodes {
            return Ok(());
        }
        let key = boundary_key(arrays);
        let error = match key {
            "ptr" => ends_elsewhere(self.graphs(), self.total() as i64, nodes),
            _ => one_a_node(self.total(), nodes),
        };
        Err(error.at(format!("key {key}")))
    }
}

fn ends_elsewhere(index: usize, value: i64, nodes: usize) -> Error {
    Error::value("'ptr' must end at the number of nodes")
        .at(format!("index {index}"))
        .found(value)
        .allowed(format!("{nodes}, the number of nodes"))
        .advice(BOUNDARIES)
}

/// What boundaries of graphs are.
const BOUNDARIES: &str =
    "'ptr' holds the first node of each graph and at the end N, 'batch' the graph of each node";

fn one_a_node(length: usize, nodes: usize) -> Error {
    Error::value("'batch' must have one number a node")
        .found(format!("{length} numbers"))
        .allowed(format!("{nodes}, the number of nodes"))
        .advice(BOUNDARIES)
}

/// Whether a container holds a packed batch.
pub fn is_pack(keys: &[String]) -> bool {
    keys.iter().any(|key| key == "ptr" || key == "batch")
}

/// The boundaries of a pack, from `ptr`, from `batch`, or from both when they agree. `nodes` is
/// the number of nodes when scores or labels give it.
pub fn boundaries(arrays: &Arrays, nodes: Option<usize>) -> Result<Boundaries> {
    let from_ptr =
        arrays.get("ptr")?.map(|ptr| from_ptr(&ptr.to_i64s()?, nodes)).transpose().map_err(at("ptr"))?;
    let graphs = arrays::number(arrays, "num_graphs")?;
    if let (Some(ptr), Some(graphs)) = (&from_ptr, graphs)
        && ptr.graphs() as u64 != graphs
    {
        return Err(Error::value("'ptr' and 'num_graphs' disagree")
            .at("key num_graphs")
            .found(format!("{graphs}, but 'ptr' has {} graphs", ptr.graphs()))
            .allowed("one number of graphs")
            .advice(BOUNDARIES));
    }
    let from_batch = match arrays.get("batch")? {
        Some(batch) => {
            Some(from_batch(&batch.to_i64s().map_err(at("batch"))?, graphs, nodes).map_err(at("batch"))?)
        }
        None => None,
    };
    match (from_ptr, from_batch) {
        (Some(ptr), Some(batch)) => {
            let trimmed = ptr.graphs().min(batch.graphs());
            let differs = (0..=trimmed).find(|i| ptr.0[*i] != batch.0[*i]);
            let beyond = ptr.total() != batch.total();
            match differs.or(beyond.then_some(trimmed)) {
                None => Ok(ptr),
                Some(i) => Err(Error::value("'ptr' and 'batch' disagree")
                    .at(format!("graph boundary {i}"))
                    .found(format!("{} in ptr, {} in batch", ptr.0[i], batch.0[i]))
                    .allowed("the same graphs in both, or one of the two keys")
                    .advice(BOUNDARIES)),
            }
        }
        (Some(only), None) | (None, Some(only)) => Ok(only),
        (None, None) => Err(Error::value("there is neither 'ptr' nor 'batch'")),
    }
}

fn at(key: &'static str) -> impl Fn(Error) -> Error {
    move |error| error.at(format!("key {key}"))
}

fn bad(numbers: &[i64], index: usize, why: &str, allowed: String) -> Result<Boundaries> {
    let error = Error::value(why).at(format!("index {index}")).found(numbers[index]);
    Err(error.allowed(allowed).advice(BOUNDARIES))
}

fn from_ptr(ptr: &[i64], nodes: Option<usize>) -> Result<Boundaries> {
    let bad = |index, why: &str, allowed: String| bad(ptr, index, why, allowed);
    match ptr.first() {
        None => {
            let error = Error::value("'ptr' is empty").found("0 numbers");
            return Err(error.allowed("one number more than there are graphs").advice(BOUNDARIES));
        }
        Some(0) => {}
        Some(_) => return bad(0, "'ptr' must begin with 0", "0".into()),
    }
    if let Some(i) = (1..ptr.len()).find(|i| ptr[*i] < ptr[i - 1]) {
        return bad(i, "'ptr' must not decrease", format!("{} or more", ptr[i - 1]));
    }
    let last = ptr.len() - 1;
    if let Some(nodes) = nodes.filter(|nodes| *nodes as i64 != ptr[last]) {
        return Err(ends_elsewhere(last, ptr[last], nodes));
    }
    Ok(Boundaries(ptr.iter().map(|value| *value as usize).collect()))
}

fn from_batch(batch: &[i64], graphs: Option<u64>, nodes: Option<usize>) -> Result<Boundaries> {
    let bad = |index, why: &str, allowed: String| bad(batch, index, why, allowed);
    if let Some(nodes) = nodes
        && nodes != batch.len()
    {
        return Err(one_a_node(batch.len(), nodes));
    }
    if batch.first().is_some_and(|first| *first < 0) {
        return bad(0, "'batch' must not be negative", "0 or more".into());
    }
    if let Some(i) = (1..batch.len()).find(|i| batch[*i] < batch[i - 1]) {
        return bad(i, "'batch' must not decrease", format!("{} or more", batch[i - 1]));
    }
    let seen = batch.last().map_or(0, |last| *last as u64 + 1);
    let count = graphs.unwrap_or(seen);
    if count < seen {
        let allowed = format!("0 to {}", count.saturating_sub(1));
        return bad(batch.len() - 1, "'batch' names a graph beyond 'num_graphs'", allowed);
    }
    // A gap in `batch` is a graph without nodes; more graphs than this are a damaged number.
    if count > batch.len() as u64 + (1 << 24) {
        let allowed = format!("up to {} graphs", batch.len() as u64 + (1 << 24));
        return bad(batch.len() - 1, "'batch' leaves too many graphs without nodes", allowed);
    }
    let mut ptr = Vec::with_capacity(count as usize + 1);
    ptr.push(0);
    for graph in 0..count as i64 {
        let from = ptr[ptr.len() - 1];
        ptr.push(from + batch[from..].partition_point(|value| *value <= graph));
    }
    Ok(Boundaries(ptr))
}

/// The stored entries of a pack, sorted by graph and numbered within it; the order within a graph
/// is that of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackEdges {
    entries: Vec<(u32, u32)>,
    ends: Vec<usize>,
}

impl PackEdges {
    /// Sorts the entries of `edge_index` by graph. An entry between two graphs is an error.
    pub fn new(matrix: &MatrixEdges<'_>, boundaries: &Boundaries) -> Result<Self> {
        let total = boundaries.total();
        let too_many = |_| Error::value("more graphs than can be told apart in one pack");
        let mut graph_of = Vec::with_capacity(total);
        for graph in 0..boundaries.graphs() {
            graph_of.resize(boundaries.nodes(graph).end, u32::try_from(graph).map_err(too_many)?);
        }
        let mut ends = vec![0usize; boundaries.graphs() + 1];
        let mut number = 0u64;
        let inside = |node: i64, number: u64| {
            usize::try_from(node).ok().filter(|node| *node < total).ok_or_else(|| {
                Error::value("node number out of range")
                    .at(format!("key edge_index, entry {number}"))
                    .found(node)
                    .allowed(format!("0 to N-1 with N = {total}"))
                    .advice("a pack numbers the nodes of all its graphs from 0 on")
            })
        };
        matrix.blocks(&mut |us, vs| {
            for (u, v) in us.iter().zip(vs) {
                let (a, b) = (graph_of[inside(*u, number)?], graph_of[inside(*v, number)?]);
                if a != b {
                    return Err(Error::value("an edge joins two graphs of the pack")
                        .at(format!("key edge_index, entry {number}"))
                        .found(format!("node {u} of graph {a} and node {v} of graph {b}"))
                        .allowed("both ends in one graph")
                        .advice(
                            "a pack numbers the nodes of all its graphs from 0 on; check 'ptr' or 'batch'",
                        ));
                }
                ends[a as usize + 1] += 1;
                number += 1;
            }
            Ok(())
        })?;
        for graph in 1..ends.len() {
            ends[graph] += ends[graph - 1];
        }
        let mut next = ends.clone();
        let mut entries = vec![(0, 0); number as usize];
        matrix.blocks(&mut |us, vs| {
            for (u, v) in us.iter().zip(vs) {
                let graph = graph_of[*u as usize] as usize;
                let first = boundaries.nodes(graph).start;
                entries[next[graph]] = ((*u as usize - first) as u32, (*v as usize - first) as u32);
                next[graph] += 1;
            }
            Ok(())
        })?;
        Ok(Self { entries, ends })
    }

    /// The entries of a graph.
    pub fn of_graph(&self, graph: usize) -> &[(u32, u32)] {
        &self.entries[self.ends[graph]..self.ends[graph + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_and_ptr_describe_the_same_graphs_empty_ones_included() {
        let ptr = from_ptr(&[0, 2, 2, 5, 5], Some(5)).unwrap();
        let batch = from_batch(&[0, 0, 2, 2, 2], Some(4), Some(5)).unwrap();
        assert_eq!(ptr, batch);
        assert_eq!((ptr.graphs(), ptr.nodes(1), ptr.nodes(2)), (4, 2..2, 2..5));
    }

    #[test]
    fn broken_boundaries_are_named_by_index_and_value() {
        for (ptr, place, value) in
            [(&[1, 2][..], "index 0", "1"), (&[0, 3, 2], "index 2", "2"), (&[0, 4], "index 1", "4")]
        {
            let error = from_ptr(ptr, Some(2)).unwrap_err().to_string();
            assert!(error.contains(place) && error.contains(value), "{error}");
        }
        for batch in [&[-1, 0][..], &[1, 0], &[0, 9]] {
            assert!(from_batch(batch, Some(2), Some(2)).is_err());
        }
    }
}
