//! Which units a run has: every input opened far enough to name the units inside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Result};
use calipers_io::compress::inflate;
use calipers_io::limits;

use super::array_files;
use super::json::{self, Placed};
use crate::file_cache::FileCache;
use crate::inputs::Inputs;
use crate::stdin;
use crate::walk::{self, Found, has_ending};

/// The endings of files with units.
pub const ENDINGS: [&str; 5] = [".npz", ".safetensors", ".pt", ".json", ".jsonl"];

const INPUT: &str = "input";

/// One unit and where it is.
pub(super) struct UnitPlan {
    pub(super) name: String,
    /// The file as messages show it.
    pub(super) shown: String,
    place: usize,
    record: usize,
    /// Its number among the units of the record.
    pub(super) number: usize,
}

/// Every unit of a run and the files they are in.
pub(super) struct Plan {
    pub(super) units: Vec<UnitPlan>,
    files: FileCache<Found, Vec<Placed>>,
}

impl Plan {
    /// Finds files and names units. Text files are read whole and kept, for only that tells their
    /// units; of array files no more than names and boundaries is read.
    pub(super) fn new(given: &[PathBuf], inputs: &Inputs) -> Result<Self> {
        let mut found = Vec::new();
        for path in given {
            found.extend(discover(path)?.into_iter().filter(|found| inputs.may_read(&found.shown)));
        }
        let files = FileCache::new(found);
        let mut units = Vec::new();
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for (place, found) in files.files().enumerate() {
            let shown = found.shown.as_str();
            let in_file = |error: Error| error.in_file(shown);
            let records = if is_text(found) {
                files.keep(place, |found| load(found, inputs)).map_err(in_file)?
            } else {
                Arc::new(vec![outline(found).map_err(in_file)?])
            };
            for (record, placed) in records.iter().enumerate() {
                let within = placed.place.as_ref().map_or(String::new(), |at| format!(", {at}"));
                for number in 0..placed.record.units() {
                    let name = placed.record.name(number, found.stem(&ENDINGS));
                    check_name(&name).map_err(|error| error.in_file(format!("{shown}{within}")))?;
                    let here = format!("{shown}{within}");
                    if let Some(before) = seen.insert(name.clone(), here.clone()) {
                        return Err(Error::new(ErrorKind::Duplicate, "two units have one name")
                            .in_file(shown)
                            .at(format!("unit {name}"))
                            .found(format!("in {before} and in {here}"))
                            .advice("rename one of them"));
                    }
                    units.push(UnitPlan { name, shown: shown.to_owned(), place, record, number });
                }
            }
        }
        if units.is_empty() {
            let paths: Vec<String> = given.iter().map(|path| path.display().to_string()).collect();
            return Err(Error::value("no unit was found").in_file(paths.join(", ")).allowed(format!(
                "files that end in {}, folders of them, or - for JSON lines",
                ENDINGS.join(", ")
            )));
        }
        Ok(Self { units, files })
    }

    /// Announces that a unit will be read.
    pub(super) fn reserve(&self, unit: &UnitPlan) {
        self.files.reserve(unit.place);
    }

    /// Workers the record of a unit to `measure`.
    pub(super) fn with_record<T>(
        &self,
        unit: &UnitPlan,
        inputs: &Inputs,
        measure: impl FnOnce(&super::record::Record) -> Result<T>,
    ) -> Result<T> {
        let records = self.files.take(unit.place, |found| load(found, inputs))?;
        measure(&records[unit.record].record)
    }
}

fn is_text(found: &Found) -> bool {
    [".json", ".jsonl"].iter().any(|ending| has_ending(&found.name, ending))
}

/// Everything inside a file, recorded as read.
fn load(found: &Found, inputs: &Inputs) -> Result<Vec<Placed>> {
    if is_text(found) {
        let bytes = inputs.read_found(found)?;
        let bytes = inflate(&bytes, found.compression, limits::INFLATED)?;
        return if has_ending(&found.name, ".json") {
            json::parse(&bytes)
        } else {
            json::parse_lines(&bytes)
        };
    }
    let record = array_files::read(found, inputs.open_found(found)?)?;
    Ok(vec![Placed { place: None, record }])
}

/// The names and boundaries of an array file, with none of its evidence.
fn outline(found: &Found) -> Result<Placed> {
    Ok(Placed { place: None, record: array_files::outline(found, found.open()?)? })
}

fn discover(given: &Path) -> Result<Vec<Found>> {
    if stdin::is_stdin(given) {
        return Ok(vec![stdin::found(INPUT, |_| Some(".jsonl"))?]);
    }
    std::fs::metadata(given).map_err(|error| {
        Error::io(format!("the file cannot be opened: {}", error.kind())).in_file(given.display())
    })?;
    let known = |name: &str| ENDINGS.iter().any(|ending| has_ending(name, ending));
    let found = walk::files(given, INPUT, &known)?;
    if let Some(found) = found.iter().find(|found| !known(&found.name)) {
        return Err(Error::value("no ending that says what the file holds")
            .in_file(&found.shown)
            .allowed(ENDINGS.join(", ")));
    }
    Ok(found)
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::value("an empty unit name"));
    }
    if name.len() > limits::NAME {
        return Err(Error::value("a unit name is too long")
            .found(format!("{} bytes", name.len()))
            .allowed(format!("at most {} bytes", limits::NAME)));
    }
    Ok(())
}
