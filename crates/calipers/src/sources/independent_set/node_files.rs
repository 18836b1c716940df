//! Score and label files: which units they speak of, and the values of each.

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays};
use calipers_io::compress::inflate;
use calipers_io::limits;
use calipers_io::score::{NodeSet, ScoreFormat, UnitColumns, cover, json_lines, lines, node_list, table};
use calipers_metrics::independent_set::{Axis, Kind};

use super::arrays;
use super::node_values::{self, ScoreValues};
use super::options::Options;
use super::pack::{self, Boundaries};
use crate::inputs::Inputs;
use crate::sources::array_file::{self, numbered};
use crate::sources::walk::{Found, has_ending};

/// Endings of array files that hold one value a node.
pub const ARRAY_ENDINGS: [&str; 4] = [".npy", ".npz", ".safetensors", ".pt"];

/// Every ending of score and label files.
pub fn endings() -> Vec<&'static str> {
    let text = ScoreFormat::ALL.iter().flat_map(|format| format.endings());
    ARRAY_ENDINGS.iter().chain(text).copied().collect()
}

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
    /// A text that needs the number of nodes to be understood.
    Text(ScoreFormat, Vec<u8>),
    /// One value a node, of one graph.
    Array(Array),
    /// Containers of arrays; a packed batch has boundaries.
    Arrays(Vec<(Arrays, Option<Boundaries>)>),
    /// One entry a unit.
    Units(Vec<UnitColumns>),
}

/// A unit a file speaks of: its name where the content gives one, and where it stands.
pub struct Mention {
    /// The name, or `None` when the file name alone says it.
    pub unit: Option<String>,
    /// Which of the file's units it is.
    pub index: usize,
    /// Where in the file it stands, for messages.
    pub place: String,
}

/// The values a file holds for one unit.
pub enum Values {
    /// Scores of a known kind, or labels as a set of 0 and 1.
    Known(ScoreValues),
    /// A set that needs the number of nodes: chosen nodes from 0.
    Chosen(Vec<u64>),
    /// A solution or cover file that needs the number of nodes.
    Text(ScoreFormat, Vec<u8>),
    /// One value a line, so that a wrong one can be named by its line.
    Lines(Kind, Vec<f64>),
}

/// Reads a file.
pub fn load(found: &Found, inputs: &Inputs) -> Result<NodeFile> {
    if has_ending(&found.name, ".npy") {
        let source = inputs.open_found(found)?;
        return array_file::open_npy(found, source)?.read_all().map(NodeFile::Array);
    }
    if ARRAY_ENDINGS.iter().any(|ending| has_ending(&found.name, ending)) {
        let containers = array_file::open(found, inputs.open_found(found)?)?;
        let with_boundaries = |arrays: Arrays| {
            let packed = pack::is_pack(&arrays.keys());
            let boundaries = packed.then(|| pack::boundaries(&arrays, None)).transpose()?;
            Ok((arrays, boundaries))
        };
        return containers.into_iter().map(with_boundaries).collect::<Result<_>>().map(NodeFile::Arrays);
    }
    let bytes = inflate(&inputs.read_found(found)?, found.compression, limits::INFLATED)?;
    match ScoreFormat::of_name(&found.name) {
        Some(ScoreFormat::Table) => {
            let delimiter = if has_ending(&found.name, ".tsv") { b'\t' } else { b',' };
            table::parse(&bytes, delimiter).map(NodeFile::Units)
        }
        Some(ScoreFormat::JsonLines) => json_lines::parse(&bytes).map(NodeFile::Units),
        Some(format) => Ok(NodeFile::Text(format, bytes)),
        None => Err(Error::format("not a known kind of score or label file").allowed(endings().join(" "))),
    }
}

/// Whether the units of a file can only be told by reading it.
pub fn names_units_inside(found: &Found) -> bool {
    let text = ScoreFormat::of_name(&found.name);
    matches!(text, Some(ScoreFormat::Table | ScoreFormat::JsonLines))
        || ARRAY_ENDINGS[1..].iter().any(|ending| has_ending(&found.name, ending))
}

impl NodeFile {
    /// The units the file speaks of, for one role.
    pub fn mentions(&self, stem: &str, role: Role) -> Result<Vec<Mention>> {
        match self {
            Self::Text(..) | Self::Array(_) => {
                Ok(vec![Mention { unit: None, index: 0, place: String::new() }])
            }
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
                })
                .collect()),
            Self::Arrays(members) => {
                let mut mentions = Vec::new();
                for (member, (arrays, boundaries)) in members.iter().enumerate() {
                    let stem = if members.len() == 1 {
                        stem.to_owned()
                    } else {
                        numbered(stem, member, members.len())
                    };
                    let own = arrays::texts(arrays, if boundaries.is_some() { "names" } else { "name" })?;
                    let count = boundaries.as_ref().map_or(1, Boundaries::graphs);
                    for graph in 0..count {
                        let unit = match (&own, boundaries) {
                            (Some(names), _) => names.get(graph).cloned(),
                            (None, Some(_)) => Some(numbered(&stem, graph, count)),
                            (None, None) => (members.len() > 1).then(|| stem.clone()),
                        };
                        mentions.push(Mention {
                            unit,
                            index: mentions.len(),
                            place: format!("graph {graph}"),
                        });
                    }
                }
                Ok(mentions)
            }
        }
    }

    /// The scores of one unit.
    pub fn scores(&self, index: usize, options: &Options) -> Result<Values> {
        let declared = || {
            options.scores_are.ok_or_else(|| {
                Error::usage("nothing says what the scores are").advice("--scores-are logits, probs or set")
            })
        };
        match self {
            Self::Text(ScoreFormat::Lines, bytes) => Ok(Values::Lines(declared()?, lines::parse(bytes)?)),
            Self::Text(format, bytes) => match declared()? {
                Kind::Set => Ok(Values::Text(*format, bytes.clone())),
                _ => Err(Error::usage("a solution file holds a set").advice("--scores-are set")),
            },
            Self::Array(array) => {
                node_values::scores(array, "scores", declared()?, options.axis).map(Values::Known)
            }
            Self::Arrays(members) => {
                let (arrays, nodes) = member(members, index)?;
                let scores =
                    arrays::scores(arrays, options)?.ok_or_else(|| Error::value("there are no scores"))?;
                Ok(Values::Known(match nodes {
                    Some(nodes) => within(scores.nodes(), &nodes).map(|()| scores.of_nodes(nodes))?,
                    None => scores,
                }))
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
                    (1, _) => Ok(present.remove(0).1),
                    (0, _) => {
                        Err(Error::value("there are no scores").at(line).allowed("one of logits, probs, set"))
                    }
                    (_, names) => Err(Error::value("there are several kinds of scores")
                        .at(line)
                        .found(names)
                        .allowed("exactly one")),
                }
            }
        }
    }

    /// The labels of one unit, as a set.
    pub fn labels(&self, index: usize) -> Result<Values> {
        let values = |values: &[f64]| {
            node_values::labels(values)?;
            Ok(Values::Known(ScoreValues::one_row(Kind::Set, values.to_vec())))
        };
        match self {
            Self::Text(ScoreFormat::Lines, bytes) => Ok(Values::Lines(Kind::Set, lines::parse(bytes)?)),
            Self::Text(format, bytes) => Ok(Values::Text(*format, bytes.clone())),
            Self::Array(array) => {
                let labels = node_values::labels_of(array, "labels")?;
                Ok(Values::Known(as_set(&labels)))
            }
            Self::Arrays(members) => {
                let (arrays, nodes) = member(members, index)?;
                let labels = arrays::labels(arrays)?.ok_or_else(|| {
                    Error::value("there are no labels")
                        .found(format!("keys {}", arrays.keys().join(", ")))
                        .allowed("labels or y")
                })?;
                match nodes {
                    Some(nodes) => {
                        within(labels.len(), &nodes).map(|()| Values::Known(as_set(&labels[nodes])))
                    }
                    None => Ok(Values::Known(as_set(&labels))),
                }
            }
            Self::Units(units) => {
                let columns = &units[index];
                let at_line = |error: Error| error.at(format!("line {}", columns.line));
                match (&columns.labels, &columns.set) {
                    (Some(labels), None) => values(labels).map_err(at_line),
                    (None, Some(NodeSet::Values(set))) => values(set).map_err(at_line),
                    (None, Some(NodeSet::Listed(nodes))) => Ok(Values::Chosen(nodes.clone())),
                    (Some(_), Some(_)) => Err(at_line(
                        Error::value("both labels and a set are given").allowed("one of the two"),
                    )),
                    (None, None) => Err(at_line(Error::value("there are no labels"))),
                }
            }
        }
    }
}

/// The container that holds the unit of an index, and the unit's nodes in it.
fn member(
    members: &[(Arrays, Option<Boundaries>)],
    mut index: usize,
) -> Result<(&Arrays, Option<std::ops::Range<usize>>)> {
    for (arrays, boundaries) in members {
        let count = boundaries.as_ref().map_or(1, Boundaries::graphs);
        if index < count {
            return Ok((arrays, boundaries.as_ref().map(|boundaries| boundaries.nodes(index))));
        }
        index -= count;
    }
    Err(Error::value("the file holds fewer units than it announced"))
}

fn within(length: usize, nodes: &std::ops::Range<usize>) -> Result<()> {
    if nodes.end <= length {
        return Ok(());
    }
    Err(Error::value("the boundaries reach beyond the values").found(nodes.end).allowed(length))
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

    /// One value a node, now that their number is known.
    pub fn for_nodes(self, nodes: u64) -> Result<ScoreValues> {
        match self {
            Self::Known(values) => Ok(values),
            Self::Lines(kind, values) => {
                if values.len() as u64 != nodes {
                    return Err(Error::value("the file must have one line a node")
                        .at(format!("line {}", values.len()))
                        .found(format!("{} values", values.len()))
                        .allowed(format!("{nodes} values, the graph has {nodes} nodes")));
                }
                let wrong = |value: &f64| !matches!(*value, 0.0 | 1.0);
                match values.iter().position(wrong).filter(|_| kind == Kind::Set) {
                    Some(node) => Err(Error::value("a set holds another value than 0 and 1")
                        .at(format!("line {}, node {node}", node + 1))
                        .found(values[node])
                        .allowed("0 and 1")),
                    None => Ok(ScoreValues::one_row(kind, values)),
                }
            }
            Self::Text(ScoreFormat::Cover, bytes) => cover::parse(&bytes, nodes).map(|set| as_set(&set)),
            Self::Text(_, bytes) => node_list::parse(&bytes, nodes).map(|set| as_set(&set)),
            Self::Chosen(chosen) => {
                let mut set = vec![false; nodes as usize];
                for node in chosen {
                    let slot =
                        usize::try_from(node).ok().and_then(|node| set.get_mut(node)).ok_or_else(|| {
                            Error::value("a chosen node is out of range")
                                .found(node)
                                .allowed(format!("0 to N-1 with N = {nodes}"))
                        })?;
                    if std::mem::replace(slot, true) {
                        return Err(Error::value("a node is chosen twice").at(format!("node {node}")));
                    }
                }
                Ok(as_set(&set))
            }
        }
    }
}
