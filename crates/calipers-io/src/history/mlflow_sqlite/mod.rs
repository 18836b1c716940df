//! MLflow's SQLite database: all runs of a tracking server in one file.
//!
//! The file is read as it is on the disk. Where the server uses a write-ahead log, what is still
//! in the `-wal` file beside it is not part of it: stop the server first, or copy the database with
//! SQLite's own backup.

mod address;
mod by_run;
mod connection;
mod header;
mod rows;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use calipers_core::{Error, Result};
use rusqlite::Connection;

use self::by_run::ByRun;
use self::rows::{METRICS, Rows, each, text};
use super::mlflow::{PARENT, RUN_NAME, points};
use super::{Field, Origin, Places, Run, RunTable, Runs, Table, Wanted};
use crate::file::InputFile;

/// Whether the bytes begin as an SQLite file does.
pub fn is_sqlite(bytes: &[u8]) -> bool {
    bytes.starts_with(header::MAGIC)
}

/// A database whose structure was checked, with its active runs.
pub struct Database {
    runs: Vec<Active>,
    places: HashMap<String, usize>,
    source: Mutex<Source>,
}

/// A run that was not deleted.
struct Active {
    name: String,
    id: String,
    fields: BTreeMap<Field, String>,
    began: Option<f64>,
}

/// The open database and what was last read from it, so that all runs cost one pass.
struct Source {
    connection: Connection,
    rows: Option<Rows>,
    /// How points are found where those of all runs are not held.
    by_run: Option<ByRun>,
}

impl Database {
    /// Opens a database from its bytes; nothing can write to it, and nothing in it is executed.
    pub fn open(bytes: Vec<u8>) -> Result<Self> {
        Self::over(connection::open(bytes)?, false)
    }

    /// Opens a database in its file, which is left as it is: nothing is written to it or beside it.
    /// None where SQLite cannot open a file at such a path.
    ///
    /// Where an index leads from a run to its metrics, points are read one run at a time.
    pub fn open_file(file: &InputFile, path: &Path) -> Result<Option<Self>> {
        let connection = connection::open_file(file, path)?;
        connection.map(|connection| Self::over(connection, true)).transpose()
    }

    fn over(connection: Connection, one_at_a_time: bool) -> Result<Self> {
        let columns = connection::required(&connection, "metrics", &METRICS)?;
        let runs = active(&connection)?;
        let mut places = HashMap::new();
        for (place, run) in runs.iter().enumerate() {
            if places.insert(run.id.clone(), place).is_some() {
                let error = Error::format("two runs have the same run_uuid").at("table `runs`");
                return Err(error.found(crate::text::shown(run.id.as_bytes())));
            }
        }
        let by_run = if one_at_a_time { ByRun::find(&connection, &places, columns)? } else { None };
        Ok(Self { runs, places, source: Mutex::new(Source { connection, rows: None, by_run }) })
    }

    /// The identifiers of the active runs, in order of run name, then identifier.
    pub fn runs(&self) -> Result<Vec<String>> {
        Ok(self.runs.iter().map(|run| run.id.clone()).collect())
    }

    /// Reads one run: a row for each point of each wanted metric, metric after metric, in order of
    /// step, timestamp and value.
    ///
    /// The first call reads what is wanted of all runs, so that later calls that want the same are
    /// answered from memory; points are left out of that where they are read one run at a time.
    pub fn read(&self, run: &str, wanted: &Wanted) -> Result<Table> {
        let place = *self.places.get(run).ok_or_else(|| {
            Error::value("the database has no such active run").found(crate::text::shown(run.as_bytes()))
        })?;
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let Source { connection, rows, by_run } = &mut *source;
        let current = match (rows.take_if(|rows| rows.wanted == *wanted), &by_run) {
            (Some(current), _) => current,
            (None, Some(_)) => Rows::read_without_metrics(connection, &self.places, wanted)?,
            (None, None) => Rows::read(connection, &self.places, wanted)?,
        };
        let current = rows.insert(current);
        let Active { name, id, fields, began } = &self.runs[place];
        let (keys, metrics) = match by_run {
            Some(by_run) => by_run.read(connection, (id, place), wanted)?,
            None => (current.keys(place), current.metrics(place)),
        };
        let (count, numbers) = points::columns(wanted, metrics)?;
        Ok(Table {
            origin: Origin::Mlflow,
            run: Run {
                name: Some(name.clone()),
                id: Some(id.clone()),
                fields: fields.clone(),
                labels: current.labels(place),
                began: *began,
                ..Run::default()
            },
            keys,
            before: 0,
            rows: count,
            numbers,
            texts: Vec::new(),
            places: Places::Numbered("point", 0),
            cut_at: None,
        })
    }
}

impl Database {
    /// The tables of the active runs, in the same order; there must be one.
    pub(super) fn into_tables(self, wanted: &Wanted) -> Result<Runs> {
        let runs = self.runs()?;
        if runs.is_empty() {
            return Err(Error::value("no active run in the database")
                .allowed("a run in the table `runs` whose lifecycle_stage is not 'deleted'")
                .advice("give another database, or restore a run with MLflow"));
        }
        let wanted = wanted.clone();
        let table = move |run: String| {
            let table = self.read(&run, &wanted)?;
            Ok(RunTable { table, x: None, aggregated: false })
        };
        Ok(Box::new(runs.into_iter().map(table)))
    }
}

/// The runs that were not deleted, in order of name, then identifier.
fn active(connection: &Connection) -> Result<Vec<Active>> {
    let columns = connection::required(connection, "runs", &["run_uuid"])?;
    let or_null =
        |name: &'static str| if columns.iter().any(|column| column == name) { name } else { "NULL" };
    let (named, parents) = (tagged(connection, RUN_NAME)?, tagged(connection, PARENT)?);
    let experiments = experiments(connection)?;
    let mut runs = Vec::new();
    let [name, stage, experiment, status, start] =
        ["name", "lifecycle_stage", "experiment_id", "status", "start_time"].map(or_null);
    let sql = format!(
        "SELECT run_uuid, {name}, {stage}, CAST({experiment} AS TEXT), {status}, {start} FROM main.runs"
    );
    // The name of every run, deleted or not: it may be the parent of another.
    let mut names: HashMap<String, String> = HashMap::new();
    each(connection, &sql, &[], |row| {
        let Some(id) = text(row, 0)? else { return Ok(()) };
        let known = text(row, 1)?.filter(|name| !name.is_empty());
        let known = known.or(named.get(id).map(String::as_str)).filter(|name| !name.is_empty());
        let name = known.unwrap_or(id).to_owned();
        names.insert(id.to_owned(), name.clone());
        if text(row, 2)? == Some("deleted") {
            return Ok(());
        }
        let mut fields = BTreeMap::new();
        if let Some(experiment) = text(row, 3)? {
            if let Some(name) = experiments.get(experiment) {
                fields.insert(Field::Experiment, name.clone());
            }
            fields.insert(Field::ExperimentId, experiment.to_owned());
        }
        if let Some(status) = text(row, 4)?.filter(|status| !status.is_empty()) {
            fields.insert(Field::Status, status.to_owned());
        }
        let began = row.get_ref(5).ok().and_then(|cell| cell.as_i64().ok());
        let began = began.map(|milliseconds| milliseconds as f64 / 1e3);
        runs.push(Active { name, id: id.to_owned(), fields, began });
        Ok(())
    })?;
    for run in &mut runs {
        if let Some(parent) = parents.get(&run.id) {
            let name = names.get(parent).unwrap_or(parent);
            run.fields.insert(Field::Parent, name.clone());
        }
    }
    runs.sort_unstable_by(|a: &Active, b: &Active| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    Ok(runs)
}

/// The value of a tag for each run that has it.
fn tagged(connection: &Connection, key: &str) -> Result<HashMap<String, String>> {
    let mut tagged = HashMap::new();
    if connection::columns(connection, "tags")?.is_empty() {
        return Ok(tagged);
    }
    connection::required(connection, "tags", &["key", "value", "run_uuid"])?;
    let sql = "SELECT run_uuid, value FROM main.tags WHERE \"key\" = ?1";
    each(connection, sql, &[&key.to_owned()], |row| {
        if let (Some(run), Some(value)) = (text(row, 0)?, text(row, 1)?) {
            tagged.insert(run.to_owned(), value.to_owned());
        }
        Ok(())
    })?;
    Ok(tagged)
}

/// The names of the experiments by their identifiers.
fn experiments(connection: &Connection) -> Result<HashMap<String, String>> {
    let mut names = HashMap::new();
    let columns = connection::columns(connection, "experiments")?;
    if !["experiment_id", "name"].iter().all(|needed| columns.iter().any(|column| column == needed)) {
        return Ok(names);
    }
    each(connection, "SELECT CAST(experiment_id AS TEXT), name FROM main.experiments", &[], |row| {
        if let (Some(id), Some(name)) = (text(row, 0)?, text(row, 1)?) {
            names.insert(id.to_owned(), name.to_owned());
        }
        Ok(())
    })?;
    Ok(names)
}
