//! Runs that are spread over several files: resumed logs, two loggers, a file per metric.

use calipers_core::{Error, Result};
use calipers_io::history::{FORMATS, Numbers, Session, Table, Wanted, dvclive, wandb};

use super::{Log, Reader, Sink};
use crate::training::discover::{History, Place};

impl Reader<'_> {
    /// The logs of one run, as one table: a later file begins a session.
    pub(super) fn wandb(
        &self,
        history: &History,
        places: &[Place],
        wanted: &Wanted,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let mut whole: Option<Table> = None;
        let mut cut_in = None;
        for place in places {
            let bytes = self.bytes(history, place)?;
            let table = wandb::read(&bytes, wanted).map_err(|error| error.in_file(&place.shown))?;
            cut_in = cut_in.or_else(|| table.cut_at.map(|_| place.shown.clone()));
            whole = Some(match whole {
                None => table,
                Some(earlier) => after(earlier, table),
            });
        }
        let Some(table) = whole else { return Ok(false) };
        sink.log(Log { cut_in, ..self.log(history, table, places.iter())? })?;
        Ok(true)
    }

    /// One run that two loggers wrote down: the table counts where it has at least as many of the metrics.
    pub(super) fn loggers(
        &self,
        history: &History,
        (table, events): (&Place, &[Place]),
        wanted: &Wanted,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let mut both = [Held(None), Held(None)];
        let [by_table, by_events] = &mut both;
        self.file(history, table, wanted, by_table)?;
        self.events(history, events, wanted, by_events)?;
        let has = |held: &Held| {
            let logged = |key: &str| {
                let column = held.0.as_ref().and_then(|log| log.table.number(key));
                column.is_some_and(|column| !column.rows.is_empty() || column.unreadable.is_some())
            };
            self.options.metrics.iter().filter(|training| logged(&training.metric)).count()
        };
        let (first, second) = if has(by_events) > has(by_table) { (1, 0) } else { (0, 1) };
        let others = both[second].0.as_ref().map_or_else(Vec::new, |log| log.files.clone());
        let Some(mut log) = both[first].0.take() else { return Ok(false) };
        log.files.extend(others);
        sink.log(log)?;
        Ok(true)
    }

    pub(super) fn dvclive(
        &self,
        history: &History,
        files: &[(String, Place)],
        wanted: &Wanted,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let mut read: Vec<(&str, Vec<u8>)> = Vec::new();
        let mut places: Vec<&Place> = Vec::new();
        for (key, place) in files {
            let asked = wanted.numbers.iter().any(|wanted| wanted == key);
            // The names of other metrics are keys for messages.
            read.push((key, if asked { self.bytes(history, place)? } else { Vec::new() }));
            places.extend(asked.then_some(place));
        }
        let views: Vec<(&str, &[u8])> = read.iter().map(|(key, bytes)| (*key, bytes.as_slice())).collect();
        let table = dvclive::read(&views, wanted).map_err(|error| error.in_file(&history.shown))?;
        let shown = places.iter().map(|place| place.shown.clone()).collect();
        let format = FORMATS.called("dvclive");
        let format = format.ok_or_else(|| Error::format("no file says what the folder is"))?;
        sink.log(Log::new(table, format, history, &history.shown, shown))?;
        Ok(true)
    }
}

/// Keeps the table of a log.
struct Held(Option<Log>);

impl Sink for Held {
    fn log(&mut self, log: Log) -> Result<()> {
        self.0 = Some(log);
        Ok(())
    }

    fn again(&mut self) {
        self.0 = None;
    }
}

/// Two tables of one run: the rows of the later one follow in a session of their own, and what it says of
/// the run counts.
fn after(mut table: Table, later: Table) -> Table {
    let offset = table.rows as u32;
    table.run.sessions.push(Session { row: offset, from_step: None });
    for key in later.keys {
        if !table.keys.contains(&key) {
            table.keys.push(key);
        }
    }
    for column in later.numbers {
        let rows = column.rows.iter().map(|row| row + offset);
        match table.numbers.iter_mut().find(|known| known.key == column.key) {
            Some(known) => {
                known.rows.extend(rows);
                known.values.extend(column.values);
                known.stored = known.stored.finer(column.stored);
                known.unreadable = known.unreadable.take().or(column.unreadable);
            }
            None => {
                let rows = rows.collect();
                table.numbers.push(Numbers { rows, ..column });
            }
        }
    }
    table.rows += later.rows;
    table.cut_at = table.cut_at.or(later.cut_at);
    let run = later.run;
    table.run.name = run.name.or(table.run.name.take());
    table.run.fields.extend(run.fields);
    table.run.labels.extend(run.labels);
    table.run.x_of.extend(run.x_of);
    table
}
