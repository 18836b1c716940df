//! From paths to a list of units: which file holds the graph, the scores and the labels of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use calipers_core::spelling::listed;
use calipers_core::{Error, ErrorKind, Result};
use calipers_io::array::{self, Reader};
use calipers_io::format::{Formats, instead_of};
use calipers_io::{graph, limits, place, score};

use super::beside::{give_optima, names_agree, rename, take_results};
use super::containers::{self, Container, Part};
use super::graph_files::{self, GraphFile, GraphPath};
use super::node_files::{self, NodeFile, Role};
use super::options::{Labels, Options};
use crate::array_file;
use crate::file_cache::FileCache;
use crate::inputs::Inputs;
use crate::run::{self, Named};
use crate::stdin;
use crate::walk::{self, Found};

/// Every unit of a run, in key order, and the files behind them.
#[derive(Default)]
pub struct Plan {
    /// The units.
    pub units: Vec<UnitPlan>,
    /// Array files that hold whole units.
    pub arrays: FileCache<Found, Vec<Container>>,
    /// Graph files.
    pub graphs: FileCache<GraphPath, GraphFile>,
    /// Score files.
    pub scores: FileCache<Found, NodeFile>,
    /// Label files.
    pub labels: FileCache<Found, NodeFile>,
}

/// Where the evidence of one unit is.
pub struct UnitPlan {
    /// The unit's name.
    pub name: String,
    /// The file that first names it, for messages.
    pub shown: String,
    /// Where graph, scores and labels are.
    pub at: UnitAt,
    /// The known optimum, by option.
    pub optimum: Option<u64>,
}

impl Named for UnitPlan {
    fn name(&self) -> &str {
        &self.name
    }
}

impl UnitPlan {
    /// The unit in words, for messages.
    pub fn place(&self) -> String {
        format!("unit {}", self.name)
    }
}

/// Where graph, scores and labels of a unit are.
pub enum UnitAt {
    /// All in one array file.
    Arrays {
        /// The file.
        place: usize,
        /// The unit in it.
        part: Part,
    },
    /// In files of their own.
    Files {
        /// The graph file and the graph in it.
        graph: (usize, Part),
        /// The score file and the unit in it.
        scores: Option<(usize, usize)>,
        /// A chosen set from a benchmark's results.
        chosen: Option<Vec<u64>>,
        /// The label file and the unit in it.
        labels: Option<(usize, usize)>,
    },
}

impl Plan {
    /// Finds and pairs everything the options name.
    pub fn new(options: &Options, inputs: &Inputs, threads: usize) -> Result<Self> {
        let mut plan = if options.graph.is_some() {
            paired(options, inputs, threads)?
        } else {
            from_arrays(options, inputs, threads)?
        };
        sort_and_check(&mut plan.units)?;
        give_optima(&mut plan.units, options, inputs)?;
        plan.keep_readable(inputs);
        if plan.units.is_empty() {
            let given = options.graph.iter().chain(&options.inputs).map(|path| shown(path));
            return Err(Error::value("there are no units to measure")
                .in_file(given.collect::<Vec<_>>().join(" "))
                .found("0 graphs")
                .allowed("at least 1")
                .advice("check that the graphs were written"));
        }
        Ok(plan)
    }

    /// Leaves out the units of which a file may not be read.
    fn keep_readable(&mut self, inputs: &Inputs) {
        let may = |found: &Found| inputs.may_read(&found.shown);
        let Self { arrays, graphs, scores, labels, .. } = &*self;
        let readable = |unit: &UnitPlan| match &unit.at {
            UnitAt::Arrays { place, .. } => may(arrays.file(*place)),
            UnitAt::Files { graph, scores: of_scores, labels: of_labels, .. } => {
                may(&graphs.file(graph.0).found)
                    && of_scores.is_none_or(|(place, _)| may(scores.file(place)))
                    && of_labels.is_none_or(|(place, _)| may(labels.file(place)))
            }
        };
        let kept: Vec<bool> = self.units.iter().map(readable).collect();
        let mut kept = kept.into_iter();
        self.units.retain(|_| kept.next().unwrap_or(true));
    }

    /// Announces the units that will be measured, so that shared files are kept exactly as long as
    /// they are needed.
    pub fn reserve(&self, unit: &UnitPlan) {
        match &unit.at {
            UnitAt::Arrays { place, .. } => self.arrays.reserve(*place),
            UnitAt::Files { graph, scores, labels, .. } => {
                self.graphs.reserve(graph.0);
                scores.iter().for_each(|(place, _)| self.scores.reserve(*place));
                labels.iter().for_each(|(place, _)| self.labels.reserve(*place));
            }
        }
    }
}

fn from_arrays(options: &Options, inputs: &Inputs, threads: usize) -> Result<Plan> {
    let wanted = |name: &str| array_file::reader(name).is_some_and(|reader| reader.has_names());
    let endings = array::FORMATS.endings_where(Reader::has_names).join(" ");
    let mut files = Vec::new();
    for input in &options.inputs {
        let found = files_at(input, "input", inputs, &wanted, &array::FORMATS)?;
        if found.is_empty() {
            return Err(Error::value("the folder holds no array files")
                .in_file(input.display())
                .allowed(&endings)
                .advice("other graph formats are given as --graph FOLDER"));
        }
        if let Some(other) = found.iter().find(|found| !wanted(&found.name) && found.column.is_none()) {
            return Err(Error::value("not an array file")
                .in_file(&other.shown)
                .allowed(&endings)
                .advice(instead_of(&other.name).unwrap_or("other graph formats are given as --graph FILE")));
        }
        files.extend(found);
    }
    let mut units = Vec::new();
    let parts = run::in_order(&files, inputs.openers(threads), |found| {
        // A file that does not say what it holds is named as the one unit that most files are.
        let stem = array::FORMATS.stem(&found.name);
        let parts = containers::units(found, stem, inputs).map_err(|error| error.in_file(&found.shown));
        inputs.unless_left_out(stem, parts)
    })?;
    for ((place, found), parts) in files.iter().enumerate().zip(parts) {
        for (name, part) in parts.unwrap_or_default() {
            let at = UnitAt::Arrays { place, part };
            units.push(UnitPlan { name, shown: found.shown.clone(), at, optimum: None });
        }
    }
    if let Some(path) = &options.names {
        rename(&mut units, path, inputs)?;
    }
    Ok(Plan { units, arrays: FileCache::new(files), ..Plan::default() })
}

fn paired(options: &Options, inputs: &Inputs, threads: usize) -> Result<Plan> {
    let graph_path = options.graph.as_deref().unwrap_or(Path::new(""));
    let graphs = graphs_at(graph_path, options, inputs)?;
    let mut units = Vec::new();
    let paths: Vec<(usize, &GraphPath)> = graphs.files().enumerate().collect();
    let found = run::in_order(&paths, inputs.openers(threads), |(place, path)| {
        let load = |path: &GraphPath, inputs: &Inputs| path.load(inputs, options);
        // Of several such files each is read once more when it is measured, instead of all being held.
        let alone = paths.len() == 1 || path.has_lines();
        let read = match path.is_counted() {
            false => Ok(None),
            true if alone => graphs.keep(*place, inputs, load).map(Some),
            true => path.load(&Inputs::default(), options).map(|file| Some(Arc::new(file))),
        };
        let of_file = read.and_then(|read| path.graphs(read.as_deref(), inputs));
        let alone = stripped(graph::FORMATS.stem(&path.found.name), &options.pair_strip);
        inputs.unless_left_out(alone, of_file.map_err(|error| error.in_file(&path.found.shown)))
    })?;
    for ((place, path), of_file) in paths.into_iter().zip(found) {
        let shown = &path.found.shown;
        for (name, part) in of_file.unwrap_or_default() {
            let at = UnitAt::Files { graph: (place, part), scores: None, chosen: None, labels: None };
            let name = stripped(&name, &options.pair_strip).to_owned();
            units.push(UnitPlan { name, shown: shown.clone(), at, optimum: None });
        }
    }
    let mut plan = Plan { units, graphs, ..Plan::default() };
    // Names given by option are those that scores and labels use.
    if let Some(path) = &options.names {
        rename(&mut plan.units, path, inputs)?;
    }
    if let Some(path) = &options.scores {
        plan.scores = node_files_in(path, "scores", graph_path, options, inputs)?;
        let found =
            pair(&plan.units, &plan.scores, Role::Scores, (graph_path, path), options, inputs, threads)?;
        let without = plan.units.iter().zip(&found).filter(|(_, at)| at.is_none());
        let missing: Vec<&str> = without.map(|(unit, _)| unit.name.as_str()).collect();
        let error = |names: &[&str]| unmatched("graphs without scores", names, graph_path, path);
        if !missing.is_empty() && !inputs.goes_on() {
            return Err(error(&missing));
        }
        missing.iter().try_for_each(|name| inputs.leave_out(name, error(&[name])))?;
        for (unit, place) in plan.units.iter_mut().zip(found) {
            if let UnitAt::Files { scores, .. } = &mut unit.at {
                *scores = place;
            }
        }
        let scored = |unit: &UnitPlan| matches!(unit.at, UnitAt::Files { scores: Some(_), .. });
        plan.units.retain(scored);
    }
    if let Some(Labels::At(path)) = &options.labels {
        plan.labels = node_files_in(path, "labels", graph_path, options, inputs)?;
        let found =
            pair(&plan.units, &plan.labels, Role::Labels, (graph_path, path), options, inputs, threads)?;
        if found.iter().all(Option::is_none) {
            return Err(Error::value("there are no labels")
                .in_file(shown(path))
                .found(format!("labels for none of {} graphs", plan.units.len()))
                .allowed("a column or key labels or set")
                .advice("add the labels, or leave out --labels"));
        }
        for (unit, place) in plan.units.iter_mut().zip(found) {
            if let UnitAt::Files { labels, .. } = &mut unit.at {
                *labels = place;
            }
        }
    }
    if let Some(path) = options.inputs.first() {
        take_results(&mut plan.units, path, inputs)?;
    }
    Ok(plan)
}

fn graphs_at(path: &Path, options: &Options, inputs: &Inputs) -> Result<FileCache<GraphPath, GraphFile>> {
    let wanted = |name: &str| match options.graph_format {
        Some(format) => format.ending_of(name).is_some(),
        None => graph::FORMATS.by_name(name).is_some(),
    };
    let found = files_at(path, "graph", inputs, &wanted, &graph::FORMATS)?;
    let found = if options.graph_format.is_none() { graph_files::of_data_set(found)? } else { found };
    if found.is_empty() {
        return Err(Error::value("the folder holds no graph files")
            .in_file(path.display())
            .allowed(
                options.graph_format.map_or_else(|| graph::FORMATS.endings(), |f| f.endings.into()).join(" "),
            )
            .advice("name the folder of the graphs; --graph-format says what their endings do not"));
    }
    let paths: Result<Vec<GraphPath>> =
        found.into_iter().map(|found| GraphPath::new(found, options)).collect();
    Ok(FileCache::new(paths?))
}

fn node_files_in(
    path: &Path,
    word: &str,
    graphs: &Path,
    options: &Options,
    inputs: &Inputs,
) -> Result<FileCache<Found, NodeFile>> {
    let wanted = |name: &str| score::FORMATS.by_name(name).is_some();
    let found = files_at(path, word, inputs, &wanted, &score::FORMATS)?;
    if place::is_folder(path)
        && path == graphs
        && options.graph_format.is_none()
        && let Some(file) = found.iter().find(|found| graph::FORMATS.by_name(&found.name).is_some())
    {
        return Err(Error::value("one folder for graphs and scores, and an ending that both can have")
            .in_file(&file.shown)
            .advice("put graphs and scores in folders of their own"));
    }
    if found.is_empty() {
        return Err(Error::value("the folder holds no score or label files")
            .in_file(path.display())
            .allowed(score::FORMATS.endings().join(" "))
            .advice("name the folder of the scores or labels"));
    }
    Ok(FileCache::new(found))
}

/// For every unit, where a node file speaks of it. A mention of an unknown unit is an error.
fn pair(
    units: &[UnitPlan],
    cache: &FileCache<Found, NodeFile>,
    role: Role,
    (graph_path, path): (&Path, &Path),
    options: &Options,
    inputs: &Inputs,
    threads: usize,
) -> Result<Vec<Option<(usize, usize)>>> {
    let by_name: BTreeMap<&str, usize> =
        units.iter().enumerate().map(|(i, unit)| (unit.name.as_str(), i)).collect();
    let files = cache.files().count();
    let graph_files = units.iter().map(|unit| &unit.shown).collect::<BTreeSet<_>>().len();
    let mut found: Vec<Option<(usize, usize)>> = vec![None; units.len()];
    let mut unknown = Vec::new();
    let stem = |file: &Found| stripped(score::FORMATS.stem(&file.name), &options.pair_strip).to_owned();
    let places: Vec<(usize, &Found)> = cache.files().enumerate().collect();
    let mentions = run::in_order(&places, inputs.openers(threads), |(place, file)| {
        if !node_files::names_units_inside(file) {
            return Ok(vec![node_files::Mention::alone()]);
        }
        let read = cache.keep(*place, inputs, node_files::load);
        let mentions = read.and_then(|read| read.mentions(&stem(file), role));
        let mentions = mentions.map_err(|error| error.in_file(&file.shown));
        Ok(inputs.unless_left_out(&file.shown, mentions)?.unwrap_or_default())
    })?;
    for ((place, file), mentions) in places.into_iter().zip(mentions) {
        let stem = stem(file);
        let alone = units.len() == 1 && files == 1 && mentions.len() == 1;
        // One file of graphs and one of scores pair whatever their names.
        let packs = graph_files == 1 && files == 1 && mentions.len() == units.len();
        for mention in mentions {
            let index = match &mention.unit {
                Some(_) if packs && mention.counted => Some(mention.index),
                Some(name) => by_name.get(name.as_str()).copied(),
                None if alone => Some(0),
                None => by_name.get(stem.as_str()).copied(),
            };
            let Some(index) = index else {
                match mention.unit {
                    Some(name) if !mention.place.is_empty() => {
                        return Err(Error::value(format!("unknown unit '{name}'"))
                            .in_file(&file.shown)
                            .at(mention.place)
                            .found(name)
                            .allowed(format!("the units of {}, {} in all", graph_path.display(), units.len()))
                            .advice(names_agree(units)));
                    }
                    _ => unknown.push(stem.clone()),
                }
                continue;
            };
            if let Some((other, _)) = found[index].replace((place, mention.index)) {
                return Err(Error::new(
                    ErrorKind::Duplicate,
                    format!("unit '{}' is given twice", units[index].name),
                )
                .found(format!("{} and {}", cache.file(other).shown, file.shown))
                .allowed("every unit once")
                .advice("take one of them away"));
            }
        }
    }
    let what = if role == Role::Scores { "scores without a graph" } else { "labels without a graph" };
    let unknown: Vec<&str> = unknown.iter().map(String::as_str).collect();
    if !unknown.is_empty() && !inputs.goes_on() {
        return Err(unmatched(what, &unknown, graph_path, path));
    }
    let alone = |name: &&str| inputs.leave_out(name, unmatched(what, &[name], graph_path, path));
    unknown.iter().try_for_each(alone)?;
    Ok(found)
}

/// The error for names that stand on one side only.
pub fn unmatched(what: &str, names: &[&str], graphs: &Path, others: &Path) -> Error {
    Error::value(format!("{what}: {}", names.len()))
        .found(listed(names, 5))
        .at(format!("{} and {}", graphs.display(), others.display()))
        .allowed("one for each graph, under the same name")
        .advice("files pair by name without their endings; --pair-strip TEXT removes what differs")
}

fn stripped<'a>(name: &'a str, strip: &[String]) -> &'a str {
    strip
        .iter()
        .find_map(|text| name.strip_suffix(text.as_str()).filter(|rest| !rest.is_empty()))
        .unwrap_or(name)
}

fn sort_and_check(units: &mut [UnitPlan]) -> Result<()> {
    units.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(long) = units.iter().find(|unit| unit.name.len() > limits::NAME) {
        return Err(Error::value("a unit name is too long")
            .in_file(&long.shown)
            .found(format!("{} bytes", long.name.len()))
            .allowed(format!("{} bytes", limits::NAME))
            .advice("give it a shorter name"));
    }
    match units.windows(2).find(|pair| pair[0].name == pair[1].name) {
        None => Ok(()),
        Some(pair) => {
            Err(Error::new(ErrorKind::Duplicate, format!("unit '{}' occurs twice in this run", pair[0].name))
                .found(format!("{} and {}", pair[0].shown, pair[1].shown))
                .allowed("every name once")
                .advice("give every unit a name of its own"))
        }
    }
}

/// A path as messages and reports write it.
pub fn shown(path: &Path) -> String {
    path.display().to_string().replace(std::path::MAIN_SEPARATOR, "/")
}

/// The files that a path on the command line stands for.
fn files_at<R>(
    path: &Path,
    word: &str,
    inputs: &Inputs,
    wanted: &dyn Fn(&str) -> bool,
    formats: &Formats<R>,
) -> Result<Vec<Found>> {
    if stdin::is_stdin(path) {
        return Ok(vec![stdin::found(word, formats)?]);
    }
    walk::files(path, word, inputs, wanted)
}
