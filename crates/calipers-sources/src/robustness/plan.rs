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
use super::options::Options;
use super::pair::OwnedPair;
use super::run::Run;
use crate::array_file;
use crate::file_cache::FileCache;
use crate::inputs::Inputs;
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

/// One file and how its keys make pairs.
struct RunFile {
    found: Found,
    run: String,
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
    options: &'a Options,
    files: FileCache<RunFile, Loaded>,
}

impl<'a> Plan<'a> {
    /// Finds files and names pairs; of the arrays only budgets are read.
    pub(super) fn new(options: &'a Options) -> Result<Self> {
        let mut files = Vec::new();
        for path in &options.inputs {
            for found in discover(path)? {
                let file = outline(&found, options).map_err(|error| error.in_file(&found.shown))?;
                files.push(RunFile { run: array::FORMATS.stem(&found.name).to_owned(), layout: file, found });
            }
        }
        let mut units = Vec::new();
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for (place, file) in files.iter().enumerate() {
            let shown = file.found.shown.as_str();
            for (number, condition) in file.layout.conditions.iter().enumerate() {
                let name = unit_name(&file.run, options.attack.as_deref(), &condition.budget);
                check_name(&name).map_err(|error| error.in_file(shown))?;
                if let Some(before) = seen.insert(name.clone(), shown) {
                    return Err(Error::new(ErrorKind::Duplicate, "two units have one name")
                        .in_file(shown)
                        .at(format!("unit {name}"))
                        .found(format!("in {before} and in {shown}"))
                        .advice("rename one of the files, or name the attacks in states of their own"));
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
        Ok(Self { units, options, files: FileCache::new(files) })
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
        let loaded = self.files.take(unit.place, |file| self.load(file, inputs))?;
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

/// How the keys of a file make pairs.
fn outline(found: &Found, options: &Options) -> Result<Layout> {
    let arrays = open(found, found.open()?)?;
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
    Layout::new(&keys, &budgets)
}

fn discover(given: &Path) -> Result<Vec<Found>> {
    let known = |name: &str| array_file::reader(name).as_ref().is_some_and(is_run);
    let found = if stdin::is_stdin(given) {
        vec![stdin::found("input", &array::FORMATS)?]
    } else {
        walk::files(given, "input", &known)?
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
