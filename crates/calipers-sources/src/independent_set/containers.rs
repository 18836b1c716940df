//! Array files as units: which units a container holds, and the evidence of each.

use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays, pt};
use calipers_io::file::empty;

use super::arrays::{self, MatrixEdges};
use super::node_values::ScoreValues;
use super::options::Options;
use super::pack::{self, Boundaries, PackEdges};
use super::rows::{self, Rows};
use crate::array_file::{numbered, open};
use crate::inputs::Inputs;
use crate::walk::Found;

/// Which unit of an array file is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The container within a file that holds a list of them.
    pub member: usize,
    /// The graph within a packed batch.
    pub graph: Option<usize>,
    /// Whether the container is one of several in its file.
    pub listed: bool,
}

impl Part {
    /// One graph of several in a file, which a list of names can name.
    pub fn is_counted(&self) -> bool {
        self.listed || self.graph.is_some()
    }
}

/// A container, ready to hand out its units.
pub enum Container {
    /// One unit.
    One(Arrays),
    /// A packed batch.
    Pack(Pack),
    /// One unit per row.
    Rows(Arc<Rows>),
}

/// A packed batch, decoded once for all its graphs.
pub struct Pack {
    boundaries: Boundaries,
    edges: PackEdges,
    scores: Option<ScoreValues>,
    labels: Option<Vec<bool>>,
    optima: Option<Vec<Option<u64>>>,
}

/// The stored edges of a unit from arrays.
pub enum StoredEdges {
    /// The `edge_index` of one graph.
    Matrix(Array),
    /// The entries of one graph of a pack.
    Pairs(Vec<(u32, u32)>),
}

/// Everything a container says about one unit.
pub struct ArrayUnit {
    /// The stored edges.
    pub edges: StoredEdges,
    /// The number of nodes, where the container says it.
    pub nodes: Option<u64>,
    /// The scores.
    pub scores: Option<ScoreValues>,
    /// The labels.
    pub labels: Option<Vec<bool>>,
    /// The known optimum.
    pub optimum: Option<u64>,
}

/// The units of an array file by name, without reading more than names and boundaries need.
pub fn units(found: &Found, stem: &str, inputs: &Inputs) -> Result<Vec<(String, Part)>> {
    let file = inputs.look_into(found)?;
    if file.size() == 0 {
        return Err(empty());
    }
    if let Some(rows) = rows::open(Arc::clone(&file), found.column.as_deref())? {
        let part = |row| Part { member: 0, graph: Some(row), listed: false };
        return Ok(rows.names()?.into_iter().enumerate().map(|(row, name)| (name, part(row))).collect());
    }
    let containers = open(&found.name, file)?;
    if containers.iter().any(|arrays| arrays.text(pt::CLASS) == Some(pt::HETERO_DATA)) {
        return Err(Error::value("pt: a HeteroData has several types of nodes and edges")
            .found(pt::HETERO_DATA)
            .allowed("Data, Batch, or a dictionary of tensors")
            .advice("take one type of edges in Python and save it as Data"));
    }
    let several = containers.len() != 1;
    let mut units = Vec::new();
    for (member, arrays) in containers.iter().enumerate() {
        let stem = if several { numbered(stem, member, containers.len()) } else { stem.to_owned() };
        if pack::is_pack(&arrays.keys()) {
            let graphs = pack::boundaries(arrays, None)?.graphs();
            for (graph, name) in pack_names(arrays, &stem, graphs)?.into_iter().enumerate() {
                units.push((name, Part { member, graph: Some(graph), listed: several }));
            }
        } else {
            units.push((own_name(arrays)?.unwrap_or(stem), Part { member, graph: None, listed: several }));
        }
    }
    Ok(units)
}

/// The names of a pack's graphs: its own, else numbers behind the stem.
pub fn pack_names(arrays: &Arrays, stem: &str, graphs: usize) -> Result<Vec<String>> {
    match arrays::texts(arrays, "names")? {
        None => Ok((0..graphs).map(|graph| numbered(stem, graph, graphs)).collect()),
        Some(names) if names.len() == graphs => {
            let empty = names.iter().position(String::is_empty);
            empty.map_or(Ok(names), |graph| Err(no_name().at(format!("key names, graph {graph}"))))
        }
        Some(names) => Err(Error::value("'names' must have one name per graph")
            .at("key names")
            .found(format!("{} names", names.len()))
            .allowed(format!("{graphs} names"))
            .advice("name every graph, or none")),
    }
}

/// The name a container gives its one graph.
pub fn own_name(arrays: &Arrays) -> Result<Option<String>> {
    match arrays::texts(arrays, "name")?.as_deref() {
        None => Ok(None),
        Some([name]) if name.is_empty() => Err(no_name().at("key name")),
        Some([name]) => Ok(Some(name.clone())),
        Some(names) => Err(Error::value("'name' must be one name")
            .at("key name")
            .found(format!("{} names", names.len()))
            .allowed("one text")
            .advice("the names of a pack are under 'names', beside 'ptr' or 'batch'")),
    }
}

fn no_name() -> Error {
    let error = Error::value("an empty unit name").found("no characters");
    error.allowed("a name of one character or more").advice("give every graph a name, or leave the key out")
}

/// The keys that a unit of an array file has.
pub fn keys(found: &Found, part: Part, inputs: &Inputs) -> Result<Vec<String>> {
    let file = inputs.look_into(found)?;
    match rows::open(Arc::clone(&file), found.column.as_deref())? {
        // A column that is null in this row is no key of it.
        Some(rows) => Ok(rows.row(part.graph.unwrap_or(0))?.keys()),
        None => Ok(open(&found.name, file)?[part.member].keys()),
    }
}

/// Reads an array file into containers that hand out units.
pub fn load(found: &Found, inputs: &Inputs, options: &Options) -> Result<Vec<Container>> {
    let file = inputs.open_found(found)?;
    if let Some(rows) = rows::open(Arc::clone(&file), found.column.as_deref())? {
        return Ok(vec![Container::Rows(rows)]);
    }
    let containers = open(&found.name, file)?;
    containers.into_iter().map(|arrays| in_memory(arrays, options)).collect()
}

/// Arrays in memory as a container.
pub fn in_memory(arrays: Arrays, options: &Options) -> Result<Container> {
    if pack::is_pack(&arrays.keys()) {
        Pack::new(&arrays, options).map(Container::Pack)
    } else {
        Ok(Container::One(arrays))
    }
}

impl Pack {
    fn new(arrays: &Arrays, options: &Options) -> Result<Self> {
        // With graphs in files of their own, scores and labels come from elsewhere too.
        let alone = options.graph.is_none();
        let scores = if alone { arrays::scores(arrays, options)? } else { None };
        let labels = if alone || options.labels_in_graph() { arrays::labels(arrays)? } else { None };
        let nodes = known_nodes(arrays, scores.as_ref(), labels.as_deref())?;
        let boundaries = pack::boundaries(arrays, nodes.map(|nodes| nodes as usize))?;
        let optima = if alone { arrays::optima(arrays, Some(boundaries.graphs()))? } else { None };
        let matrix = arrays::edge_index(arrays)?;
        let edges = PackEdges::new(&MatrixEdges::new(&matrix)?, &boundaries)?;
        Ok(Self { boundaries, edges, scores, labels, optima })
    }
}

impl Container {
    /// How many units it holds.
    pub fn units(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Pack(pack) => pack.boundaries.graphs(),
            Self::Rows(rows) => rows.count(),
        }
    }

    /// The evidence of one unit.
    pub fn unit(&self, part: Part, options: &Options) -> Result<ArrayUnit> {
        match self {
            Self::One(arrays) => one(arrays, options),
            Self::Rows(rows) => one(&rows.row(part.graph.unwrap_or(0))?, options),
            Self::Pack(pack) => {
                let graph = part.graph.unwrap_or(0);
                let nodes = pack.boundaries.nodes(graph);
                Ok(ArrayUnit {
                    edges: StoredEdges::Pairs(pack.edges.of_graph(graph).to_vec()),
                    nodes: Some(nodes.len() as u64),
                    scores: pack.scores.as_ref().map(|scores| scores.of_nodes(nodes.clone())),
                    labels: pack.labels.as_ref().map(|labels| labels[nodes].to_vec()),
                    optimum: pack.optima.as_ref().and_then(|optima| optima[graph]),
                })
            }
        }
    }
}

fn one(arrays: &Arrays, options: &Options) -> Result<ArrayUnit> {
    let alone = options.graph.is_none();
    let scores = if alone { arrays::scores(arrays, options)? } else { None };
    let labels = if alone || options.labels_in_graph() { arrays::labels(arrays)? } else { None };
    let optimum = if alone { arrays::optima(arrays, None)? } else { None };
    let nodes = known_nodes(arrays, scores.as_ref(), labels.as_deref())?;
    let edges = StoredEdges::Matrix(arrays::edge_index(arrays)?);
    Ok(ArrayUnit { edges, nodes, scores, labels, optimum: optimum.and_then(|optima| optima[0]) })
}

/// N: the length of the score axis, else of the labels, else `num_nodes`; what is given must agree.
fn known_nodes(
    arrays: &Arrays,
    scores: Option<&ScoreValues>,
    labels: Option<&[bool]>,
) -> Result<Option<u64>> {
    let given = [
        ("scores", scores.map(|scores| scores.nodes() as u64)),
        ("labels", labels.map(|labels| labels.len() as u64)),
        ("num_nodes", arrays::number(arrays, "num_nodes")?),
    ];
    let mut known: Option<(&str, u64)> = None;
    for (what, nodes) in given.into_iter().filter_map(|(what, nodes)| Some((what, nodes?))) {
        match known {
            None => known = Some((what, nodes)),
            Some((first, expected)) if expected != nodes => {
                return Err(Error::value(format!("'{first}' and '{what}' are of different lengths"))
                    .found(format!("{expected} nodes by {first}, {nodes} by {what}"))
                    .allowed("one value per node")
                    .advice("check that both belong to the same graph"));
            }
            Some(_) => {}
        }
    }
    Ok(known.map(|(_, nodes)| nodes))
}
