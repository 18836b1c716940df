//! From the files of a history to tables of logged rows, one run after the other.

use std::path::PathBuf;

use calipers_core::{Error, Notes, Result};
use calipers_io::history::{
    Format, Table, Wanted, delimited, json, mlflow, mlflow_sqlite, parquet, tensorboard, wandb,
};

use super::detect;
use super::discover::{Content, History, Place, file_name};
use super::options::Options;
use crate::inputs::{Inputs, role};
use crate::sources::walk::given_folder;

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
}

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
    /// Reads a history and hands on its tables. Says whether it was one at all: JSON of another
    /// kind and deleted runs are passed over.
    pub fn read(&self, history: &History, each: &mut dyn FnMut(Log) -> Result<()>) -> Result<bool> {
        match &history.content {
            Content::File(place) => self.file(history, place, each),
            Content::Events(places) => self.events(history, places, each),
            Content::TrainerStates(places) => self.trainer_states(history, places, each),
            Content::Mlflow(files) => self.mlflow(history, files, each),
        }
    }

    fn bytes(&self, history: &History, place: &Place) -> Result<Vec<u8>> {
        self.inputs.read(
            &place.path,
            &place.shown,
            &self.notes[if history.named { 0 } else { history.input + 1 }],
        )
    }

    fn file(
        &self,
        history: &History,
        place: &Place,
        each: &mut dyn FnMut(Log) -> Result<()>,
    ) -> Result<bool> {
        let bytes = self.bytes(history, place)?;
        let shown = &place.shown;
        let detected = match self.options.format {
            Some(format) => Some(format),
            None => detect::format(&bytes, file_name(place), history.named)
                .map_err(|error| error.in_file(shown))?,
        };
        let Some(format) = detected else {
            self.inputs.forget(shown);
            return Ok(false);
        };
        self.one_file(format, bytes, history, shown, each).map_err(|error| error.in_file(shown))?;
        Ok(true)
    }

    fn one_file(
        &self,
        format: Format,
        bytes: Vec<u8>,
        history: &History,
        shown: &str,
        each: &mut dyn FnMut(Log) -> Result<()>,
    ) -> Result<()> {
        let wanted = &self.wanted;
        let whole = |table: Table| {
            let name = run_name(&table).unwrap_or(&history.name).to_owned();
            Log { table, name, shown: shown.into(), files: vec![shown.into()], x: None, aggregated: false }
        };
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
                if panel.runs.is_empty() {
                    return Err(Error::value("a panel without a single run"));
                }
                for table in panel.runs {
                    let aggregated =
                        table.run.name.as_ref().is_some_and(|run| panel.aggregated.contains(run));
                    each(Log { x: Some(panel.x.clone()), aggregated, ..whole(table) })?;
                }
                return Ok(());
            }
            Format::MlflowSqlite => {
                let database = mlflow_sqlite::Database::open(bytes)?;
                let runs = database.runs()?;
                if runs.is_empty() {
                    return Err(Error::value("no active run in the database"));
                }
                for run in runs {
                    each(whole(database.read(&run, wanted)?))?;
                }
                return Ok(());
            }
            Format::Mlflow => {
                return Err(Error::usage("a run of MLflow's file store is a folder, not a file")
                    .found("--format mlflow")
                    .advice("name the folder; a database is read with --format mlflow-sqlite"));
            }
        };
        drop(bytes);
        each(whole(table))
    }

    fn events(
        &self,
        history: &History,
        places: &[Place],
        each: &mut dyn FnMut(Log) -> Result<()>,
    ) -> Result<bool> {
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        for place in places {
            files.push((&place.shown, self.bytes(history, place)?));
        }
        let views: Vec<(&str, &[u8])> =
            files.iter().map(|(shown, bytes)| (*shown, bytes.as_slice())).collect();
        let table = tensorboard::read(&views, &self.wanted).map_err(|error| error.in_file(&history.shown))?;
        drop(files);
        each(self.log(history, table, places.iter()))?;
        Ok(true)
    }

    fn trainer_states(
        &self,
        history: &History,
        places: &[Place],
        each: &mut dyn FnMut(Log) -> Result<()>,
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
        let table = json::read(&bytes, Format::TrainerState, &self.wanted)
            .map_err(|error| error.in_file(&place.shown))?;
        drop(bytes);
        let others = places.iter().filter(|other| *other != place);
        each(self.log(history, table, std::iter::once(place).chain(others)))?;
        Ok(true)
    }

    fn mlflow(
        &self,
        history: &History,
        files: &[(String, Place)],
        each: &mut dyn FnMut(Log) -> Result<()>,
    ) -> Result<bool> {
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
        each(self.log(history, table, places.into_iter()))?;
        Ok(true)
    }

    fn log<'p>(&self, history: &History, table: Table, places: impl Iterator<Item = &'p Place>) -> Log {
        let name = run_name(&table).unwrap_or(&history.name).to_owned();
        let files: Vec<String> = places.map(|place| place.shown.clone()).collect();
        // The state that was chosen says more than its folder.
        let shown = match (&history.content, files.as_slice()) {
            (Content::TrainerStates(_), [chosen, ..]) | (_, [chosen]) => chosen.clone(),
            _ => history.shown.clone(),
        };
        Log { table, name, shown, files, x: None, aggregated: false }
    }
}

/// The name that the file itself gives the run, else its identifier.
fn run_name(table: &Table) -> Option<&str> {
    [&table.run.name, &table.run.id].into_iter().flatten().map(String::as_str).find(|name| !name.is_empty())
}
