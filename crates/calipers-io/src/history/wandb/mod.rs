//! W&B offline logs: the history of one run, its names and its configuration.
//!
//! One row for each history record. Nested keys are joined with points, and a value that is an
//! object is addressed in the same way; a key that is itself written with points goes before.
//! Where a row has no item `_step`, the step of its record stands for it.

mod item;
mod log;
mod value;

use std::collections::BTreeSet;

use calipers_core::{Error, Result};

use super::columns::{Columns, row_after};
use super::json::loose::{self, Loose};
use super::wire::{Field, Fields};
use super::{Field as Known, Origin, Places, Run, Table, Wanted};
use item::Item;
use log::{Log, Next};

const STEP: &str = "_step";
/// The key of a configuration under which W&B keeps its own notes.
const OWN_CONFIG: &[u8] = b"_wandb";
/// What messages call a row.
const ROW: &str = "history record";

/// Whether the bytes begin as a W&B offline log does.
pub fn is_wandb(bytes: &[u8]) -> bool {
    bytes.starts_with(log::IDENT)
}

/// What the first records of a log say of its run; none of its history is read. The bytes may end
/// anywhere.
pub fn head(opening: &[u8]) -> Result<Run> {
    let wanted = Wanted::default();
    let (mut log, mut history) = (Log::open(opening)?, History::new(&wanted));
    while let Next::Record(_, record) = log.next()? {
        for field in Fields::of(record) {
            match field? {
                (2, Field::Bytes(_)) => return Ok(history.run),
                (17, Field::Bytes(run)) => history.add_run(run)?,
                _ => {}
            }
        }
        // The run is described once, before anything of it is logged.
        if history.run.id.is_some() {
            break;
        }
    }
    Ok(history.run)
}

/// Reads the log of one run.
///
/// A record that the end of the file cuts off is left out and noted in `cut_at`; a wrong checksum
/// is an error. A log without history records is a table without rows.
pub fn read(bytes: &[u8], wanted: &Wanted) -> Result<Table> {
    if bytes.is_empty() {
        return Err(Error::format("the file is empty"));
    }
    let mut log = Log::open(bytes)?;
    let mut history = History::new(wanted);
    let cut_at = loop {
        match log.next()? {
            Next::Record(start, record) => {
                history.add(record, start).map_err(|error| error.at(format_args!("byte {start}")))?;
            }
            Next::Cut(start) => break Some(start as u64),
            Next::End => break None,
        }
    };
    let (keys, numbers, texts) = history.columns.finish();
    Ok(Table {
        origin: Origin::Wandb,
        run: history.run,
        keys,
        before: 0,
        rows: history.rows,
        numbers,
        texts,
        places: Places::Numbered(ROW, 0),
        cut_at,
    })
}

/// What the records read so far say.
struct History<'w> {
    wanted: &'w Wanted,
    columns: Columns,
    /// The column of `_step`, where wanted.
    step: Option<usize>,
    rows: usize,
    run: Run,
    /// The keys whose x was declared for themselves.
    named: BTreeSet<String>,
}

impl<'w> History<'w> {
    fn new(wanted: &'w Wanted) -> Self {
        let columns = Columns::new(wanted);
        let step = columns.wanted_number(STEP);
        Self { wanted, columns, step, rows: 0, run: Run::default(), named: BTreeSet::new() }
    }

    fn add(&mut self, record: &[u8], start: usize) -> Result<()> {
        for field in Fields::of(record) {
            match field? {
                (2, Field::Bytes(history)) => self.add_row(history, start)?,
                (5, Field::Bytes(config)) => self.add_config(config)?,
                (12, Field::Bytes(metric)) => self.add_metric(metric)?,
                (17, Field::Bytes(run)) => self.add_run(run)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add_row(&mut self, history: &[u8], start: usize) -> Result<()> {
        let place = Place { row: row_after(self.rows)?, start };
        let mut step = None;
        let mut key = Vec::new();
        for field in Fields::of(history) {
            match field? {
                (1, Field::Bytes(item)) => {
                    let item = Item::read(item, &mut key)?;
                    self.add_item(&item, &mut key, place);
                }
                (2, Field::Bytes(message)) => step = Some(step_number(message)?),
                _ => {}
            }
        }
        if let (Some(column), Some(step)) = (self.step, step)
            && !self.columns.holds(column, place.row)
        {
            self.columns.slot(STEP.as_bytes());
            self.columns.log(column, place.row, step as f64);
        }
        self.rows += 1;
        Ok(())
    }

    fn add_item(&mut self, item: &Item<'_>, key: &mut Vec<u8>, place: Place) {
        let Item { json, nested } = *item;
        let columns = &mut self.columns;
        if !value::is_object(json) || (value::may_be_media(json) && !leads_to_wanted(key, self.wanted)) {
            let slot = columns.slot(key);
            if let Some(number) = slot.number {
                place.put_number(columns, number, nested, value::number(json), key);
            }
            if let Some(text) = slot.text
                && let Ok(value) = loose::parse(json)
            {
                place.put_name(columns, text, nested, &value);
            }
            return;
        }
        match loose::parse(json) {
            Ok(value) => value::visit_nested(key, &value, &mut |key, value, holds_keys| {
                if holds_keys && !columns.is_wanted(key) {
                    return;
                }
                let slot = columns.slot(key);
                if let Some(number) = slot.number {
                    place.put_number(columns, number, true, value::number_of(value), key);
                }
                if let Some(text) = slot.text {
                    place.put_name(columns, text, true, value);
                }
            }),
            Err(error) => {
                if let Some(number) = columns.slot(key).number {
                    place.put_number(columns, number, nested, Err(error), key);
                }
            }
        }
    }

    fn add_run(&mut self, run: &[u8]) -> Result<()> {
        for field in Fields::of(run) {
            match field? {
                (1, Field::Bytes(id)) => replace(&mut self.run.id, id),
                (2, Field::Bytes(entity)) => self.add_field(Known::Entity, entity),
                (3, Field::Bytes(project)) => self.add_field(Known::Project, project),
                (4, Field::Bytes(config)) => self.add_config(config)?,
                (6, Field::Bytes(group)) => self.add_field(Known::Group, group),
                (7, Field::Bytes(job)) => self.add_field(Known::JobType, job),
                (8, Field::Bytes(name)) => replace(&mut self.run.name, name),
                (17, Field::Bytes(time)) => self.run.began = Some(seconds(time)?),
                _ => {}
            }
        }
        Ok(())
    }

    fn add_field(&mut self, field: Known, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.run.fields.insert(field, String::from_utf8_lossy(bytes).into_owned());
        }
    }

    /// The x that the run declares for some of its keys. A key by its name stands before a pattern, which
    /// `*` ends; of several the last one stands.
    fn add_metric(&mut self, metric: &[u8]) -> Result<()> {
        let (mut name, mut pattern, mut x) = (&b""[..], &b""[..], &b""[..]);
        for field in Fields::of(metric) {
            match field? {
                (1, Field::Bytes(bytes)) => name = bytes,
                (2, Field::Bytes(bytes)) => pattern = bytes,
                (4, Field::Bytes(bytes)) => x = bytes,
                _ => {}
            }
        }
        if x.is_empty() {
            return Ok(());
        }
        let x = String::from_utf8_lossy(x).into_owned();
        for key in &self.wanted.numbers {
            let named = key.as_bytes() == name;
            let matched = pattern.strip_suffix(b"*").is_some_and(|start| key.as_bytes().starts_with(start))
                || (!pattern.is_empty() && key.as_bytes() == pattern);
            if named {
                self.named.insert(key.clone());
            }
            if named || (matched && !self.named.contains(key)) {
                self.run.x_of.insert(key.clone(), x.clone());
            }
        }
        Ok(())
    }

    fn add_config(&mut self, config: &[u8]) -> Result<()> {
        let mut key = Vec::new();
        for field in Fields::of(config) {
            let (1, Field::Bytes(item)) = field? else { continue };
            let item = Item::read(item, &mut key)?;
            // What W&B writes about itself is no setting of the run.
            if key == OWN_CONFIG || !(self.wanted.config || leads_to_wanted(&key, self.wanted)) {
                continue;
            }
            let Ok(value) = loose::parse(item.json) else { continue };
            value::visit_nested(&mut key, &value, &mut |key, value, _| {
                let label = String::from_utf8_lossy(key);
                if let (true, Some(name)) = (self.wanted.label(&label), value::name_of(value)) {
                    self.run.labels.insert(label.into_owned(), name.into_owned());
                }
            });
        }
        Ok(())
    }
}

/// Whether a wanted key is this one or lies in it.
fn leads_to_wanted(key: &[u8], wanted: &Wanted) -> bool {
    wanted.numbers.iter().chain(&wanted.texts).any(|wanted| wanted.as_bytes().starts_with(key))
}

/// A later name takes the place of an earlier one; an empty one says nothing.
fn replace(name: &mut Option<String>, bytes: &[u8]) {
    if !bytes.is_empty() {
        *name = Some(String::from_utf8_lossy(bytes).into_owned());
    }
}

/// Seconds and nanoseconds as one number.
fn seconds(message: &[u8]) -> Result<f64> {
    let (mut seconds, mut nanos) = (0, 0);
    for field in Fields::of(message) {
        match field? {
            (1, Field::Varint(number)) => seconds = number.cast_signed(),
            (2, Field::Varint(number)) => nanos = number.cast_signed(),
            _ => {}
        }
    }
    Ok(seconds as f64 + nanos as f64 / 1e9)
}

/// The number of a step; 0 is not written.
fn step_number(message: &[u8]) -> Result<i64> {
    let mut step = 0;
    for field in Fields::of(message) {
        if let (1, Field::Varint(number)) = field? {
            step = number.cast_signed();
        }
    }
    Ok(step)
}

/// The row that is being read and the byte at which its record starts.
#[derive(Clone, Copy)]
struct Place {
    row: u32,
    start: usize,
}

impl Place {
    /// Logs a number, or why it is none. What a nested key gives stands behind what is there.
    fn put_number(
        self,
        columns: &mut Columns,
        column: usize,
        nested: bool,
        number: Result<Option<f64>>,
        key: &[u8],
    ) {
        match number {
            Ok(Some(number)) if !nested || !columns.holds(column, self.row) => {
                columns.log(column, self.row, number);
            }
            Ok(_) => {}
            Err(error) => columns.refuse(column, || {
                let key = String::from_utf8_lossy(key);
                let Self { row, start } = self;
                error.at(format_args!("byte {start}, {ROW} {}, key `{key}`", u64::from(row) + 1))
            }),
        }
    }

    /// Logs a name under the same rule.
    fn put_name(self, columns: &mut Columns, column: usize, nested: bool, value: &Loose) {
        if let Some(name) = value::name_of(value)
            && (!nested || !columns.holds_name(column, self.row))
        {
            columns.name(column, self.row, &name);
        }
    }
}
