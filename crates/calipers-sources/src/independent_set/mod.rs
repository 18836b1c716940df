//! Independent sets from files: options into a plan, the plan into units, units into rows.

pub mod arrays;
pub mod beside;
pub mod containers;
pub mod graph_files;
pub mod memory;
pub mod node_files;
pub mod node_values;
pub mod options;
pub mod pack;
pub mod plan;
pub mod rows;

use calipers_core::{Accumulator, Error, Fact, Result};
use calipers_metrics::independent_set::graph::{EdgeSource, Graph, Storage};
use calipers_metrics::independent_set::unit::{Scores, Unit};
use calipers_metrics::independent_set::{Axis, IndependentSet, Kind};

use self::arrays::MatrixEdges;
use self::containers::{ArrayUnit, StoredEdges};
use self::graph_files::FileGraph;
use self::node_files::NodeFile;
use self::node_values::ScoreValues;
use self::options::{Labels, Options};
use self::plan::{Plan, UnitAt, UnitPlan};
use crate::file_cache::FileCache;
use crate::inputs::Inputs;
use crate::run::{self, Work};
use crate::walk::Found;

/// One unit, read and owned.
struct Evidence {
    graph: FileGraph,
    scores: Option<ScoreValues>,
    /// The file of the scores, for messages about their values.
    scores_shown: String,
    labels: Option<Vec<bool>>,
    optimum: Option<u64>,
    /// The file of the optimum, where it is another than that of the unit.
    optimum_shown: Option<String>,
}

/// Measures everything the options name, or one shard of it.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Accumulator<IndependentSet>> {
    options.check()?;
    let inputs = inputs.keep_going(work.keep_going);
    let plan = Plan::new(options, &inputs, work.threads)?;
    let (first, (scores, axis)) = first_kind(&plan, options, &inputs)?;
    if let (Some(said), Some(kind), None) = (options.axis, scores, axis) {
        return Err(Error::value("an axis was named, but the scores have one value per node")
            .in_file(&first.shown)
            .at(format!("unit {}", first.name))
            .found(format!("--axis {}, one row of {}", word(said), word(kind)))
            .allowed("[S,N] or [T,N]")
            .advice("leave out --axis, or give arrays of shape [S,N] or [T,N]"));
    }
    let protocol = IndependentSet { scores, axis, ..options.protocol.clone() };
    let chosen = work.choose(&plan.units, &inputs, &[])?;
    let reading = options.reading();
    let (how, reserve) = ((&inputs, Some(&reading)), |unit: &UnitPlan| plan.reserve(unit));
    let measured = run::measure_all(&protocol, &chosen, work, how, reserve, |unit, inputs, accumulator| {
        let evidence = read(&plan, unit, options, inputs).map_err(|error| error.in_file(&unit.shown))?;
        same_kind(first, unit, (scores, axis), &evidence)?;
        update(accumulator, &unit.name, &evidence, options).map_err(|error| error.in_file(&unit.shown))
    });
    chosen.recorded(measured?, inputs, Some(reading))
}

/// Units that are read one by one: they are looked for once.
pub struct Units {
    options: Options,
    inputs: Inputs,
    plan: Plan,
}

impl Units {
    /// Finds what the options name.
    pub fn find(options: Options, inputs: Inputs) -> Result<Self> {
        options.check()?;
        Ok(Self { plan: Plan::new(&options, &inputs, 1)?, options, inputs })
    }

    /// Reads one unit and passes on the parameters, its graph, scores and labels.
    pub fn with<T>(
        &self,
        name: &str,
        use_it: impl FnOnce(&IndependentSet, &Graph, Option<Scores<'_>>, Option<&[bool]>) -> Result<T>,
    ) -> Result<T> {
        let Self { options, inputs, plan } = self;
        let unit = plan.units.iter().find(|unit| unit.name == name);
        let unit = unit.ok_or_else(|| Error::value("no unit of that name").found(name))?;
        plan.reserve(unit);
        let evidence = read(plan, unit, options, inputs).map_err(|error| error.in_file(&unit.shown))?;
        let stored = &evidence.graph.graph;
        let complement = options.protocol.complement.then(|| stored.complement()).transpose()?;
        let graph = complement.as_ref().unwrap_or(stored);
        let scores = evidence.scores.as_ref();
        let scores = scores.map(|scores| scores.checked(graph.nodes()));
        use_it(&options.protocol, graph, scores.transpose()?, evidence.labels.as_deref())
    }
}

/// The kind of scores that a unit has, and along which axis there are several.
type ScoreKind = (Option<Kind>, Option<Axis>);

/// The first unit, and what its scores are; where units are left out, the first that says it.
fn first_kind<'p>(plan: &'p Plan, options: &Options, inputs: &Inputs) -> Result<(&'p UnitPlan, ScoreKind)> {
    let mut failure = None;
    for unit in &plan.units {
        match kind_of(plan, unit, options, inputs) {
            Ok(kind) => return Ok((unit, kind)),
            Err(error) if !inputs.goes_on() => return Err(error),
            Err(error) => _ = failure.get_or_insert(error),
        }
    }
    Err(failure.unwrap_or_else(|| Error::value("there are no units to measure")))
}

/// What the scores of a unit are. Every shard asks the same unit, so that shards without
/// units have the protocol of the others.
fn kind_of(plan: &Plan, unit: &UnitPlan, options: &Options, inputs: &Inputs) -> Result<ScoreKind> {
    let aside = Inputs::default();
    let named = |error: Error| error.in_file(&unit.shown);
    match &unit.at {
        UnitAt::Arrays { place, part } => {
            let found = plan.arrays.file(*place);
            let keys = containers::keys(found, *part, inputs).map_err(named)?;
            let key = arrays::score_key(&keys, options).map_err(named)?;
            Ok(key.map_or((None, None), |(_, kind, axis)| (Some(kind), axis)))
        }
        UnitAt::Files { chosen: Some(_), .. } => Ok((Some(Kind::Set), None)),
        UnitAt::Files { scores: Some((place, index)), .. } => {
            let named = |error: Error| error.in_file(&plan.scores.file(*place).shown);
            // A file that names its units has been read by now; another one is looked into aside,
            // for a shard may not own it.
            let found = plan.scores.file(*place);
            let file = if node_files::names_units_inside(found) {
                plan.scores.keep(*place, &aside, node_files::load)
            } else {
                node_files::load(found, &aside).map(std::sync::Arc::new)
            };
            let (kind, axis) = file.map_err(named)?.scores(*index, options).map_err(named)?.kind();
            Ok((Some(kind), axis))
        }
        UnitAt::Files { .. } => Ok((None, None)),
    }
}

fn same_kind(
    first: &UnitPlan,
    unit: &UnitPlan,
    expected: (Option<Kind>, Option<Axis>),
    evidence: &Evidence,
) -> Result<()> {
    let found = evidence.scores.as_ref().map_or((None, None), |scores| (Some(scores.kind), scores.axis));
    if found == expected {
        return Ok(());
    }
    Err(Error::value("the units have different kinds of scores")
        .in_file(&unit.shown)
        .found(format!("{} in unit {}, {} in unit {}", shown(expected), first.name, shown(found), unit.name))
        .allowed("one kind and one axis in a run")
        .advice("measure each kind in a run of its own"))
}

/// A kind and an axis in words.
fn shown((kind, axis): (Option<Kind>, Option<Axis>)) -> String {
    let kind = kind.map_or("no scores".into(), word);
    axis.map_or(kind.clone(), |axis| format!("{kind} with {}", word(axis)))
}

/// A kind or an axis as options and keys write it.
fn word(of: impl std::fmt::Debug) -> String {
    format!("{of:?}").to_lowercase()
}

fn read(plan: &Plan, unit: &UnitPlan, options: &Options, inputs: &Inputs) -> Result<Evidence> {
    match &unit.at {
        UnitAt::Arrays { place, part } => {
            let members =
                plan.arrays.take(*place, inputs, |found, inputs| containers::load(found, inputs, options))?;
            let arrays = members[part.member].unit(*part, options)?;
            let evidence = from_arrays(arrays, options)?;
            let optimum = unit.optimum.or(evidence.optimum);
            let optimum_shown = unit.optimum.and(options.optimum_file()).map(plan::shown);
            Ok(Evidence { scores_shown: unit.shown.clone(), optimum, optimum_shown, ..evidence })
        }
        UnitAt::Files { graph, scores, chosen, labels } => {
            let (mut score_values, score_place) =
                node_values_at(&plan.scores, *scores, unit, inputs, |file, index| {
                    file.scores(index, options)
                })?;
            let chosen = || chosen.clone().map(node_files::Values::Chosen);
            score_values = score_values.or_else(chosen);
            let (label_values, label_place) =
                node_values_at(&plan.labels, *labels, unit, inputs, NodeFile::labels)?;
            let known = [&score_values, &label_values];
            let nodes =
                known.into_iter().flatten().find_map(|values| values.nodes()).map(|nodes| nodes as u64);
            let path = plan.graphs.file(graph.0);
            let file = plan.graphs.take(graph.0, inputs, |path, inputs| path.load(inputs, options))?;
            let mut built = file.graph(path.format, graph.1, nodes, options)?;
            drop(file);
            let nodes = built.graph.nodes() as u64;
            let scores_shown = match (scores, options.inputs.first()) {
                (Some((place, _)), _) => plan.scores.file(*place).shown.clone(),
                (None, Some(results)) => plan::shown(results),
                (None, None) => unit.shown.clone(),
            };
            let score_file = |error: Error| error.in_file(&scores_shown).at(&score_place);
            let label_file = |error: Error| match labels {
                Some((place, _)) => error.in_file(&plan.labels.file(*place).shown).at(&label_place),
                None => error,
            };
            let scores =
                score_values.map(|values| values.for_nodes(nodes)).transpose().map_err(score_file)?;
            let labels = match (label_values, &options.labels) {
                (Some(values), _) => {
                    let set = values.for_nodes(nodes).map_err(label_file)?;
                    Some(node_values::labels(&set.values).map_err(label_file)?)
                }
                (None, Some(Labels::InGraph)) => built.labels.take(),
                (None, _) => None,
            };
            let optimum_shown = unit.optimum.and(options.optimum_file()).map(plan::shown);
            Ok(Evidence { graph: built, scores, scores_shown, labels, optimum: unit.optimum, optimum_shown })
        }
    }
}

/// The values of a unit in a node file, where it has any there, and their place for messages.
fn node_values_at(
    files: &FileCache<Found, NodeFile>,
    at: Option<(usize, usize)>,
    unit: &UnitPlan,
    inputs: &Inputs,
    values: impl Fn(&NodeFile, usize) -> Result<node_files::Values>,
) -> Result<(Option<node_files::Values>, String)> {
    let mut shown = unit.place();
    let Some((place, index)) = at else { return Ok((None, shown)) };
    let named = |error: Error| error.in_file(&files.file(place).shown);
    let file = files.take(place, inputs, node_files::load).map_err(named)?;
    let values = values(&file, index).map_err(|error| named(error.at(&shown)))?;
    shown.extend(file.place(index).map(|place| format!(", {place}")));
    Ok((Some(values), shown))
}

/// The evidence that the arrays of one unit give.
fn from_arrays(arrays: ArrayUnit, options: &Options) -> Result<Evidence> {
    let nodes = arrays.nodes.or(options.num_nodes).ok_or_else(graph_files::unknown_size)?;
    let graph = match &arrays.edges {
        StoredEdges::Matrix(array) => {
            let edges = MatrixEdges::new(array)?;
            // Scores and labels of that length are in memory already; a bare number is not.
            let counted = arrays.scores.is_some() || arrays.labels.is_some();
            let nodes = if counted { nodes } else { graph_files::plausible(nodes, edges.entries())? };
            Graph::build(nodes, Storage::Both, &edges)?
        }
        StoredEdges::Pairs(pairs) => Graph::build(nodes, Storage::Both, &pairs.as_slice())?,
    };
    Ok(Evidence {
        graph: FileGraph { graph, labels: None, noticed: Vec::new() },
        scores: arrays.scores,
        scores_shown: String::new(),
        labels: arrays.labels,
        optimum: arrays.optimum,
        optimum_shown: None,
    })
}

fn update(
    accumulator: &mut Accumulator<IndependentSet>,
    name: &str,
    evidence: &Evidence,
    options: &Options,
) -> Result<()> {
    let stored = &evidence.graph.graph;
    if let Some(node) = stored.first_self_loop().filter(|_| options.refuse_self_loops) {
        return Err(Error::value("the graph has a self loop")
            .at(format!("unit {name}, node {node}"))
            .found(format!("an entry ({node}, {node})"))
            .allowed("entries between two nodes")
            .advice("--self-loops drop leaves loops out"));
    }
    let complement = accumulator.protocol().complement.then(|| stored.complement()).transpose()?;
    let graph = complement.as_ref().unwrap_or(stored);
    let at_unit = |error: Error| error.at(format!("unit {name}"));
    let scores = evidence.scores.as_ref().map(|scores| {
        let checked = scores.checked(graph.nodes()).map_err(at_unit);
        // Arrays in memory have no file.
        checked.map_err(|error| match evidence.scores_shown.as_str() {
            "" => error,
            file => error.in_file(file),
        })
    });
    let view = Unit::new(graph, scores.transpose()?, evidence.labels.as_deref(), evidence.optimum);
    let too_large = evidence.optimum.is_some_and(|optimum| optimum > graph.nodes() as u64);
    let view = view.map_err(at_unit).map_err(|error| match &evidence.optimum_shown {
        Some(file) if too_large => error.in_file(file),
        _ => error,
    });
    accumulator.update(name, view?)?;
    for (code, detail) in &evidence.graph.noticed {
        let fact = Fact { code: (*code).into(), unit: name.into(), detail: detail.as_str().into() };
        accumulator.provenance.facts.insert(fact);
    }
    Ok(())
}
