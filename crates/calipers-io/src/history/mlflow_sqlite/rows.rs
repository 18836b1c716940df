//! The wanted rows of every run, read in one pass over each table.

use std::collections::{BTreeMap, HashMap};

use calipers_core::{Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params_from_iter};

use super::connection::{columns, required, unreadable};
use crate::history::Wanted;
use crate::history::mlflow::points::{self, Metric, Point};

/// The columns that the table of metrics always has.
pub(super) const METRICS: [&str; 4] = ["key", "value", "timestamp", "run_uuid"];

/// How MLflow stores infinity.
const STORED_INFINITY: f64 = f64::MAX;

/// What is wanted of all runs, each under its position in the list of runs.
pub(super) struct Rows {
    /// What was asked for.
    pub(super) wanted: Wanted,
    names: Vec<String>,
    runs: Vec<Found>,
}

#[derive(Default)]
struct Found {
    keys: Vec<u32>,
    metrics: Vec<Metric>,
    labels: BTreeMap<String, String>,
}

impl Rows {
    /// Reads the wanted rows of the runs at these positions; rows of other runs are passed over.
    pub(super) fn read(
        connection: &Connection,
        places: &HashMap<String, usize>,
        wanted: &Wanted,
    ) -> Result<Self> {
        let mut rows = Self::read_without_metrics(connection, places, wanted)?;
        rows.read_keys(connection, places)?;
        rows.read_metrics(connection, places)?;
        Ok(rows)
    }

    /// The same without keys and points, which are then those of no run.
    pub(super) fn read_without_metrics(
        connection: &Connection,
        places: &HashMap<String, usize>,
        wanted: &Wanted,
    ) -> Result<Self> {
        let mut rows = Self { wanted: wanted.clone(), names: Vec::new(), runs: Vec::new() };
        rows.runs.resize_with(places.len(), Found::default);
        for table in ["params", "tags"] {
            rows.read_labels(connection, places, table)?;
        }
        Ok(rows)
    }

    /// The keys of all metrics of a run, in byte order.
    pub(super) fn keys(&self, run: usize) -> Vec<String> {
        let mut keys: Vec<_> =
            self.runs[run].keys.iter().map(|key| self.names[*key as usize].clone()).collect();
        keys.sort_unstable();
        keys
    }

    /// The points of the wanted metrics of a run.
    pub(super) fn metrics(&self, run: usize) -> Vec<Metric> {
        self.runs[run].metrics.clone()
    }

    /// The wanted tags and parameters of a run.
    pub(super) fn labels(&self, run: usize) -> BTreeMap<String, String> {
        self.runs[run].labels.clone()
    }

    fn read_keys(&mut self, connection: &Connection, places: &HashMap<String, usize>) -> Result<()> {
        let mut known: HashMap<String, u32> = HashMap::new();
        each(connection, "SELECT DISTINCT run_uuid, \"key\" FROM main.metrics", &[], |row| {
            let (Some(run), Some(key)) = (text(row, 0)?.and_then(|run| places.get(run)), text(row, 1)?)
            else {
                return Ok(());
            };
            let place = known.get(key).copied().unwrap_or_else(|| {
                let place = self.names.len() as u32;
                self.names.push(key.to_owned());
                known.insert(key.to_owned(), place);
                place
            });
            self.runs[*run].keys.push(place);
            Ok(())
        })
    }

    fn read_metrics(&mut self, connection: &Connection, places: &HashMap<String, usize>) -> Result<()> {
        let columns = required(connection, "metrics", &METRICS)?;
        let Some(selection) = Selection::new(&columns, &self.wanted) else { return Ok(()) };
        let sql = format!("{} FROM main.metrics WHERE {}", selection.columns, selection.condition);
        let (wanted, runs) = (&self.wanted, &mut self.runs);
        each(connection, &sql, &selection.keys, |row| match text(row, 0)?.and_then(|run| places.get(run)) {
            Some(run) => add(&mut runs[*run].metrics, wanted, row),
            None => Ok(()),
        })?;
        runs.iter_mut().for_each(|found| sort(&mut found.metrics));
        Ok(())
    }

    fn read_labels(
        &mut self,
        connection: &Connection,
        places: &HashMap<String, usize>,
        table: &str,
    ) -> Result<()> {
        if (self.wanted.texts.is_empty() && !self.wanted.config) || columns(connection, table)?.is_empty() {
            return Ok(());
        }
        required(connection, table, &["key", "value", "run_uuid"])?;
        let all = self.wanted.config;
        let keys: Vec<&String> = self.wanted.texts.iter().filter(|_| !all).collect();
        let only = if all { String::new() } else { format!(" WHERE \"key\" IN ({})", marks(keys.len())) };
        let sql = format!("SELECT run_uuid, \"key\", value FROM main.{table}{only}");
        let runs = &mut self.runs;
        each(connection, &sql, &keys, |row| {
            let run = text(row, 0)?.and_then(|run| places.get(run));
            if let (Some(run), Some(key), Some(value)) = (run, text(row, 1)?, text(row, 2)?)
                && !value.is_empty()
            {
                runs[*run].labels.insert(key.to_owned(), value.to_owned());
            }
            Ok(())
        })
    }
}

/// How the points of wanted metrics are asked for.
pub(super) struct Selection<'a> {
    /// The columns that [`add`] reads; the first is the run.
    pub(super) columns: String,
    /// The condition on the key.
    pub(super) condition: String,
    /// The parameters of the condition.
    pub(super) keys: Vec<&'a String>,
}

impl<'a> Selection<'a> {
    /// In a table of these columns; none where no metric is wanted.
    pub(super) fn new(columns: &[String], wanted: &'a Wanted) -> Option<Self> {
        let or_zero =
            |name: &'static str| if columns.iter().any(|column| column == name) { name } else { "0" };
        let (step, is_nan) = (or_zero("step"), or_zero("is_nan"));
        let keys: Vec<&String> =
            wanted.numbers.iter().filter(|key| points::place(wanted, key).is_some()).collect();
        (!keys.is_empty()).then(|| Self {
            columns: format!("SELECT run_uuid, \"key\", value, timestamp, {step}, {is_nan}"),
            condition: format!("\"key\" IN ({})", marks(keys.len())),
            keys,
        })
    }
}

/// Adds the point of a row to the metrics of its run.
pub(super) fn add(metrics: &mut Vec<Metric>, wanted: &Wanted, row: &Row<'_>) -> Result<()> {
    let Some(place) = text(row, 1)?.and_then(|key| points::place(wanted, key)) else { return Ok(()) };
    let known = metrics.iter().position(|metric| metric.wanted == place).unwrap_or_else(|| {
        metrics.push(Metric { wanted: place, ..Metric::default() });
        metrics.len() - 1
    });
    let metric = &mut metrics[known];
    match point(row)? {
        Ok(point) => metric.points.push(point),
        // The earliest step is shown, in whatever order the rows come: the one of the fewest digits.
        Err(error) => {
            let order = |error: &Error| (error.place().map(str::len), error.to_string());
            if metric.unreadable.as_ref().is_none_or(|known| order(&error) < order(known)) {
                metric.unreadable = Some(error);
            }
        }
    }
    Ok(())
}

/// Sorts the metrics of a run: the order of rows in a database means nothing, this one is always
/// the same.
pub(super) fn sort(metrics: &mut [Metric]) {
    metrics.sort_unstable_by_key(|metric| metric.wanted);
    for metric in metrics {
        metric.points.sort_unstable_by(|a, b| {
            (a.step, a.timestamp).cmp(&(b.step, b.timestamp)).then(a.value.total_cmp(&b.value))
        });
    }
}

fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}

/// Calls `read` for each row of a query.
pub(super) fn each(
    connection: &Connection,
    sql: &str,
    parameters: &[&String],
    mut read: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare(sql).map_err(unreadable)?;
    let mut rows = statement.query(params_from_iter(parameters)).map_err(unreadable)?;
    while let Some(row) = rows.next().map_err(unreadable)? {
        read(row)?;
    }
    Ok(())
}

/// The text of a cell, none where it is null.
pub(super) fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a str>> {
    row.get_ref(column).map_err(unreadable)?.as_str_or_null().map_err(unreadable)
}

/// The point of a row, or why it is none.
fn point(row: &Row<'_>) -> Result<std::result::Result<Point, Error>> {
    let cell = |column: usize| row.get_ref(column).map_err(unreadable);
    let (value, timestamp, step) = (cell(2)?, cell(3)?, cell(4)?);
    let is_nan = matches!(cell(5)?, ValueRef::Integer(1..));
    let number = match value {
        _ if is_nan => Some(f64::NAN),
        ValueRef::Real(value) if value.abs().total_cmp(&STORED_INFINITY).is_eq() => {
            Some(f64::INFINITY.copysign(value))
        }
        ValueRef::Real(value) => Some(value),
        ValueRef::Integer(value) => Some(value as f64),
        _ => None,
    };
    let step_number = match step {
        ValueRef::Null => Some(0),
        ValueRef::Integer(step) => Some(step),
        _ => None,
    };
    Ok(match (number, timestamp, step_number) {
        (Some(value), ValueRef::Integer(timestamp), Some(step)) => Ok(Point { step, timestamp, value }),
        _ => {
            let place = format!("table `metrics`, step {}", shown(step));
            Err(Error::format("the value of a metric is not a number")
                .at(place)
                .found(format_args!("value {}, timestamp {}", shown(value), shown(timestamp)))
                .allowed("a number and whole numbers of milliseconds and steps"))
        }
    })
}

fn shown(cell: ValueRef<'_>) -> String {
    match cell {
        ValueRef::Null => "null".into(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => value.to_string(),
        ValueRef::Text(text) => crate::text::shown(text),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
