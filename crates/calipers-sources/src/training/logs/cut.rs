//! A table that lists its runs one after the other, cut into tables of one run each while it is
//! read: only one run is in memory then.

use std::collections::BTreeSet;

use calipers_core::Result;
use calipers_io::history::chunks::{Chunks, Gathered};
use calipers_io::history::{Table, Texts};

use crate::training::options::Options;
use crate::training::runs::known::CONFIG;

/// How a table is cut.
pub(super) struct Cut<'a> {
    /// The columns whose texts tell runs apart.
    by: Vec<&'a str>,
    /// Every column of texts that was asked for.
    labels: Vec<&'a str>,
    /// The keys of the metrics.
    metrics: Vec<&'a str>,
}

/// What is known while a table is cut.
#[derive(Default)]
struct State {
    /// The rows of the run that is being read.
    rows: Gathered,
    /// Its texts.
    run: Vec<String>,
    /// The texts of the runs before it.
    finished: BTreeSet<Vec<String>>,
    /// How many columns were found so far.
    found: usize,
    /// Which metrics are missing in a row that was read.
    missing: Vec<bool>,
}

impl<'a> Cut<'a> {
    /// The way to cut tables; none where nothing tells their runs apart.
    pub(super) fn new(options: &'a Options) -> Option<Self> {
        let run = options.run_column.as_deref();
        let columns: Vec<&str> = options.assignment.columns().collect();
        // A word in front of a name, and rows that are left out, ask for the whole table.
        if !options.filters.is_empty() || columns.iter().any(|column| column.starts_with(CONFIG)) {
            return None;
        }
        let by: Vec<&str> = match run {
            Some(run) => vec![run],
            None => columns.clone(),
        };
        let labels = run.into_iter().chain(columns).collect();
        let metrics = options.metrics.iter().map(|training| training.metric.as_str()).collect();
        (!by.is_empty()).then_some(Self { by, labels, metrics })
    }

    /// Passes on the table of each run, with the metrics that are missing in some row before its
    /// end. Says whether that was all: a table in which a run comes back, or which cannot be
    /// understood run by run for another reason, is left for a reader of the whole.
    pub(super) fn runs(
        &self,
        chunks: &mut dyn Chunks,
        each: &mut dyn FnMut(Table, &[bool]) -> Result<()>,
    ) -> Result<bool> {
        let mut state = State { missing: vec![false; self.metrics.len()], ..State::default() };
        while let Some(chunk) = chunks.next()? {
            if !self.chunk(&chunk, &mut state, each)? {
                return Ok(false);
            }
        }
        self.finish(&mut state, each)
    }

    fn chunk(
        &self,
        chunk: &Table,
        state: &mut State,
        each: &mut dyn FnMut(Table, &[bool]) -> Result<()>,
    ) -> Result<bool> {
        // What a key or a column found later means for the runs before is not known here.
        let found = columns(chunk);
        let more = !state.finished.is_empty() && found != state.found;
        let named = |label: &&str| chunk.text(label).is_some_and(|texts| texts.cells.len() == chunk.rows);
        if more
            || !self.labels.iter().all(named)
            || chunk.numbers.iter().any(|column| column.unreadable.is_some())
        {
            return Ok(false);
        }
        state.found = found;
        for (metric, missing) in self.metrics.iter().zip(&mut state.missing) {
            *missing |= chunk.number(metric).is_none_or(|column| column.rows.len() < chunk.rows);
        }
        let by: Vec<&Texts> = self.by.iter().filter_map(|label| chunk.text(label)).collect();
        let mut from = 0;
        for row in 0..chunk.rows as u32 {
            let at = row as usize;
            if row > 0 && by.iter().all(|texts| texts.cells[at].1 == texts.cells[at - 1].1) {
                continue;
            }
            let run = || by.iter().map(|texts| &texts.names[texts.cells[at].1 as usize]);
            if run().eq(&state.run) {
                continue;
            }
            if row > from {
                state.rows.add(chunk, from..row)?;
            }
            if !state.rows.is_empty() && !self.finish(state, each)? {
                return Ok(false);
            }
            from = row;
            state.run = run().cloned().collect();
            if state.finished.contains(&state.run) {
                return Ok(false);
            }
        }
        state.rows.add(chunk, from..chunk.rows as u32)?;
        Ok(true)
    }

    /// Passes on the run that was read.
    fn finish(&self, state: &mut State, each: &mut dyn FnMut(Table, &[bool]) -> Result<()>) -> Result<bool> {
        let Some(table) = state.rows.take().filter(|table| table.rows > 0) else { return Ok(false) };
        if columns(&table) != state.found {
            return Ok(false);
        }
        for (metric, missing) in self.metrics.iter().zip(&state.missing) {
            let Some(column) = table.number(metric) else { return Ok(false) };
            // Whether a NaN was logged depends on rows that are still to come.
            if !missing && column.values.iter().any(|value| !value.is_finite()) {
                return Ok(false);
            }
        }
        state.finished.insert(std::mem::take(&mut state.run));
        each(table, &state.missing)?;
        Ok(true)
    }
}

fn columns(table: &Table) -> usize {
    table.numbers.len() + table.texts.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::options;
    use calipers_io::history::{delimited, json};

    /// The runs that a table was cut into, by name and number of rows, and whether that was all.
    fn cut(text: &str, step: usize) -> (Vec<(String, usize)>, bool) {
        let mut options = options(&[], "m");
        options.run_column = Some("run".into());
        let (bytes, wanted) = (text.as_bytes(), options.wanted());
        let mut chunks = if text.starts_with('{') {
            json::line_chunks(&bytes, &wanted, step).unwrap()
        } else {
            delimited::chunks(&bytes, &wanted, &options.delimited, step).unwrap()
        };
        let mut runs = Vec::new();
        let all = Cut::new(&options).unwrap().runs(&mut *chunks, &mut |table, _| {
            runs.push((table.texts[0].names.join(" "), table.rows));
            Ok(())
        });
        (runs, all.unwrap())
    }

    #[test]
    fn runs_that_follow_each_other_are_cut_wherever_pieces_end() {
        let text = "run,epoch,m\na,0,1\na,1,\nb,0,2\nc,0,3\nc,1,4\nc,2,nan\n";
        for step in 1..60 {
            let (runs, all) = cut(text, step);
            let named: Vec<_> = runs.iter().map(|(name, rows)| (name.as_str(), *rows)).collect();
            assert_eq!((named, all), (vec![("a", 2), ("b", 1), ("c", 3)], true), "{step}");
        }
    }

    #[test]
    fn what_only_the_whole_table_can_tell_is_left_to_it() {
        for (text, why) in [
            ("run,epoch,m\na,0,1\nb,0,2\na,1,3\n", "a run comes back"),
            ("run,epoch,m\na,0,1\n,0,2\n", "a row of no run"),
            ("run,epoch,m\na,0,nan\nb,0,2\nb,1,2\nb,2,2\nb,3,2\nb,4,\n", "a NaN before a value is missing"),
            ("run,epoch,m\na,0,1\nb,x,2\n", "an x that is no number"),
            ("run,epoch\na,0\nb,0\n", "no metric"),
            ("run,epoch,m\n", "no rows"),
            ("{\"run\": 1, \"step\": 0, \"m\": 1}\n{\"run\": 2, \"epoch\": 0, \"m\": 1}\n", "another x"),
        ] {
            assert!(!cut(text, 16).1, "{why}");
        }
    }
}
