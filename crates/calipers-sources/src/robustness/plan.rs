//! Which pairs a run over array files has: every file opened far enough to name them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Result};
use calipers_io::array::{self, Arrays, Reader, Source};
use calipers_io::file::InputFile;
use calipers_io::limits;
use calipers_metrics::robustness::unit_name;

use super::arrays::plain_budgets;
use super::keys::{ATTACKED, Layout, Plain};
use super::names::Names;
use super::options::Options;
use super::pair::OwnedPair;
use super::run::Run;
use crate::array_file;
use crate::file_cache::FileCache;
use crate::inputs::Inputs;
use crate::run;
use crate::stdin;
use crate::walk::{self, Found};

/// Whether files hold a run: one set of arrays by name.
fn is_run(reader: &Reader) -> bool {
    matches!(reader, Reader::Named(_))
}

/// The endings of files with runs, for messages.
fn endings() -> String {
    array::FORMATS.endings_where(is_run).join(" or ")
}

/// One file, what it is of, and how its keys make pairs.
struct RunFile {
    found: Found,
    run: String,
    model: Option<String>,
    layout: Layout,
}

/// A file that is being read.
struct Loaded {
    run: Run,
    /// The file behind it, where its arrays are still read from the disk.
    file: Option<Arc<InputFile>>,
}

/// One pair and where it is.
pub(super) struct UnitPlan {
    pub(super) name: String,
    /// The file as messages show it.
    pub(super) shown: String,
    place: usize,
    condition: usize,
}

/// Every pair of a run and the files they are in.
pub(super) struct Plan<'a> {
    pub(super) units: Vec<UnitPlan>,
    /// The name of the model that all files are of, where there is one.
    pub(super) model: Option<String>,
    options: &'a Options,
    files: FileCache<RunFile, Loaded>,
}

impl<'a> Plan<'a> {
    /// Finds files and names pairs; of the arrays only budgets are read.
    pub(super) fn new(options: &'a Options, inputs: &Inputs, threads: usize) -> Result<Self> {
        let mut files = Vec::new();
        for path in &options.inputs {
            let found = discover(path, inputs)?;
            let outlines = run::in_order(&found, inputs.openers(threads), |found| {
                let outline = outline(found, options, inputs).map_err(|error| error.in_file(&found.shown));
                inputs.unless_left_out(&found.shown, outline)
            })?;
            files.extend(outlines.into_iter().flatten());
        }
        if let (Some(run), [_, second, ..]) = (&options.run, &files[..]) {
            return Err(Error::usage("--run names one run")
                .found(format!("{run}, and {} files", files.len()))
                .in_file(&second.found.shown)
                .advice("name several with --run-by regex:PATTERN"));
        }
        let model = one_model(&files, options.protocol.model.as_deref())?;
        let mut units = Vec::new();
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for (place, file) in files.iter().enumerate() {
            let shown = file.found.shown.as_str();
            for (number, condition) in file.layout.conditions.iter().enumerate() {
                let name = unit_name(&file.run, options.attack.as_deref(), &condition.budget);
                check_name(&name).map_err(|error| error.in_file(shown))?;
                if let Some(before) = seen.insert(name.clone(), shown) {
                    return Err(Error::new(ErrorKind::Duplicate, "two files hold one run")
                        .in_file(shown)
                        .at(format!("unit {name}"))
                        .found(format!("in {before} and in {shown}"))
                        .advice(
                            "rename one of the files, name runs with --run-by or the key `run`, or measure attacks in \
                             states of their own",
                        ));
                }
                units.push(UnitPlan { name, shown: shown.to_owned(), place, condition: number });
            }
        }
        if units.is_empty() {
            let paths: Vec<String> = options.inputs.iter().map(|path| path.display().to_string()).collect();
            return Err(Error::value("no run was found").in_file(paths.join(", ")).allowed(format!(
                "files that end in {}, folders of them, or - for one on standard input",
                endings()
            )));
        }
        Ok(Self { units, model, options, files: FileCache::new(files) })
    }

    /// Announces that a pair will be read.
    pub(super) fn reserve(&self, unit: &UnitPlan) {
        self.files.reserve(unit.place);
    }

    /// The keys of a pair's file that nothing reads.
    pub(super) fn unknown_keys(&self, unit: &UnitPlan) -> &[String] {
        &self.files.file(unit.place).layout.unknown
    }

    /// Reads a pair.
    pub(super) fn pair(&self, unit: &UnitPlan, inputs: &Inputs) -> Result<OwnedPair> {
        let file = self.files.file(unit.place);
        let loaded = self.files.take(unit.place, inputs, |file, inputs| self.load(file, inputs))?;
        let condition = &file.layout.conditions[unit.condition];
        let pair = loaded.run.pair(&file.run, self.options.attack.as_deref(), condition)?;
        if let Some(on_disk) = &loaded.file {
            on_disk.unchanged()?;
        }
        Ok(OwnedPair { file: Some(file.found.shown.clone()), ..pair })
    }

    fn load(&self, file: &RunFile, inputs: &Inputs) -> Result<Loaded> {
        let (source, on_disk): (Source, _) = match &file.found.held {
            Some(_) => (inputs.open_found(&file.found)?, None),
            None => {
                let (opened, _) = inputs.stream(&file.found.path, &file.found.shown, &file.found.notes)?;
                (file.found.decompressed(Arc::<InputFile>::clone(&opened))?, Some(opened))
            }
        };
        let arrays = open(&file.found, source)?;
        let run = Run::read(arrays, &file.layout, &self.options.protocol)?;
        Ok(Loaded { run, file: on_disk })
    }
}

fn open(found: &Found, source: Source) -> Result<Arrays> {
    array_file::open(&found.name, source)?.pop().ok_or_else(|| Error::format("the file holds no arrays"))
}

/// What a file is of, and how its keys make pairs.
fn outline(found: &Found, options: &Options, inputs: &Inputs) -> Result<RunFile> {
    let arrays = open(found, inputs.look_into(found)?)?;
    let keys = arrays.keys();
    let budgets = match (keys.iter().any(|key| key == ATTACKED), &options.budget) {
        (true, given) => plain_budgets(&arrays, given.as_ref())?,
        (false, None) => Plain::Unsaid,
        (false, Some(budget)) => {
            return Err(Error::value("--budget is that of a key `attacked`, and there is none")
                .found(format!("--budget {budget}"))
                .advice("leave --budget out: budgets are in the names of the keys"));
        }
    };
    let layout = Layout::new(&keys, &budgets)?;
    let by_name = array::FORMATS.stem(&found.name);
    let told = options.run_by.as_ref().map(|rule| rule.names(by_name)).transpose()?.unwrap_or_default();
    let Names { run, model } = told.or(Names::of_file(&arrays)?);
    let run = options.run.clone().or(run).unwrap_or_else(|| by_name.to_owned());
    Ok(RunFile { found: found.clone(), run, model, layout })
}

/// The model that all files are of: a report of several would take them for repetitions of one.
fn one_model(files: &[RunFile], given: Option<&str>) -> Result<Option<String>> {
    const ADVICE: &str =
        "measure each model on its own with --state, and let `calipers compare` set them side by side";
    let named = files.iter().find_map(|file| Some((file.model.as_deref()?, file)));
    if let Some(given) = given {
        let other = files.iter().find(|file| file.model.as_deref().is_some_and(|name| name != given));
        return match other {
            None => Ok(Some(given.to_owned())),
            Some(file) => Err(Error::value("the file is of another model than --model-name")
                .in_file(&file.found.shown)
                .found(format!(
                    "{given} on the command line, {} in the file",
                    file.model.as_deref().unwrap_or_default()
                ))
                .advice(ADVICE)),
        };
    }
    let mut models: BTreeMap<Option<&str>, &RunFile> = BTreeMap::new();
    for file in files {
        models.entry(file.model.as_deref()).or_insert(file);
    }
    if models.len() < 2 {
        return Ok(named.map(|(name, _)| name.to_owned()));
    }
    let unnamed = models.contains_key(&None);
    let found: Vec<String> = models
        .iter()
        .map(|(name, file)| format!("{} in {}", name.unwrap_or("no name"), file.found.shown))
        .collect();
    let error = Error::value("the files are of several models").found(found.join(", "));
    Err(match unnamed && models.len() == 2 {
        true => error.advice(format!("name the model of all of them with --model-name, or {ADVICE}")),
        false => error.advice(ADVICE),
    })
}

fn discover(given: &Path, inputs: &Inputs) -> Result<Vec<Found>> {
    let known = |name: &str| array_file::reader(name).as_ref().is_some_and(is_run);
    let found = if stdin::is_stdin(given) {
        vec![stdin::found("input", &array::FORMATS)?]
    } else {
        walk::files(given, "input", inputs, &known)?
    };
    match found.iter().find(|found| !known(&found.name)) {
        Some(found) => {
            Err(Error::value("no file of arrays by its ending").in_file(&found.shown).allowed(endings()))
        }
        None => Ok(found),
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.len() > limits::NAME {
        return Err(Error::value("a unit name is too long")
            .found(format!("{} bytes", name.len()))
            .allowed(format!("at most {} bytes", limits::NAME)));
    }
    Ok(())
}
