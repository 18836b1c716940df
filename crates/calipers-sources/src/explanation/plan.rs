//! Which units a run has: every input opened far enough to name the units inside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Result};
use calipers_io::array::{self, Reader};
use calipers_io::limits;
use calipers_io::score::{RECORDS, Records};

use super::array_files;
use super::json::{self, Placed};
use crate::array_file;
use crate::file_cache::FileCache;
use crate::inputs::Inputs;
use crate::run;
use crate::stdin;
use crate::walk::{self, Found};

/// The endings of files with units.
fn endings() -> Vec<&'static str> {
    let mut endings = array::FORMATS.endings_where(Reader::has_names);
    endings.extend(RECORDS.endings());
    endings
}

/// How a text file is written; none for a file of arrays.
fn records(name: &str) -> Option<Records> {
    RECORDS.by_name(name).map(|format| format.reader)
}

fn is_known(name: &str) -> bool {
    records(name).is_some() || array_file::reader(name).is_some_and(|reader| reader.has_names())
}

/// The name of a file without the ending of its format.
fn stem(name: &str) -> &str {
    if records(name).is_some() { RECORDS.stem(name) } else { array::FORMATS.stem(name) }
}

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
    pub(super) fn new(given: &[PathBuf], inputs: &Inputs, threads: usize) -> Result<Self> {
        let mut found = Vec::new();
        for path in given {
            found.extend(discover(path, inputs)?.into_iter().filter(|found| inputs.may_read(&found.shown)));
        }
        let files = FileCache::new(found);
        let mut units = Vec::new();
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        let places: Vec<(usize, &Found)> = files.files().enumerate().collect();
        let outlines = run::in_order(&places, inputs.openers(threads), |(place, found)| {
            let shown = found.shown.as_str();
            let in_file = |error: Error| error.in_file(shown);
            let text = records(&found.name).is_some();
            let records = if text {
                files.keep(*place, inputs, load).map_err(in_file)
            } else {
                outline(found, inputs).map(|outline| Arc::new(vec![outline])).map_err(in_file)
            };
            inputs.unless_left_out(if text { shown } else { stem(&found.name) }, records)
        })?;
        for ((place, found), records) in places.into_iter().zip(outlines) {
            let shown = found.shown.as_str();
            let Some(records) = records else { continue };
            for (record, placed) in records.iter().enumerate() {
                let within = placed.place.as_ref().map_or(String::new(), |at| format!(", {at}"));
                for number in 0..placed.record.units() {
                    let name = placed.record.name(number, stem(&found.name));
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
        if let (Some(error), true) = (inputs.nothing_left(), units.is_empty()) {
            return Err(error);
        }
        if units.is_empty() {
            let paths: Vec<String> = given.iter().map(|path| path.display().to_string()).collect();
            return Err(Error::value("no unit was found").in_file(paths.join(", ")).allowed(format!(
                "files that end in {}, folders of them, or - for JSON lines",
                endings().join(", ")
            )));
        }
        Ok(Self { units, files })
    }

    /// Announces that a unit will be read.
    pub(super) fn reserve(&self, unit: &UnitPlan) {
        self.files.reserve(unit.place);
    }

    /// Hands the record of a unit to `measure`.
    pub(super) fn with_record<T>(
        &self,
        unit: &UnitPlan,
        inputs: &Inputs,
        measure: impl FnOnce(&super::record::Record) -> Result<T>,
    ) -> Result<T> {
        let records = self.files.take(unit.place, inputs, load)?;
        measure(&records[unit.record].record)
    }
}

/// Everything inside a file, recorded as read.
fn load(found: &Found, inputs: &Inputs) -> Result<Vec<Placed>> {
    match records(&found.name) {
        Some(Records::Document) => json::parse(&inputs.read_found(found)?),
        // A line is a unit: one that cannot be read leaves the others as they are.
        Some(Records::Lines) => json::parse_lines(&inputs.read_found(found)?, &|unit, line, error| {
            let name = unit.map_or_else(|| format!("{}:{line}", found.shown), str::to_owned);
            inputs.leave_out_again(&name, error.in_file(&found.shown))
        }),
        None => {
            let record = array_files::read(found, inputs.open_found(found)?)?;
            Ok(vec![Placed { place: None, record }])
        }
    }
}

/// The names and boundaries of an array file, with none of its evidence.
fn outline(found: &Found, inputs: &Inputs) -> Result<Placed> {
    Ok(Placed { place: None, record: array_files::outline(found, inputs.look_into(found)?)? })
}

fn discover(given: &Path, inputs: &Inputs) -> Result<Vec<Found>> {
    if stdin::is_stdin(given) {
        let lines = RECORDS.iter().find(|format| format.reader == Records::Lines);
        return Ok(vec![stdin::read(INPUT, &|_| lines?.endings.first().copied())?]);
    }
    let found = walk::files(given, INPUT, inputs, &is_known)?;
    if let Some(found) = found.iter().find(|found| !is_known(&found.name)) {
        return Err(Error::value("no ending that says what the file holds")
            .in_file(&found.shown)
            .allowed(endings().join(", ")));
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
