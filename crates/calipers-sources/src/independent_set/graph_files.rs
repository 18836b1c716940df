//! Graph files: which graphs they hold, and each of them as stored.

use calipers_core::{Error, Result};
use calipers_io::array::{ArrayFile, Reader as ArrayReader};
use calipers_io::format::instead_of;
use calipers_io::graph::sparse::scipy;
use calipers_io::graph::{self, FORMATS, Format, GraphOptions, Reader, StoredGraph, tu};
use calipers_io::{limits, memory, place};
use calipers_metrics::independent_set::graph::{EdgeSource, Graph, Storage};

use super::arrays::MatrixEdges;
use super::containers::{self, Container, Part, StoredEdges};
use super::options::{IN_GRAPH, Options};
use crate::array_file::{self, numbered};
use crate::inputs::Inputs;
use crate::walk::Found;

/// A graph file and the format it is read in.
pub struct GraphPath {
    /// The file.
    pub found: Found,
    /// Its format.
    pub format: &'static Format,
}

/// A graph file, read but not yet cut into graphs.
pub enum GraphFile {
    /// A text that holds one graph.
    Text(Vec<u8>),
    /// Graphs that were read already.
    Several(Vec<StoredGraph>),
    /// A text that holds one graph per line: line numbers and places.
    Lines(Vec<u8>, Vec<(u64, std::ops::Range<usize>)>),
    /// An `edge_index` array.
    One(Box<dyn ArrayFile>),
    /// Containers of arrays.
    Arrays(Vec<Container>),
}

/// A graph and what its file says beside the edges.
pub struct FileGraph {
    /// The simple graph.
    pub graph: Graph,
    /// Labels stored with the graph.
    pub labels: Option<Vec<bool>>,
    /// What was noticed while it was read: codes of warnings, and what each says.
    pub noticed: Vec<(&'static str, String)>,
}

impl GraphPath {
    /// The format by option, else by ending.
    pub fn new(found: Found, options: &Options) -> Result<Self> {
        let with_labels = FORMATS.iter().filter(|format| format.reader.holds_labels());
        let format = options.graph_format.or_else(|| FORMATS.by_name(&found.name));
        match format {
            Some(format) if options.labels_in_graph() && !format.reader.holds_labels() => {
                Err(Error::value("files of this format hold no labels")
                    .in_file(&found.shown)
                    .found(format!("--labels {IN_GRAPH} with {format}"))
                    .allowed(with_labels.map(Format::to_string).collect::<Vec<_>>().join(", "))
                    .advice("give the labels in files of their own: --labels PATH"))
            }
            Some(format) => Ok(Self { found, format }),
            None => Err(Error::format(match &found.held {
                None => "the ending does not tell the graph format",
                Some(_) => "the content does not tell the graph format",
            })
            .in_file(&found.shown)
            .allowed(FORMATS.endings().join(" "))
            .advice(instead_of(&found.name).unwrap_or("--graph-format NAME"))),
        }
    }

    /// Whether its graphs can only be counted by reading the file.
    pub fn is_counted(&self) -> bool {
        matches!(self.format.reader, Reader::Lines { .. } | Reader::Several { .. } | Reader::DataSet(_))
    }

    /// How arrays are stored in it, if that is what it holds.
    fn arrays(&self) -> Option<ArrayReader> {
        match self.format.reader {
            Reader::Arrays => array_file::reader(&self.found.name),
            _ => None,
        }
    }

    /// The graphs of the file by name; `file` is it where it has been read.
    pub fn graphs(&self, file: Option<&GraphFile>, inputs: &Inputs) -> Result<Vec<(String, Part)>> {
        let stem = FORMATS.stem(&self.found.name);
        let whole = Part { member: 0, graph: None, listed: false };
        let pack = |count: usize| {
            let part = |graph| Part { member: 0, graph: Some(graph), listed: false };
            Ok((0..count).map(|graph| (numbered(stem, graph, count), part(graph))).collect())
        };
        match file {
            Some(GraphFile::Lines(_, lines)) => pack(lines.len()),
            Some(GraphFile::Several(graphs)) if graphs.len() != 1 || self.is_data_set() => pack(graphs.len()),
            _ if self.arrays().is_some_and(|reader| reader.has_names()) => {
                containers::units(&self.found, stem, inputs)
            }
            _ => Ok(vec![(stem.to_owned(), whole)]),
        }
    }

    /// Whether it holds one graph per line.
    pub fn has_lines(&self) -> bool {
        matches!(self.format.reader, Reader::Lines { .. })
    }

    fn is_data_set(&self) -> bool {
        is_tu(self.format)
    }

    /// Reads the file.
    pub fn load(&self, inputs: &Inputs, options: &Options) -> Result<GraphFile> {
        let found = &self.found;
        match self.format.reader {
            Reader::One { .. } => Ok(GraphFile::Text(inputs.read_found(found)?.into_owned())),
            Reader::Several { read, .. } => read(&inputs.read_found(found)?).map(GraphFile::Several),
            Reader::DataSet(read) => data_set(found, inputs, options, read).map(GraphFile::Several),
            Reader::Lines { header, .. } => {
                let bytes = inputs.read_found(found)?.into_owned();
                let lines = graph::lines(header, &bytes)?;
                Ok(GraphFile::Lines(bytes, lines))
            }
            Reader::Arrays if self.arrays().is_some_and(|reader| !reader.has_names()) => {
                array_file::open_one(&found.name, inputs.open_found(found)?).map(GraphFile::One)
            }
            Reader::Arrays => {
                let mut sets = array_file::open(&found.name, inputs.open_found(found)?)?;
                match &sets[..] {
                    [arrays] if scipy::is_sparse(arrays) => {
                        scipy::parse(arrays).map(|graph| GraphFile::Several(vec![graph]))
                    }
                    _ => {
                        let containers = sets.drain(..).map(|arrays| containers::in_memory(arrays, options));
                        containers.collect::<Result<_>>().map(GraphFile::Arrays)
                    }
                }
            }
        }
    }
}

impl GraphFile {
    /// One graph of the file. `nodes` is the number of nodes by scores or labels, for formats that
    /// do not say it themselves.
    pub fn graph(
        &self,
        format: &Format,
        part: Part,
        nodes: Option<u64>,
        options: &Options,
    ) -> Result<FileGraph> {
        let given = nodes.or(options.num_nodes);
        match (self, format.reader) {
            (Self::Text(bytes), Reader::One { read, .. }) => {
                let hints =
                    GraphOptions { nodes: options.num_nodes, scored: nodes, index_base: options.index_base };
                from_stored(&read(bytes, &hints)?, options)
            }
            (Self::Several(graphs), _) => from_stored(&graphs[part.graph.unwrap_or(0)], options),
            (Self::Lines(bytes, lines), Reader::Lines { read, .. }) => {
                let (number, range) = &lines[part.graph.unwrap_or(0)];
                from_stored(&read(&bytes[range.clone()], *number)?, options)
            }
            (Self::One(file), _) => from_matrix(&MatrixEdges::new(&**file)?, given),
            (Self::Arrays(members), _) => {
                let unit = members[part.member].unit(part, options)?;
                let labels = unit.labels;
                match unit.edges {
                    StoredEdges::Matrix(array) => {
                        let graph = from_matrix(&MatrixEdges::new(&array)?, unit.nodes.or(given))?;
                        Ok(FileGraph { labels, ..graph })
                    }
                    StoredEdges::Pairs(pairs) => {
                        let graph = Graph::build(unit.nodes.unwrap_or(0), Storage::Both, &pairs.as_slice())?;
                        Ok(FileGraph { graph, labels, noticed: Vec::new() })
                    }
                }
            }
            (Self::Text(_) | Self::Lines(..), _) => Err(Error::format("the file was read in another format")),
        }
    }
}

fn from_matrix(edges: &MatrixEdges<'_>, nodes: Option<u64>) -> Result<FileGraph> {
    let nodes = plausible(nodes.ok_or_else(unknown_size)?, edges.entries())?;
    let graph = Graph::build(nodes, Storage::Both, edges)?;
    Ok(FileGraph { graph, labels: None, noticed: Vec::new() })
}

/// The files of graphs among those that were found: of a TU data set the file of edges alone.
pub fn of_data_set(found: Vec<Found>) -> Result<Vec<Found>> {
    let is_edges = |found: &&Found| FORMATS.by_name(&found.name).is_some_and(is_tu);
    let mut edges = found.iter().filter(is_edges);
    match (edges.next(), edges.next()) {
        (None, _) => Ok(found),
        (Some(only), None) => Ok(vec![only.clone()]),
        (Some(first), Some(second)) => Err(Error::value("a folder of two TU data sets")
            .found(format!("{} and {}", first.shown, second.shown))
            .allowed("one file *_A.txt")
            .advice("put each data set in a folder of its own")),
    }
}

fn is_tu(format: &Format) -> bool {
    matches!(format.reader, Reader::DataSet(_))
}

/// The files of a TU data set: those that lie beside the file of edges.
fn data_set(
    edges: &Found,
    inputs: &Inputs,
    options: &Options,
    read: fn(&tu::Files<'_>) -> Result<Vec<StoredGraph>>,
) -> Result<Vec<StoredGraph>> {
    let alone = || {
        Error::format("a file of edges of a TU data set, without the graphs of its nodes")
            .allowed(format!("a file *{} beside it", tu::INDICATOR))
            .advice("TU data set: give the folder, or --graph-format edgelist --index-base 1")
    };
    let beside = |ending: &str| -> Result<Option<Vec<u8>>> {
        let Some(found) = edges.beside(FORMATS.stem(&edges.name), ending) else { return Ok(None) };
        if !place::is_file(&found.path) {
            return Ok(None);
        }
        inputs
            .read_found(&found)
            .map(|bytes| Some(bytes.into_owned()))
            .map_err(|error| error.in_file(&found.shown))
    };
    let indicator = beside(tu::INDICATOR)?.ok_or_else(alone)?;
    let wanted = options.labels_in_graph();
    let labels = if wanted { beside(tu::LABELS)? } else { None };
    if wanted && labels.is_none() {
        return Err(Error::value("the TU data set has no labels of nodes")
            .allowed(format!("a file *{} beside it", tu::LABELS))
            .advice("leave out --labels, or add the file"));
    }
    read(&tu::Files { edges: &inputs.read_found(edges)?, indicator: &indicator, labels: labels.as_deref() })
}

fn from_stored(stored: &StoredGraph, options: &Options) -> Result<FileGraph> {
    if let Some(why) = stored.no_labels.as_ref().filter(|_| options.labels_in_graph()) {
        return Err(Error::value("what is stored as labels of nodes are none")
            .found(why)
            .allowed("0 and 1 for every node")
            .advice("soft labels and classes are not supported; give labels in files of their own"));
    }
    let storage = match stored.storage {
        graph::Storage::Both => Storage::Both,
        graph::Storage::Once => Storage::Once,
    };
    let lines = stored.entries.len() as u64;
    let nodes = plausible(stored.nodes.ok_or_else(unknown_size)?, lines)?;
    let graph = Graph::build(nodes, storage, &stored.entries.as_slice())?;
    let announced = stored.declared_edges.filter(|declared| *declared != lines);
    let announced =
        announced.map(|edges| ("edge-count-differs", format!("{edges} announced, {lines} edge lines")));
    let zeros = (stored.zeros > 0).then(|| ("stored-zeros", stored.zeros.to_string()));
    let renumbered = stored.renumbered.clone().map(|names| ("renumbered-nodes", names));
    let noticed = announced.into_iter().chain(zeros).chain(renumbered).collect();
    Ok(FileGraph { graph, labels: stored.labels.clone(), noticed })
}

/// Refuses a number of nodes that only a damaged or hostile head would give: memory is taken for
/// every node, so a few bytes must not be able to ask for all of it.
pub fn plausible(nodes: u64, entries: u64) -> Result<u64> {
    let most = limits::FREE_NODES.max(entries.saturating_mul(limits::NODES_PER_ENTRY));
    if nodes <= most {
        // Adjacency, and what is kept of each node.
        let bytes = entries.saturating_mul(24).saturating_add(nodes.saturating_mul(64));
        return memory::ask("the graph", bytes).map(|()| nodes);
    }
    Err(Error::value("the graph announces more nodes than its edges make plausible")
        .found(format!("{nodes} nodes, {entries} stored edges"))
        .allowed(format!("up to {most} nodes for that many edges"))
        .advice("check the head of the file or --num-nodes"))
}

/// The error of a graph whose number of nodes nobody says.
pub fn unknown_size() -> Error {
    Error::value("nothing says how many nodes the graph has")
        .advice("add num_nodes to the file, or give --num-nodes N")
}
