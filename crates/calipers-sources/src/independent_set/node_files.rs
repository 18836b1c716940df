//! Score and label files: which units they speak of, and the values of each.

use std::borrow::Cow;
use std::sync::OnceLock;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays};
use calipers_io::memory;
use calipers_io::score::{FORMATS, NodeSet, Reader, UnitColumns};
use calipers_metrics::independent_set::{Axis, Kind};

use super::arrays;
use super::containers::{own_name, pack_names};
use super::node_values::{self, ScoreValues};
use super::options::Options;
use super::pack::{self, Boundaries};
use crate::array_file::{self, numbered};
use crate::inputs::Inputs;
use crate::walk::Found;

/// Reads one value per node.
pub type ReadValues = fn(&[u8]) -> Result<Vec<f64>>;
/// Reads a set of a graph with so many nodes.
pub type ReadSet = fn(&[u8], u64) -> Result<Vec<bool>>;

/// What a file is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Scores.
    Scores,
    /// Labels.
    Labels,
}

/// A score or label file, read but not yet cut into units.
pub enum NodeFile {
    /// One value per node, and the function that reads them.
    Values(ReadValues, Vec<u8>),
    /// A set that needs the number of nodes to be understood, and the function that reads it.
    Set(ReadSet, Vec<u8>),
    /// One value per node, of one graph.
    Array(Array),
    /// Containers of arrays.
    Arrays(Vec<Member>),
    /// One entry a unit.
    Units(Vec<UnitColumns>),
}

/// A container of scores or labels, of which each array is decoded once for all its graphs.
pub struct Member {
    arrays: Arrays,
    /// Where graphs end, in a packed batch.
    boundaries: Option<Boundaries>,
    scores: OnceLock<Result<ScoreValues>>,
    labels: OnceLock<Result<Vec<bool>>>,
}

/// A unit a file speaks of: its name where the content gives one, and where it stands.
pub struct Mention {
    /// The name, or `None` when the file name alone says it.
    pub unit: Option<String>,
    /// Which of the file's units it is.
    pub index: usize,
    /// Where in the file it stands, for messages.
    pub place: String,
    /// Whether the name only counts the graphs of the file.
    pub counted: bool,
}

/// The values a file holds for one unit.
pub enum Values {
    /// Scores of a known kind, or labels as a set of 0 and 1.
    Known(ScoreValues),
    /// A set that needs the number of nodes: chosen nodes from 0.
    Chosen(Vec<u64>),
    /// A solution or cover file that needs the number of nodes.
    Text(ReadSet, Vec<u8>),
    /// One value per line, so that a wrong one can be named by its line.
    Lines(Kind, Vec<f64>),
}

/// Reads a file.
pub fn load(found: &Found, inputs: &Inputs) -> Result<NodeFile> {
    let format = FORMATS.by_name(&found.name).ok_or_else(|| {
        Error::format("not a known kind of score or label file")
            .allowed(FORMATS.endings().join(" "))
            .advice("rename the file so that its ending says what it holds")
    })?;
    let text = || inputs.read_found(found).map(Cow::into_owned);
    match format.reader {
        Reader::Values(read) => Ok(NodeFile::Values(read, text()?)),
        Reader::Set(read) => Ok(NodeFile::Set(read, text()?)),
        Reader::Units(read) => read(&text()?).map(NodeFile::Units),
        Reader::Arrays => load_arrays(found, inputs),
    }
}

fn load_arrays(found: &Found, inputs: &Inputs) -> Result<NodeFile> {
    let source = inputs.open_found(found)?;
    if !has_sets(&found.name) {
        return array_file::open_one(&found.name, source)?.read_all().map(NodeFile::Array);
    }
    let with_boundaries = |arrays: Arrays| {
        let packed = pack::is_pack(&arrays.keys());
        let boundaries = packed.then(|| pack::boundaries(&arrays, None)).transpose()?;
        Ok(Member { arrays, boundaries, scores: OnceLock::new(), labels: OnceLock::new() })
    };
    let sets = array_file::open(&found.name, source)?;
    sets.into_iter().map(with_boundaries).collect::<Result<_>>().map(NodeFile::Arrays)
}

fn has_sets(name: &str) -> bool {
    array_file::reader(name).is_some_and(|reader| reader.has_names())
}

/// Whether the units of a file can only be told by reading it.
pub fn names_units_inside(found: &Found) -> bool {
    match FORMATS.by_name(&found.name).map(|format| format.reader) {
        Some(Reader::Units(_)) => true,
        Some(Reader::Arrays) => has_sets(&found.name),
        Some(Reader::Values(_) | Reader::Set(_)) | None => false,
    }
}

impl Mention {
    /// The one unit of a file that names none.
    pub fn alone() -> Self {
        Self { unit: None, index: 0, place: String::new(), counted: false }
    }
}

impl NodeFile {
    /// The units the file speaks of, for one role.
    pub fn mentions(&self, stem: &str, role: Role) -> Result<Vec<Mention>> {
        match self {
            Self::Values(..) | Self::Set(..) | Self::Array(_) => Ok(vec![Mention::alone()]),
            Self::Units(units) => Ok(units
                .iter()
                .enumerate()
                .filter(|(_, columns)| {
                    role == Role::Scores || columns.labels.is_some() || columns.set.is_some()
                })
                .map(|(index, columns)| Mention {
                    unit: columns.unit.clone(),
                    index,
                    place: format!("line {}", columns.line),
                    counted: false,
                })
                .collect()),
            Self::Arrays(members) => {
                let mut mentions = Vec::new();
                for (number, member) in members.iter().enumerate() {
                    let several = members.len() > 1;
                    let stem = if several { numbered(stem, number, members.len()) } else { stem.to_owned() };
                    let own = own_name(&member.arrays)?;
                    let named = own.is_some() || member.arrays.keys().iter().any(|key| key == "names");
                    let units = match &member.boundaries {
                        Some(boundaries) => pack_names(&member.arrays, &stem, boundaries.graphs())?
                            .into_iter()
                            .map(Some)
                            .collect(),
                        None => vec![own.or_else(|| several.then_some(stem))],
                    };
                    for (graph, unit) in units.into_iter().enumerate() {
                        mentions.push(Mention {
                            unit,
                            index: mentions.len(),
                            place: format!("graph {graph}"),
                            counted: !named,
                        });
                    }
                }
                Ok(mentions)
            }
        }
    }

    /// Where in the file a unit stands, where the file has lines.
    pub fn place(&self, index: usize) -> Option<String> {
        let Self::Units(units) = self else { return None };
        let UnitColumns { line, lines, .. } = units.get(index)?;
        let last = lines.iter().max().unwrap_or(line);
        Some(if line == last { format!("line {line}") } else { format!("lines {line} to {last}") })
    }

    /// The scores of one unit.
    pub fn scores(&self, index: usize, options: &Options) -> Result<Values> {
        let declared = || {
            options.scores_are.ok_or_else(|| {
                Error::usage("nothing says what the scores are").advice("--scores-are logits, probs or set")
            })
        };
        match self {
            Self::Values(read, bytes) => Ok(Values::Lines(declared()?, read(bytes)?)),
            Self::Set(read, bytes) => match declared()? {
                Kind::Set => Ok(Values::Text(*read, bytes.clone())),
                _ => Err(Error::usage("a solution file holds a set").advice("--scores-are set")),
            },
            Self::Array(array) => {
                node_values::scores(array, "scores", declared()?, options.axis).map(Values::Known)
            }
            Self::Arrays(members) => {
                let (member, graph) = member(members, index)?;
                let read = || {
                    let scores = arrays::scores(&member.arrays, options)?;
                    let scores = scores.ok_or_else(|| Error::value("there are no scores"))?;
                    member.cover(scores.nodes()).map(|()| scores)
                };
                let scores =
                    member.scores.get_or_init(|| memory::for_all(read)).as_ref().map_err(Clone::clone)?;
                Ok(Values::Known(scores.of_nodes(member.nodes(graph, scores.nodes()))))
            }
            Self::Units(units) => {
                let columns = &units[index];
                let line = format!("line {}", columns.line);
                let known =
                    |kind, values: &Vec<f64>| Values::Known(ScoreValues::one_row(kind, values.clone()));
                let mut present: Vec<(&str, Values)> = Vec::new();
                present.extend(columns.logits.as_ref().map(|values| ("logits", known(Kind::Logits, values))));
                present.extend(columns.probs.as_ref().map(|values| ("probs", known(Kind::Probs, values))));
                present.extend(columns.set.as_ref().map(|set| match set {
                    NodeSet::Listed(nodes) => ("set", Values::Chosen(nodes.clone())),
                    NodeSet::Values(values) => ("set", known(Kind::Set, values)),
                }));
                let names: Vec<&str> = present.iter().map(|(name, _)| *name).collect();
                match (present.len(), names.join(" and ")) {
                    (1, name) => {
                        let said = options.scores_are.map(super::word);
                        arrays::agrees(&name, "--scores-are", Some(name.clone()), said)?;
                        Ok(present.remove(0).1)
                    }
                    (0, _) => Err(Error::value("there are no scores")
                        .at(line)
                        .allowed("one of logits, probs, set")
                        .advice("name the scores by their kind, or say --no-scores")),
                    (_, names) => Err(Error::value("there are several kinds of scores")
                        .at(line)
                        .found(names)
                        .allowed("exactly one")
                        .advice("keep the one to be measured")),
                }
            }
        }
    }

    /// The labels of one unit, as a set.
    pub fn labels(&self, index: usize) -> Result<Values> {
        match self {
            Self::Values(read, bytes) => Ok(Values::Lines(Kind::Set, read(bytes)?)),
            Self::Set(read, bytes) => Ok(Values::Text(*read, bytes.clone())),
            Self::Array(array) => {
                let labels = node_values::labels_of(array, "labels")?;
                Ok(Values::Known(as_set(&labels)))
            }
            Self::Arrays(members) => {
                let (member, graph) = member(members, index)?;
                let read = || {
                    let labels = arrays::labels(&member.arrays)?.ok_or_else(|| {
                        Error::value("there are no labels")
                            .found(format!("keys {}", member.arrays.keys().join(", ")))
                            .allowed("labels or y")
                            .advice("add the labels, or leave out --labels")
                    })?;
                    member.cover(labels.len()).map(|()| labels)
                };
                let labels =
                    member.labels.get_or_init(|| memory::for_all(read)).as_ref().map_err(Clone::clone)?;
                Ok(Values::Known(as_set(&labels[member.nodes(graph, labels.len())])))
            }
            Self::Units(units) => {
                let columns = &units[index];
                match (&columns.labels, &columns.set) {
                    // A set beside labels is the prediction of the same unit.
                    (Some(values), _) | (None, Some(NodeSet::Values(values))) => {
                        let wrong = values.iter().position(|value| !matches!(*value, 0.0 | 1.0));
                        let line = wrong.and_then(|node| columns.lines.get(node)).unwrap_or(&columns.line);
                        node_values::labels(values).map_err(|error| error.at(format!("line {line}")))?;
                        Ok(Values::Known(ScoreValues::one_row(Kind::Set, values.clone())))
                    }
                    (None, Some(NodeSet::Listed(nodes))) => Ok(Values::Chosen(nodes.clone())),
                    (None, None) => {
                        Err(Error::value("there are no labels").at(format!("line {}", columns.line)))
                    }
                }
            }
        }
    }
}

/// The container that holds the unit of an index, and which of its graphs that is.
fn member(members: &[Member], mut index: usize) -> Result<(&Member, usize)> {
    for member in members {
        let count = member.boundaries.as_ref().map_or(1, Boundaries::graphs);
        if index < count {
            return Ok((member, index));
        }
        index -= count;
    }
    Err(Error::value("the file holds fewer units than it announced"))
}

impl Member {
    /// Refuses values that the boundaries of a packed batch do not cover.
    fn cover(&self, length: usize) -> Result<()> {
        self.boundaries.as_ref().map_or(Ok(()), |boundaries| boundaries.cover(&self.arrays, length))
    }

    /// The nodes of a graph among all that there are values for.
    fn nodes(&self, graph: usize, length: usize) -> std::ops::Range<usize> {
        self.boundaries.as_ref().map_or(0..length, |boundaries| boundaries.nodes(graph))
    }
}

fn as_set(labels: &[bool]) -> ScoreValues {
    ScoreValues::one_row(Kind::Set, labels.iter().map(|label| f64::from(u8::from(*label))).collect())
}

impl Values {
    /// How many nodes there are, where the values themselves say it.
    pub fn nodes(&self) -> Option<usize> {
        match self {
            Self::Known(values) => Some(values.nodes()),
            Self::Lines(_, values) => Some(values.len()),
            Self::Chosen(_) | Self::Text(..) => None,
        }
    }

    /// What the values are.
    pub fn kind(&self) -> (Kind, Option<Axis>) {
        match self {
            Self::Known(values) => (values.kind, values.axis),
            Self::Lines(kind, _) => (*kind, None),
            Self::Chosen(_) | Self::Text(..) => (Kind::Set, None),
        }
    }

    /// One value per node, now that their number is known.
    pub fn for_nodes(self, nodes: u64) -> Result<ScoreValues> {
        match self {
            Self::Known(values) if values.nodes() as u64 == nodes => Ok(values),
            Self::Known(values) => Err(Error::value("the values and the graph differ in length")
                .found(match values.axis {
                    None => format!("{} values", values.nodes()),
                    Some(_) => format!("rows of {} values", values.nodes()),
                })
                .allowed(format!("{nodes}, the graph has {nodes} nodes"))
                .advice("check that the file and the graph belong together")),
            Self::Lines(kind, values) => {
                if values.len() as u64 != nodes {
                    return Err(Error::value("the file must have one line per node")
                        .at(format!("line {}", values.len()))
                        .found(format!("{} values", values.len()))
                        .allowed(format!("{nodes} values, the graph has {nodes} nodes"))
                        .advice("check that the file and the graph belong together"));
                }
                let wrong = |value: &f64| !matches!(*value, 0.0 | 1.0);
                match values.iter().position(wrong).filter(|_| kind == Kind::Set) {
                    Some(node) => Err(Error::value("a set holds another value than 0 and 1")
                        .at(format!("line {}, node {node}", node + 1))
                        .found(values[node])
                        .allowed("0 and 1")
                        .advice("1 for each chosen node and 0 for the others")),
                    None => Ok(ScoreValues::one_row(kind, values)),
                }
            }
            Self::Text(read, bytes) => read(&bytes, nodes).map(|set| as_set(&set)),
            Self::Chosen(chosen) => {
                let mut set = vec![false; nodes as usize];
                for node in chosen {
                    let slot =
                        usize::try_from(node).ok().and_then(|node| set.get_mut(node)).ok_or_else(|| {
                            Error::value("a chosen node is out of range")
                                .found(node)
                                .allowed(format!("0 to N-1 with N = {nodes}"))
                                .advice("chosen nodes are numbered from 0 here")
                        })?;
                    if std::mem::replace(slot, true) {
                        return Err(Error::value("a node is chosen twice")
                            .at(format!("node {node}"))
                            .allowed("every node once")
                            .advice("take the second one away"));
                    }
                }
                Ok(as_set(&set))
            }
        }
    }
}
