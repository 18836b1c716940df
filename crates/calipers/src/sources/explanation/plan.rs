//! Which units a run has: every input opened far enough to name the units inside.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Result};
use calipers_io::compress::inflate;
use calipers_io::file::InputFile;
use calipers_io::limits;

use super::array_files;
use super::json::{self, Placed};
use crate::inputs::Inputs;
use crate::sources::shelf::Shelf;
use crate::sources::walk::{self, Found, has_ending};

/// The endings of files with units.
pub const ENDINGS: [&str; 5] = [".npz", ".safetensors", ".pt", ".json", ".jsonl"];

/// How standard input is written on the command line and in reports.
const STDIN: &str = "-";

/// Where the bytes of units come from.
enum Origin {
    File(Found),
    Stdin(Vec<u8>),
}

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
    files: Shelf<Origin, Vec<Placed>>,
}

impl Plan {
    /// Finds files and names units. Text files are read whole and kept, for only that tells their
    /// units; of array files no more than names and boundaries is read.
    pub(super) fn new(given: &[PathBuf], inputs: &Inputs) -> Result<Self> {
        let mut origins = Vec::new();
        for path in given {
            origins.append(&mut discover(path)?);
        }
        let files = Shelf::new(origins);
        let mut units = Vec::new();
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for (place, origin) in files.files().enumerate() {
            let shown = origin.shown();
            let in_file = |error: Error| error.in_file(shown);
            let records = if origin.is_text() {
                files.keep(place, |origin| origin.load(inputs)).map_err(in_file)?
            } else {
                Arc::new(vec![origin.outline().map_err(in_file)?])
            };
            for (record, placed) in records.iter().enumerate() {
                let within = placed.place.as_ref().map_or(String::new(), |at| format!(", {at}"));
                for number in 0..placed.record.units() {
                    let name = placed.record.name(number, origin.stem());
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

    /// Hands the record of a unit to `measure`.
    pub(super) fn with_record<T>(
        &self,
        unit: &UnitPlan,
        inputs: &Inputs,
        measure: impl FnOnce(&super::record::Record) -> Result<T>,
    ) -> Result<T> {
        let records = self.files.take(unit.place, |origin| origin.load(inputs))?;
        measure(&records[unit.record].record)
    }
}

impl Origin {
    fn shown(&self) -> &str {
        match self {
            Self::File(found) => &found.shown,
            Self::Stdin(_) => STDIN,
        }
    }

    /// What units without a name are called after.
    fn stem(&self) -> &str {
        match self {
            Self::File(found) => found.stem(&ENDINGS),
            Self::Stdin(_) => "stdin",
        }
    }

    fn is_text(&self) -> bool {
        match self {
            Self::File(found) => [".json", ".jsonl"].iter().any(|ending| has_ending(&found.name, ending)),
            Self::Stdin(_) => true,
        }
    }

    /// Everything inside, recorded as read.
    fn load(&self, inputs: &Inputs) -> Result<Vec<Placed>> {
        match self {
            Self::Stdin(bytes) => {
                inputs.record_held(STDIN, bytes)?;
                json::parse_lines(bytes)
            }
            Self::File(found) if self.is_text() => {
                let bytes = inputs.read(&found.path, &found.shown)?;
                let bytes = inflate(&bytes, found.compression, limits::INFLATED)?;
                if has_ending(&found.name, ".json") { json::parse(&bytes) } else { json::parse_lines(&bytes) }
            }
            Self::File(found) => {
                let record = array_files::read(found, inputs.open(&found.path, &found.shown)?)?;
                Ok(vec![Placed { place: None, record }])
            }
        }
    }

    /// The names and boundaries of an array file, with none of its evidence.
    fn outline(&self) -> Result<Placed> {
        let record = match self {
            Self::File(found) => array_files::outline(found, Arc::new(InputFile::open(&found.path)?))?,
            Self::Stdin(_) => return Err(Error::format("standard input holds JSON lines")),
        };
        Ok(Placed { place: None, record })
    }
}

fn discover(given: &Path) -> Result<Vec<Origin>> {
    if given.as_os_str() == STDIN {
        return Ok(vec![Origin::Stdin(standard_input()?)]);
    }
    std::fs::metadata(given).map_err(|error| {
        Error::io(format!("the file cannot be opened: {}", error.kind())).in_file(given.display())
    })?;
    let known = |name: &str| ENDINGS.iter().any(|ending| has_ending(name, ending));
    let found = walk::files(given, &known)?;
    if let Some(found) = found.iter().find(|found| !known(&found.name)) {
        return Err(Error::value("no ending that says what the file holds")
            .in_file(&found.shown)
            .allowed(ENDINGS.join(", ")));
    }
    Ok(found.into_iter().map(Origin::File).collect())
}

fn standard_input() -> Result<Vec<u8>> {
    let mut stream = std::io::stdin().lock();
    if stream.is_terminal() {
        return Err(Error::usage("standard input is a terminal").advice("pipe JSON lines into it"));
    }
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    read.map_err(|error| Error::io(format!("cannot read standard input: {}", error.kind())).in_file(STDIN))?;
    Ok(bytes)
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
