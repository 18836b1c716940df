//! One run at a time, through the index that leads from a run to its metrics.

use std::collections::{BTreeSet, HashMap};

use calipers_core::Result;
use rusqlite::{Connection, OptionalExtension};

use super::connection::unreadable;
use super::rows::{Selection, add, each, sort, text};
use crate::history::Wanted;
use crate::history::mlflow::points::Metric;

/// The way from a run to its metrics.
pub(super) struct ByRun {
    /// The table of metrics and its index.
    table: String,
    /// The columns of that table.
    columns: Vec<String>,
    /// How many rows the table has for each run. An index that leads to more or fewer is damaged,
    /// which the quick check does not see.
    counts: Vec<u64>,
}

/// The keys of all metrics of a run in byte order, and the points of the wanted ones.
pub(super) type Found = (Vec<String>, Vec<Metric>);

impl ByRun {
    /// The way for the runs at these positions, in a table of these columns; none in a database
    /// without such an index.
    pub(super) fn find(
        connection: &Connection,
        places: &HashMap<String, usize>,
        columns: Vec<String>,
    ) -> Result<Option<Self>> {
        // Best is an index that goes on with the key, as MLflow makes it.
        let sql = "SELECT list.name FROM pragma_index_list('metrics', 'main') AS list
                JOIN pragma_index_xinfo(list.name, 'main') AS first
                LEFT JOIN pragma_index_xinfo(list.name, 'main') AS second
                    ON second.seqno = 1 AND second.name = 'key'
            WHERE list.origin = 'c' AND list.partial = 0
                AND first.seqno = 0 AND first.name = 'run_uuid' AND first.coll = 'BINARY'
            ORDER BY second.name IS NULL, list.name LIMIT 1";
        let name: Option<String> =
            connection.query_row(sql, [], |row| row.get(0)).optional().map_err(unreadable)?;
        let Some(name) = name else { return Ok(None) };
        let mut counts = vec![0; places.len()];
        each(connection, "SELECT run_uuid, \"key\" FROM main.metrics NOT INDEXED", &[], |row| {
            if let Some(run) = text(row, 0)?.and_then(|run| places.get(run)) {
                counts[*run] += 1;
            }
            text(row, 1).map(drop)
        })?;
        let table = format!("main.metrics INDEXED BY \"{}\"", name.replace('"', "\"\""));
        Ok(Some(Self { table, columns, counts }))
    }

    /// Reads the run at a position.
    pub(super) fn read(
        &self,
        connection: &Connection,
        (run, place): (&String, usize),
        wanted: &Wanted,
    ) -> Result<Found> {
        let of_run = "run_uuid = ? COLLATE BINARY";
        let mut keys: BTreeSet<String> = BTreeSet::new();
        let mut count = 0;
        let sql = format!("SELECT \"key\" FROM {} WHERE {of_run}", self.table);
        each(connection, &sql, &[run], |row| {
            count += 1;
            if let Some(key) = text(row, 0)?
                && !keys.contains(key)
            {
                keys.insert(key.to_owned());
            }
            Ok(())
        })?;
        if count != self.counts[place] {
            let rows = self.counts[place];
            return Err(unreadable(format!("an index to {count} metrics of a run that has {rows}")));
        }
        let mut metrics = Vec::new();
        if let Some(Selection { columns, condition, mut keys }) = Selection::new(&self.columns, wanted) {
            keys.insert(0, run);
            let sql = format!("{columns} FROM {} WHERE {of_run} AND {condition}", self.table);
            each(connection, &sql, &keys, |row| add(&mut metrics, wanted, row))?;
            sort(&mut metrics);
        }
        Ok((keys.into_iter().collect(), metrics))
    }
}
