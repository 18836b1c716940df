//! Graph files: which graphs they hold, and each of them as stored.

use calipers_core::{Error, Result};
use calipers_io::array::{ArrayFile, Reader as ArrayReader};
use calipers_io::graph::{self, FORMATS, Format, GraphOptions, Reader, StoredGraph};
use calipers_io::limits;
use calipers_metrics::independent_set::graph::{EdgeSource, Graph, Storage};

use super::arrays::MatrixEdges;
use super::containers::{self, Container, Part, StoredEdges};
use super::options::{IN_GRAPH, Labels, Options};
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
    /// The announced number of edges and the number of edge lines, where they differ.
    pub announced: Option<(u64, u64)>,
}

impl GraphPath {
    /// The format by option, else by ending.
    pub fn new(found: Found, options: &Options) -> Result<Self> {
        let with_labels = FORMATS.iter().filter(|format| format.reader.holds_labels());
        let format = options.graph_format.or_else(|| FORMATS.by_name(&found.name));
        match format {
            Some(format) if options.labels == Some(Labels::InGraph) && !format.reader.holds_labels() => {
                Err(Error::value("files of this format hold no labels")
                    .in_file(&found.shown)
                    .found(format!("--labels {IN_GRAPH} with {format}"))
                    .allowed(with_labels.map(Format::to_string).collect::<Vec<_>>().join(" and "))
                    .advice("give the labels in files of their own: --labels PATH"))
            }
            Some(format) => Ok(Self { found, format }),
            None => Err(Error::format(match &found.held {
                None => "the ending does not tell the graph format",
                Some(_) => "the content does not tell the graph format",
            })
            .in_file(&found.shown)
            .allowed(FORMATS.endings().join(" "))
            .advice("--graph-format NAME")),
        }
    }

    /// Whether it holds one graph per line.
    pub fn has_lines(&self) -> bool {
        matches!(self.format.reader, Reader::Lines { .. })
    }

    /// How arrays are stored in it, if that is what it holds.
    fn arrays(&self) -> Option<ArrayReader> {
        match self.format.reader {
            Reader::Arrays => array_file::reader(&self.found.name),
            Reader::One { .. } | Reader::Lines { .. } => None,
        }
    }

    /// The graphs of the file by name; `lines` is the file where it has been read.
    pub fn graphs(&self, file: Option<&GraphFile>) -> Result<Vec<(String, Part)>> {
        let stem = FORMATS.stem(&self.found.name);
        let whole = Part { member: 0, graph: None, listed: false };
        match file {
            Some(GraphFile::Lines(_, lines)) => Ok((0..lines.len())
                .map(|graph| {
                    (
                        numbered(stem, graph, lines.len()),
                        Part { member: 0, graph: Some(graph), listed: false },
                    )
                })
                .collect()),
            _ if self.arrays().is_some_and(|reader| reader.has_names()) => {
                containers::units(&self.found, stem)
            }
            _ => Ok(vec![(stem.to_owned(), whole)]),
        }
    }

    /// Reads the file.
    pub fn load(&self, inputs: &Inputs, options: &Options) -> Result<GraphFile> {
        let found = &self.found;
        match self.format.reader {
            Reader::One { .. } => Ok(GraphFile::Text(inputs.read_found(found)?.into_owned())),
            Reader::Lines { header, .. } => {
                let bytes = inputs.read_found(found)?.into_owned();
                let lines = graph::lines(header, &bytes)?;
                Ok(GraphFile::Lines(bytes, lines))
            }
            Reader::Arrays if self.arrays().is_some_and(|reader| !reader.has_names()) => {
                array_file::open_one(&found.name, inputs.open_found(found)?).map(GraphFile::One)
            }
            Reader::Arrays => containers::load(found, inputs, options).map(GraphFile::Arrays),
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
                from_stored(read(bytes, &hints)?)
            }
            (Self::Lines(bytes, lines), Reader::Lines { read, .. }) => {
                let (number, range) = &lines[part.graph.unwrap_or(0)];
                from_stored(read(&bytes[range.clone()], *number)?)
            }
            (Self::One(file), _) => from_matrix(&MatrixEdges::new(&**file)?, given),
            (Self::Arrays(members), _) => {
                let unit = members[part.member].unit(part, options)?;
                let labels = None;
                match unit.edges {
                    StoredEdges::Matrix(array) => {
                        from_matrix(&MatrixEdges::new(&array)?, unit.nodes.or(given))
                    }
                    StoredEdges::Pairs(pairs) => {
                        let graph = Graph::build(unit.nodes.unwrap_or(0), Storage::Both, &pairs.as_slice())?;
                        Ok(FileGraph { graph, labels, announced: None })
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
    Ok(FileGraph { graph, labels: None, announced: None })
}

fn from_stored(stored: StoredGraph) -> Result<FileGraph> {
    let storage = match stored.storage {
        graph::Storage::Both => Storage::Both,
        graph::Storage::Once => Storage::Once,
    };
    let lines = stored.entries.len() as u64;
    let nodes = plausible(stored.nodes.ok_or_else(unknown_size)?, lines)?;
    let graph = Graph::build(nodes, storage, &stored.entries.as_slice())?;
    let announced =
        stored.declared_edges.filter(|declared| *declared != lines).map(|declared| (declared, lines));
    Ok(FileGraph { graph, labels: stored.labels, announced })
}

/// Refuses a number of nodes that only a damaged or hostile head would give: memory is taken for
/// every node, so a few bytes must not be able to ask for all of it.
pub fn plausible(nodes: u64, entries: u64) -> Result<u64> {
    let most = limits::FREE_NODES.max(entries.saturating_mul(limits::NODES_PER_ENTRY));
    if nodes <= most {
        return Ok(nodes);
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
