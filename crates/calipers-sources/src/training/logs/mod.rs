//! From the files of a history to tables of logged rows, one run after the other.

mod cut;
mod settings;
mod several_files;
mod tracking;

use std::path::PathBuf;

use calipers_core::{Error, Notes, Result};
use calipers_io::compress;
use calipers_io::file::{InputFile, ReadAt};
use calipers_io::history::chunks::{self, BoxedChunks};
use calipers_io::history::{
    Field, Format, OnDisk, Parts, RUN_META, Reader as FormatReader, RunTable, Runs, Table, Wanted, encoding,
    is_binary, json, mlflow, of_file, of_folder, of_large_file, tensorboard,
};
use calipers_io::place;

use self::cut::Cut;
use self::settings::{WithSettings, beside};
use crate::hashing::HashedFile;
use crate::inputs::{Inputs, Opened, role};
use crate::training::discover::{Content, History, Place, file_name};
use crate::training::options::Options;
use crate::training::runs::known::Known;
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
    /// Which of several files is cut off.
    pub cut_in: Option<String>,
    /// What the rule `folder` makes of a run name without a folder.
    pub folder: Option<String>,
    /// The x that the file itself names.
    pub x: Option<String>,
    /// Whether the values are aggregates of several.
    pub aggregated: bool,
    /// Whether several inputs were taken as this one run.
    pub joined: bool,
    /// Which metrics are missing in some row of the file outside the table.
    pub missing_elsewhere: Vec<bool>,
}

impl Log {
    pub(super) fn new(
        table: Table,
        format: &'static Format,
        history: &History,
        shown: &str,
        files: Vec<String>,
    ) -> Self {
        Self {
            name: run_name(&table).unwrap_or(&history.name).to_owned(),
            table,
            format,
            shown: shown.to_owned(),
            files,
            cut_in: None,
            folder: history.folder.clone(),
            x: None,
            aggregated: false,
            joined: history.joined,
            missing_elsewhere: Vec::new(),
        }
    }

    /// The table of one file.
    fn of_file(table: Table, format: &'static Format, history: &History, shown: &str) -> Self {
        Self::new(table, format, history, shown, vec![shown.to_owned()])
    }

    /// What is known of its run of this name.
    pub fn known(&self, name: &str) -> Known {
        let folder = name.rsplit_once('/').map(|(folder, _)| folder).or(self.folder.as_deref());
        let Table { run, keys, origin, .. } = &self.table;
        Known::new(name, run, (self.format, *origin), folder, &self.files, keys)
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
    /// Where files are recorded.
    pub inputs: &'a Inputs,
    /// What files are noted as: those that were named, then those found in each given folder.
    pub notes: &'a [Notes],
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
    pub fn read(&self, history: &History, wanted: &Wanted, sink: &mut dyn Sink) -> Result<bool> {
        let sink = &mut WithSettings { settings: self.settings(history, wanted)?, sink };
        match &history.content {
            Content::File(place) => self.file(history, place, wanted, sink),
            Content::Wandb(places) => self.wandb(history, places, wanted, sink),
            Content::Events(places) => self.events(history, places, wanted, sink),
            Content::Loggers { table, events } => self.loggers(history, (table, events), wanted, sink),
            Content::TrainerStates(places) => self.trainer_states(history, places, wanted, sink),
            Content::Dvclive(files) => self.dvclive(history, files, wanted, sink),
            Content::Mlflow(files) => self.mlflow(history, files, wanted, sink),
            Content::Server(address) => tracking::read(self, history, address, wanted, sink),
        }
    }

    /// Takes back that the files of a history were read: they will be read again.
    pub fn unread(&self, history: &History) {
        if let Content::Server(address) = &history.content {
            self.inputs.unread_below(address.shown());
        }
        for place in history.content.places().into_iter().chain(beside(history).as_ref()) {
            self.inputs.unread(&place.shown);
        }
    }

    /// Strikes out the files of a history: nothing of them is measured.
    pub fn forget(&self, history: &History) {
        for place in history.content.places().into_iter().chain(beside(history).as_ref()) {
            self.inputs.forget(&place.shown);
        }
    }

    pub(super) fn bytes(&self, history: &History, place: &Place) -> Result<Vec<u8>> {
        self.inputs.read(&place.path, &place.shown, self.notes(history))
    }

    fn notes(&self, history: &History) -> &Notes {
        &self.notes[if history.named { 0 } else { history.input + 1 }]
    }

    pub(super) fn file(
        &self,
        history: &History,
        place: &Place,
        wanted: &Wanted,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let shown = &place.shown;
        let notes = self.notes(history);
        let bytes = match self.inputs.read_or_stream(&place.path, shown, notes, HELD)? {
            Opened::Held(bytes) => bytes,
            Opened::File(file) => {
                if self
                    .streamed(&file, history, (place, wanted), sink)
                    .map_err(|error| error.in_file(shown))?
                {
                    // The hash is that of the bytes that were read.
                    self.inputs.record_read(&file, shown, notes)?;
                    return Ok(true);
                }
                self.inputs.read_held(&file, shown, notes)?
            }
        };
        let name = compress::FORMATS.stem(file_name(place));
        let bytes = self.as_text(bytes, file_name(place)).map_err(|error| error.in_file(shown))?;
        let detected = match self.options.format {
            Some(format) => Some(format),
            None => of_file(&bytes, name, history.named).map_err(|error| error.in_file(shown))?,
        };
        let Some(format) = detected else {
            self.inputs.forget(shown);
            return Ok(false);
        };
        self.one_file(format, bytes, history, (shown, wanted), sink).map_err(|error| error.in_file(shown))?;
        Ok(true)
    }

    /// The bytes of a file without its compression and, where it is text, as UTF-8.
    fn as_text(&self, bytes: Vec<u8>, name: &str) -> Result<Vec<u8>> {
        let bytes = compress::inflated(bytes.into(), compress::FORMATS.by_name(name))?.into_owned();
        if is_binary(&bytes) { Ok(bytes) } else { encoding::as_utf8(bytes, self.options.encoding) }
    }

    /// Reads a large file without holding all of its bytes; says whether that can be done.
    fn streamed(
        &self,
        file: &HashedFile,
        history: &History,
        (place, wanted): (&Place, &Wanted),
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        if self.options.encoding.is_some() || compress::FORMATS.by_name(file_name(place)).is_some() {
            return Ok(false);
        }
        let format = match self.options.format {
            Some(format) => Some(format),
            None => of_large_file(file, file_name(place), CHUNK)?,
        };
        let Some(format) = format else { return Ok(false) };
        let shown = &place.shown;
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
        (shown, wanted): (&str, &Wanted),
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let options = &self.options.delimited;
        match format.reader {
            FormatReader::Table { whole, .. } => {
                let table = whole(shown, &bytes, wanted, options)?;
                drop(bytes);
                sink.log(Log::of_file(table, format, history, shown))
            }
            FormatReader::Runs { whole, .. } => {
                log_runs(whole(bytes, wanted, options)?, format, history, shown, sink)
            }
            FormatReader::Folder if format.name == "dvclive" => {
                Err(Error::usage("a run of DVCLive is a folder, not a file")
                    .found("--format dvclive")
                    .advice(
                        "name the folder that holds plots/metrics; one file of it is read with --format csv",
                    ))
            }
            FormatReader::Folder => Err(Error::usage("a run of MLflow's file store is a folder, not a file")
                .found("--format mlflow")
                .advice("name the folder; a database is read with --format mlflow-sqlite")),
        }
    }

    pub(super) fn events(
        &self,
        history: &History,
        places: &[Place],
        wanted: &Wanted,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        for place in places {
            files.push((&place.shown, self.bytes(history, place)?));
        }
        // Sessions follow each other in time. Of files that do not tell it the names decide.
        let began = |bytes: &[u8]| tensorboard::began(bytes).unwrap_or(f64::NEG_INFINITY);
        files.sort_by(|(_, a), (_, b)| began(a).total_cmp(&began(b)));
        let views: Vec<(&str, &[u8])> =
            files.iter().map(|(shown, bytes)| (*shown, bytes.as_slice())).collect();
        let table = tensorboard::read(&views, wanted).map_err(|error| error.in_file(&history.shown))?;
        drop(files);
        sink.log(self.log(history, table, places.iter())?)?;
        Ok(true)
    }

    fn trainer_states(
        &self,
        history: &History,
        places: &[Place],
        wanted: &Wanted,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
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
        let table =
            json::read(&bytes, json::Layout::State, wanted).map_err(|error| error.in_file(&place.shown))?;
        drop(bytes);
        let others = places.iter().filter(|other| *other != place);
        sink.log(self.log(history, table, std::iter::once(place).chain(others))?)?;
        Ok(true)
    }

    fn mlflow(
        &self,
        history: &History,
        files: &[(String, Place)],
        wanted: &Wanted,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let mut read: Vec<(&str, Vec<u8>)> = Vec::new();
        let mut places: Vec<&Place> = Vec::new();
        for (below, place) in files {
            let asked = match below.split_once('/') {
                None => true,
                Some(("metrics", key)) => wanted.numbers.iter().any(|wanted| wanted == key),
                Some((_, key)) => [mlflow::RUN_NAME, mlflow::PARENT].contains(&key) || wanted.label(key),
            };
            // The names of other metrics are keys for messages; an empty tag is no damage.
            let blank = !below.starts_with("metrics/")
                && InputFile::open(&place.path).is_ok_and(|file| file.size() == 0);
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
        let mut table = mlflow::read(&views, wanted).map_err(|error| error.in_file(&history.shown))?;
        drop(read);
        self.around(history, files, &mut table)?;
        sink.log(self.log(history, table, places.into_iter())?)?;
        Ok(true)
    }

    /// What the folders around a run folder say: the names of its experiment and of its parent run.
    fn around(&self, history: &History, files: &[(String, Place)], table: &mut Table) -> Result<()> {
        let Some((_, meta)) = files.iter().find(|(below, _)| below == RUN_META) else { return Ok(()) };
        let Some(experiment) = meta.path.parent().and_then(std::path::Path::parent) else { return Ok(()) };
        let shown = history.shown.rsplit_once('/').map_or("..", |(above, _)| above);
        let beside = |below: &str| -> Result<Option<Vec<u8>>> {
            let (path, shown) = (experiment.join(below), format!("{shown}/{below}"));
            if !place::is_file(&path) || !self.inputs.may_read(&shown) {
                return Ok(None);
            }
            self.inputs.read(&path, &shown, &role("config", None)).map(Some)
        };
        let fields = &mut table.run.fields;
        if let Some(name) = beside(RUN_META)?.and_then(|meta| mlflow::experiment_name(&meta)) {
            fields.insert(Field::Experiment, name);
        }
        if let Some(parent) = fields.get(&Field::Parent).cloned()
            && !parent.contains(['/', '\\'])
            && let Some(name) =
                beside(&format!("{parent}/{RUN_META}"))?.and_then(|meta| mlflow::run_name(&meta))
        {
            fields.insert(Field::Parent, name);
        }
        Ok(())
    }

    pub(super) fn log<'p>(
        &self,
        history: &History,
        table: Table,
        places: impl Iterator<Item = &'p Place>,
    ) -> Result<Log> {
        let places: Vec<&Place> = places.collect();
        let format = match &history.content {
            Content::Wandb(_) => calipers_io::history::FORMATS.called("wandb"),
            _ => places.first().and_then(|place| of_folder(file_name(place))),
        };
        let format = format.ok_or_else(|| Error::format("no file says what the folder is"))?;
        let files: Vec<String> = places.iter().map(|place| place.shown.clone()).collect();
        // The state that was chosen says more than its folder; a run of MLflow is its folder.
        let shown = match (&history.content, files.as_slice()) {
            (Content::Mlflow(_), _) => history.shown.clone(),
            (Content::TrainerStates(_), [chosen, ..]) | (_, [chosen]) => chosen.clone(),
            _ => history.shown.clone(),
        };
        Ok(Log::new(table, format, history, &shown, files))
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
