//! Every run that histories hold, whatever it logged: what is listed and gathered without a metric.

pub mod described;
pub mod listing;

use std::collections::BTreeSet;

use calipers_core::{Result, stop};
use calipers_io::history::{Table, Wanted};

use self::described::{nothing_left, unknown_keys};
use crate::inputs::Inputs;
use crate::run::Progress;
use crate::training::discover::{self, Found, History};
use crate::training::logs::{self, Log, Reader, Sink};
use crate::training::options::Options;
use crate::training::runs::filter;
use crate::training::runs::known::Known;
use crate::training::runs::split::Split;

/// A table, and those of its runs that are looked at.
pub(super) struct Surveyed {
    /// The log.
    pub(super) log: Log,
    /// How its rows are divided into runs.
    pub(super) split: Split,
    /// What is known of each run; none of one that a condition left out.
    pub(super) runs: Vec<Option<Known>>,
}

/// Which keys of a table are read: numbers and texts.
pub(super) type Keys = fn(&Table) -> (Vec<String>, Vec<String>);

/// Reads every history for its keys, then for those that `keys` names, and passes its tables on.
pub(super) fn survey(
    options: &Options,
    keys: Keys,
    progress: &dyn Progress,
    each: &mut dyn FnMut(&History, Surveyed) -> Result<()>,
) -> Result<Found> {
    let inputs = Inputs::default();
    let found = discover::histories(&options.inputs, options.format, &inputs)?;
    let notes = logs::notes(&options.inputs);
    let reader = Reader { options, inputs: &inputs, notes: &notes };
    let (mut runs, mut kept, mut met) = (0, 0, BTreeSet::new());
    progress.start(found.histories.len() as u64);
    for history in &found.histories {
        stop::wanted()?;
        let mut named = Named { keys, wanted: base(options) };
        if !reader.read(history, &named.wanted.clone(), &mut named)? {
            continue;
        }
        let mut read = Read { options, history, each, runs: 0, kept: 0, met: BTreeSet::new() };
        reader.read(history, &named.wanted, &mut read)?;
        (runs, kept) = (runs + read.runs, kept + read.kept);
        met.extend(read.met);
        progress.advance();
    }
    progress.finish();
    if kept == 0 && runs > 0 {
        return Err(nothing_left(options, &found.histories, runs));
    }
    if met.len() < options.filters.len()
        && let Some(error) = unknown_keys(options, &found.histories)
    {
        return Err(error);
    }
    Ok(found)
}

/// What rules and conditions read, and every configuration.
fn base(options: &Options) -> Wanted {
    Wanted { numbers: Vec::new(), config: true, ..options.wanted() }
}

/// Learns which keys there are.
struct Named {
    keys: Keys,
    wanted: Wanted,
}

impl Sink for Named {
    fn log(&mut self, log: Log) -> Result<()> {
        let (numbers, texts) = (self.keys)(&log.table);
        let add = |into: &mut Vec<String>, keys: Vec<String>| {
            let new: Vec<String> = keys.into_iter().filter(|key| !into.contains(key)).collect();
            into.extend(new);
        };
        add(&mut self.wanted.numbers, numbers);
        add(&mut self.wanted.texts, texts);
        Ok(())
    }

    fn again(&mut self) {}
}

struct Read<'a> {
    options: &'a Options,
    history: &'a History,
    each: &'a mut dyn FnMut(&History, Surveyed) -> Result<()>,
    /// How many runs there were, and how many of them no condition left out.
    runs: usize,
    kept: usize,
    /// The conditions whose key some run knows.
    met: BTreeSet<usize>,
}

impl Sink for Read<'_> {
    fn log(&mut self, mut log: Log) -> Result<()> {
        let filters = &self.options.filters;
        let is_table = log.table.origin.is_table();
        self.met.extend(filter::met(filters, &log.table, |_| false));
        let by_rows = is_table && filter::rows(&mut log.table, filters);
        let nothing = |table: &Table| {
            let numbers = table.numbers.iter().all(|column| column.rows.is_empty());
            numbers && table.texts.iter().all(|column| column.cells.is_empty())
        };
        if by_rows && nothing(&log.table) {
            self.runs += 1;
            return Ok(());
        }
        let split = Split::new(&log.table, self.options).map_err(|error| error.in_file(&log.shown))?;
        let met = &mut self.met;
        let mut wanted = |at: usize| {
            let part = &split.runs[at];
            let known = log.known(part.name.as_deref().unwrap_or(&log.name));
            met.extend(filter::met(filters, &log.table, |key| known.text(key).is_some()));
            let holds = filters.iter().all(|test| {
                let by_rows = is_table && filter::column(&log.table, &test.key).is_some();
                let text = part.columns.get(&test.key).map(String::as_str).or_else(|| known.text(&test.key));
                by_rows || test.holds(text)
            });
            holds.then_some(known)
        };
        let runs: Vec<Option<Known>> = (0..split.runs.len()).map(&mut wanted).collect();
        self.runs += runs.len();
        self.kept += runs.iter().flatten().count();
        (self.each)(self.history, Surveyed { log, split, runs })
    }

    fn again(&mut self) {
        (self.runs, self.kept) = (0, 0);
        self.met.clear();
    }
}
