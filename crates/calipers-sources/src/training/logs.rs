//! From the files of a history to tables of logged rows, one run after the other.

use std::path::PathBuf;

use calipers_core::{Error, Notes, Result};
use calipers_io::history::chunks::{self, BoxedChunks};
use calipers_io::history::{
    Format, OnDisk, Parts, Reader as FormatReader, RunTable, Runs, Table, Wanted, json, mlflow, of_file,
    of_folder, of_large_file, tensorboard,
};

use super::cut::Cut;
use super::discover::{Content, History, Place, file_name};
use super::options::Options;
use super::tracking;
use crate::hashing::HashedFile;
use crate::inputs::{Inputs, Opened, role};
use crate::walk::given_folder;

/// The rows of one run, or of the runs of one table.
pub struct Log {
    /// The rows.
    pub table: Table,
    /// The format it was read in.
    pub format: &'static Format,
    /// The run name, where the table is not split.
    pub name: String,
    /// The file or folder that messages name, as given.
    pub shown: String,
    /// The files it was read from, as given.
    pub files: Vec<String>,
    /// The x that the file itself names.
    pub x: Option<String>,
    /// Whether the values are aggregates of several.
    pub aggregated: bool,
    /// Which metrics are missing in some row of the file outside the table.
    pub missing_elsewhere: Vec<bool>,
}

impl Log {
    /// The table of one file.
    fn of_file(table: Table, format: &'static Format, history: &History, shown: &str) -> Self {
        let name = run_name(&table).unwrap_or(&history.name).to_owned();
        let (shown, files) = (shown.to_owned(), vec![shown.to_owned()]);
        Self { table, format, name, shown, files, x: None, aggregated: false, missing_elsewhere: Vec::new() }
    }
}

/// Takes in the tables of one history.
pub trait Sink {
    /// The next table.
    fn log(&mut self, log: Log) -> Result<()>;
    /// The history is read once more from its beginning: all tables of it are forgotten.
    fn again(&mut self);
}

/// Files above this size are not held where their layout allows it.
const HELD: u64 = 4 << 20;
/// How many bytes a chunk has.
const CHUNK: usize = 1 << 20;

/// Reads histories.
pub struct Reader<'a> {
    /// What was asked for.
    pub options: &'a Options,
    /// The keys to read.
    pub wanted: Wanted,
    /// Where files are recorded.
    pub inputs: &'a Inputs,
    /// What files are noted as: those that were named, then those found in each given folder.
    pub notes: Vec<Notes>,
}

/// What the histories under these paths are noted as.
pub fn notes(given: &[PathBuf]) -> Vec<Notes> {
    let below = |path: &PathBuf| {
        let shown = path.display().to_string().replace(std::path::MAIN_SEPARATOR, "/");
        role("input", Some(given_folder(&shown)))
    };
    std::iter::once(role("input", None)).chain(given.iter().map(below)).collect()
}

impl Reader<'_> {
    /// Reads a history and passes on its tables. Says whether it was one at all: JSON of another
    /// kind and deleted runs are passed over.
    pub fn read(&self, history: &History, sink: &mut dyn Sink) -> Result<bool> {
        match &history.content {
            Content::File(place) => self.file(history, place, sink),
            Content::Events(places) => self.events(history, places, sink),
            Content::TrainerStates(places) => self.trainer_states(history, places, sink),
            Content::Mlflow(files) => self.mlflow(history, files, sink),
            Content::Server(address) => tracking::read(self, address, sink),
        }
    }

    fn bytes(&self, history: &History, place: &Place) -> Result<Vec<u8>> {
        self.inputs.read(&place.path, &place.shown, self.notes(history))
    }

    fn notes(&self, history: &History) -> &Notes {
        &self.notes[if history.named { 0 } else { history.input + 1 }]
    }

    fn file(&self, history: &History, place: &Place, sink: &mut dyn Sink) -> Result<bool> {
        let shown = &place.shown;
        let notes = self.notes(history);
        let bytes = match self.inputs.read_or_stream(&place.path, shown, notes, HELD)? {
            Opened::Held(bytes) => bytes,
            Opened::File(file) => {
                if self.streamed(&file, history, place, sink).map_err(|error| error.in_file(shown))? {
                    // The hash is that of the bytes that were read.
                    self.inputs.record_read(&file, shown, notes)?;
                    return Ok(true);
                }
                self.inputs.read_held(&file, shown, notes)?
            }
        };
        let detected = match self.options.format {
            Some(format) => Some(format),
            None => of_file(&bytes, file_name(place), history.named).map_err(|error| error.in_file(shown))?,
        };
        let Some(format) = detected else {
            self.inputs.forget(shown);
            return Ok(false);
        };
        self.one_file(format, bytes, history, shown, sink).map_err(|error| error.in_file(shown))?;
        Ok(true)
    }

    /// Reads a large file without holding all of its bytes; says whether that can be done.
    fn streamed(
        &self,
        file: &HashedFile,
        history: &History,
        place: &Place,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let format = match self.options.format {
            Some(format) => Some(format),
            None => of_large_file(file, file_name(place), CHUNK)?,
        };
        let Some(format) = format else { return Ok(false) };
        let (wanted, shown) = (&self.wanted, &place.shown);
        match format.reader {
            FormatReader::Table { parts: Parts::No, .. } | FormatReader::Folder => return Ok(false),
            FormatReader::Table { parts: Parts::Rows(open), .. } => {
                let open = || open(file, wanted, &self.options.delimited, CHUNK);
                self.in_chunks(format, &open, history, shown, sink)?;
            }
            FormatReader::Table { parts: Parts::Columns(read), .. } => {
                // What is wrong with such a file, or what else it is, is said by a reader of the whole.
                let Ok(table) = read(file, wanted, CHUNK) else { return Ok(false) };
                sink.log(Log::of_file(table, format, history, shown))?;
            }
            FormatReader::Runs { parts, .. } => {
                let on_disk = OnDisk { bytes: file, file: file.file(), path: &place.path };
                let Some(runs) = parts(&on_disk, wanted, &self.options.delimited, CHUNK)? else {
                    return Ok(false);
                };
                log_runs(runs, format, history, shown, sink)?;
            }
        }
        Ok(true)
    }

    /// Reads a large table: run by run where its runs follow each other, else all that is wanted of it.
    fn in_chunks<'p>(
        &self,
        format: &'static Format,
        open: &dyn Fn() -> Result<BoxedChunks<'p>>,
        history: &History,
        shown: &str,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let log = |table| Log::of_file(table, format, history, shown);
        let cut = match Cut::new(self.options) {
            Some(cut) => cut.runs(&mut *open()?, &mut |table, missing| {
                sink.log(Log { missing_elsewhere: missing.to_vec(), ..log(table) })
            })?,
            None => false,
        };
        if !cut {
            sink.again();
            if let Some(table) = chunks::whole(&mut *open()?)? {
                sink.log(log(table))?;
            }
        }
        Ok(())
    }

    fn one_file(
        &self,
        format: &'static Format,
        bytes: Vec<u8>,
        history: &History,
        shown: &str,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let (wanted, options) = (&self.wanted, &self.options.delimited);
        match format.reader {
            FormatReader::Table { whole, .. } => {
                let table = whole(shown, &bytes, wanted, options)?;
                drop(bytes);
                sink.log(Log::of_file(table, format, history, shown))
            }
            FormatReader::Runs { whole, .. } => {
                log_runs(whole(bytes, wanted, options)?, format, history, shown, sink)
            }
            FormatReader::Folder => Err(Error::usage("a run of MLflow's file store is a folder, not a file")
                .found("--format mlflow")
                .advice("name the folder; a database is read with --format mlflow-sqlite")),
        }
    }

    fn events(&self, history: &History, places: &[Place], sink: &mut dyn Sink) -> Result<bool> {
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        for place in places {
            files.push((&place.shown, self.bytes(history, place)?));
        }
        let views: Vec<(&str, &[u8])> =
            files.iter().map(|(shown, bytes)| (*shown, bytes.as_slice())).collect();
        let table = tensorboard::read(&views, &self.wanted).map_err(|error| error.in_file(&history.shown))?;
        drop(files);
        sink.log(self.log(history, table, places.iter())?)?;
        Ok(true)
    }

    fn trainer_states(&self, history: &History, places: &[Place], sink: &mut dyn Sink) -> Result<bool> {
        let mut last: Option<(Option<u64>, &Place, Vec<u8>)> = None;
        for place in places {
            let bytes = self.bytes(history, place)?;
            // The states of checkpoints are the beginnings of the one that went furthest.
            let step = if places.len() == 1 {
                None
            } else {
                json::global_step(&bytes).map_err(|error| error.in_file(&place.shown))?
            };
            if last.as_ref().is_none_or(|(furthest, ..)| step > *furthest) {
                last = Some((step, place, bytes));
            }
        }
        let Some((_, place, bytes)) = last else { return Ok(false) };
        let table = json::read(&bytes, json::Layout::State, &self.wanted)
            .map_err(|error| error.in_file(&place.shown))?;
        drop(bytes);
        let others = places.iter().filter(|other| *other != place);
        sink.log(self.log(history, table, std::iter::once(place).chain(others))?)?;
        Ok(true)
    }

    fn mlflow(&self, history: &History, files: &[(String, Place)], sink: &mut dyn Sink) -> Result<bool> {
        let mut read: Vec<(&str, Vec<u8>)> = Vec::new();
        let mut places: Vec<&Place> = Vec::new();
        for (below, place) in files {
            let asked = match below.split_once('/') {
                None => true,
                Some(("metrics", key)) => self.wanted.numbers.iter().any(|wanted| wanted == key),
                Some((_, key)) => {
                    key == "mlflow.runName" || self.wanted.texts.iter().any(|wanted| wanted == key)
                }
            };
            // The names of other metrics are keys for messages; an empty tag is no damage.
            let blank = !below.starts_with("metrics/")
                && std::fs::metadata(&place.path).is_ok_and(|metadata| metadata.len() == 0);
            if !asked || blank {
                if below.starts_with("metrics/") {
                    read.push((below, Vec::new()));
                }
                continue;
            }
            let bytes = self.bytes(history, place)?;
            if below == "meta.yaml" && !mlflow::is_active(&bytes) {
                self.inputs.forget(&place.shown);
                return Ok(false);
            }
            places.push(place);
            read.push((below, bytes));
        }
        let views: Vec<(&str, &[u8])> =
            read.iter().map(|(below, bytes)| (*below, bytes.as_slice())).collect();
        let table = mlflow::read(&views, &self.wanted).map_err(|error| error.in_file(&history.shown))?;
        drop(read);
        sink.log(self.log(history, table, places.into_iter())?)?;
        Ok(true)
    }

    fn log<'p>(
        &self,
        history: &History,
        table: Table,
        places: impl Iterator<Item = &'p Place>,
    ) -> Result<Log> {
        let places: Vec<&Place> = places.collect();
        let format = places.first().and_then(|place| of_folder(file_name(place)));
        let format = format.ok_or_else(|| Error::format("no file says what the folder is"))?;
        let name = run_name(&table).unwrap_or(&history.name).to_owned();
        let files: Vec<String> = places.iter().map(|place| place.shown.clone()).collect();
        // The state that was chosen says more than its folder; a run of MLflow is its folder.
        let shown = match (&history.content, files.as_slice()) {
            (Content::Mlflow(_), _) => history.shown.clone(),
            (Content::TrainerStates(_), [chosen, ..]) | (_, [chosen]) => chosen.clone(),
            _ => history.shown.clone(),
        };
        Ok(Log {
            table,
            format,
            name,
            shown,
            files,
            x: None,
            aggregated: false,
            missing_elsewhere: Vec::new(),
        })
    }
}

/// Hands on the tables of a file of several runs.
fn log_runs(
    runs: Runs,
    format: &'static Format,
    history: &History,
    shown: &str,
    sink: &mut dyn Sink,
) -> Result<()> {
    for run in runs {
        let RunTable { table, x, aggregated } = run?;
        sink.log(Log { x, aggregated, ..Log::of_file(table, format, history, shown) })?;
    }
    Ok(())
}

/// The name that the file itself gives the run, else its identifier.
fn run_name(table: &Table) -> Option<&str> {
    [&table.run.name, &table.run.id].into_iter().flatten().map(String::as_str).find(|name| !name.is_empty())
}
