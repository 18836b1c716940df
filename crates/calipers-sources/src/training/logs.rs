//! From the files of a history to tables of logged rows, one run after the other.

use std::path::PathBuf;

use calipers_core::{Error, Notes, Result};
use calipers_io::file::ReadAt;
use calipers_io::history::delimited::PanelRun;
use calipers_io::history::pieces::{self, Pieces};
use calipers_io::history::{
    Format, Table, Wanted, delimited, json, mlflow, mlflow_sqlite, parquet, tensorboard, wandb,
};

use super::cut::Cut;
use super::detect;
use super::discover::{Content, History, Place, file_name};
use super::options::Options;
use crate::hashing::HashedFile;
use crate::inputs::{Inputs, Opened, role};
use crate::walk::given_folder;

/// The rows of one run, or of the runs of one table.
pub struct Log {
    /// The rows.
    pub table: Table,
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
    fn of_file(table: Table, history: &History, shown: &str) -> Self {
        let name = run_name(&table).unwrap_or(&history.name).to_owned();
        let (shown, files) = (shown.to_owned(), vec![shown.to_owned()]);
        Self { table, name, shown, files, x: None, aggregated: false, missing_elsewhere: Vec::new() }
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
/// How many bytes a stretch has.
const STRETCH: usize = 1 << 20;
/// How far to look for the end of a header.
const LONGEST_HEADER: usize = 64 << 20;

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
            None => detect::format(&bytes, file_name(place), history.named)
                .map_err(|error| error.in_file(shown))?,
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
            Some(format) => Some(format).filter(|format| detect::is_streamed(*format)),
            None => layout(file, file_name(place))?,
        };
        match format {
            None => return Ok(false),
            Some(Format::MlflowSqlite) => {
                let Some(database) = mlflow_sqlite::Database::open_file(file.file(), &place.path)? else {
                    return Ok(false);
                };
                self.database(&database, history, &place.shown, sink)?;
            }
            Some(Format::WandbPanel) => {
                let options = &self.options.delimited;
                let panel = delimited::read_panel_in_stretches(file, &self.wanted, options, STRETCH)?;
                self.panel(panel, history, &place.shown, sink)?;
            }
            Some(Format::JsonColumns) => {
                // What is wrong with such a file, or what else it is, is said by a reader of the whole.
                let Ok(table) = json::columns_in_stretches(file, &self.wanted, STRETCH) else {
                    return Ok(false);
                };
                sink.log(Log::of_file(table, history, &place.shown))?;
            }
            Some(format) => self.in_pieces(format, file, history, &place.shown, sink)?,
        }
        Ok(true)
    }

    /// Reads a large table: run by run where its runs follow each other, else all that is wanted of it.
    fn in_pieces(
        &self,
        format: Format,
        file: &HashedFile,
        history: &History,
        shown: &str,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let open = || -> Result<Box<dyn Pieces + '_>> {
            match format {
                Format::Csv => delimited::pieces(file, &self.wanted, &self.options.delimited, STRETCH),
                Format::Parquet => parquet::pieces(file, &self.wanted),
                rows => json::pieces(file, rows, &self.wanted, STRETCH),
            }
        };
        let cut = match Cut::new(self.options) {
            Some(cut) => cut.runs(&mut *open()?, &mut |table, missing| {
                sink.log(Log { missing_elsewhere: missing.to_vec(), ..Log::of_file(table, history, shown) })
            })?,
            None => false,
        };
        if !cut {
            sink.again();
            if let Some(table) = pieces::whole(&mut *open()?)? {
                sink.log(Log::of_file(table, history, shown))?;
            }
        }
        Ok(())
    }

    fn panel(
        &self,
        panel: delimited::Panel,
        history: &History,
        shown: &str,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let x = panel.x.clone();
        let mut runs = panel.into_runs().peekable();
        if runs.peek().is_none() {
            return Err(Error::value("a panel without a single run"));
        }
        for PanelRun { table, aggregated } in runs {
            sink.log(Log { x: Some(x.clone()), aggregated, ..Log::of_file(table, history, shown) })?;
        }
        Ok(())
    }

    fn database(
        &self,
        database: &mlflow_sqlite::Database,
        history: &History,
        shown: &str,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let runs = database.runs()?;
        if runs.is_empty() {
            return Err(Error::value("no active run in the database")
                .allowed("a run in the table `runs` whose lifecycle_stage is not 'deleted'")
                .advice("give another database, or restore a run with MLflow"));
        }
        for run in runs {
            sink.log(Log::of_file(database.read(&run, &self.wanted)?, history, shown))?;
        }
        Ok(())
    }

    fn one_file(
        &self,
        format: Format,
        bytes: Vec<u8>,
        history: &History,
        shown: &str,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let wanted = &self.wanted;
        let table = match format {
            Format::Csv => delimited::read(&bytes, wanted, &self.options.delimited)?,
            Format::JsonRows | Format::JsonLines | Format::JsonColumns | Format::TrainerState => {
                json::read(&bytes, format, wanted)?
            }
            Format::Parquet => parquet::read(&bytes, wanted)?,
            Format::Wandb => wandb::read(&bytes, wanted)?,
            Format::Tensorboard => tensorboard::read(&[(shown, &bytes)], wanted)?,
            Format::WandbPanel => {
                let panel = delimited::read_panel(&bytes, wanted, &self.options.delimited)?;
                drop(bytes);
                return self.panel(panel, history, shown, sink);
            }
            Format::MlflowSqlite => {
                let database = mlflow_sqlite::Database::open(bytes)?;
                return self.database(&database, history, shown, sink);
            }
            Format::Mlflow => {
                return Err(Error::usage("a run of MLflow's file store is a folder, not a file")
                    .found("--format mlflow")
                    .advice("name the folder; a database is read with --format mlflow-sqlite"));
            }
        };
        drop(bytes);
        sink.log(Log::of_file(table, history, shown))
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
        sink.log(self.log(history, table, places.iter()))?;
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
        let table = json::read(&bytes, Format::TrainerState, &self.wanted)
            .map_err(|error| error.in_file(&place.shown))?;
        drop(bytes);
        let others = places.iter().filter(|other| *other != place);
        sink.log(self.log(history, table, std::iter::once(place).chain(others)))?;
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
        sink.log(self.log(history, table, places.into_iter()))?;
        Ok(true)
    }

    fn log<'p>(&self, history: &History, table: Table, places: impl Iterator<Item = &'p Place>) -> Log {
        let name = run_name(&table).unwrap_or(&history.name).to_owned();
        let files: Vec<String> = places.map(|place| place.shown.clone()).collect();
        // The state that was chosen says more than its folder; a run of MLflow is its folder.
        let shown = match (&history.content, files.as_slice()) {
            (Content::Mlflow(_), _) => history.shown.clone(),
            (Content::TrainerStates(_), [chosen, ..]) | (_, [chosen]) => chosen.clone(),
            _ => history.shown.clone(),
        };
        Log { table, name, shown, files, x: None, aggregated: false, missing_elsewhere: Vec::new() }
    }
}

/// The layout of a large file, where that can be read without holding all of its bytes.
fn layout(file: &HashedFile, name: &str) -> Result<Option<Format>> {
    let mut opening = Vec::new();
    loop {
        let read = opening.len();
        let length = (file.size() as usize).min(if read == 0 { STRETCH } else { 4 * read });
        opening.resize(length, 0);
        file.read_exact_at(&mut opening[read..], read as u64)
            .map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
        let format = detect::streamed(&opening, name);
        // Whether a table is a panel is seen from its whole header, which may be long.
        let more = (length as u64) < file.size() && length < LONGEST_HEADER;
        if format != Some(Format::Csv) || !more || delimited::has_header(&opening) {
            return Ok(format);
        }
    }
}

/// The name that the file itself gives the run, else its identifier.
fn run_name(table: &Table) -> Option<&str> {
    [&table.run.name, &table.run.id].into_iter().flatten().map(String::as_str).find(|name| !name.is_empty())
}
