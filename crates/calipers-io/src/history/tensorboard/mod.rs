//! TensorBoard event files: the scalars of one run, which may be spread over several files.
//!
//! One row for each event that holds a summary. The columns are the tags, besides `step` and
//! `wall_time`, which every event has; a tag of one of these two names cannot be addressed.

mod records;
mod scalar;

use calipers_core::{Error, Result, Stored};

use super::columns::{Columns, row_after};
use super::wire::{Field, Fields};
use super::{Origin, Places, Run, Session, Table, Wanted};
use records::{Next, Records};
use scalar::{Held, Tagged};

/// Whether the bytes begin with the head of an event record.
pub fn is_events(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|head| records::checked_length(head).is_some())
}

/// Reads the event files of one run, each given with the name that errors use, in their order.
///
/// A record that the end of its file cuts off is left out and noted in `cut_at`; a wrong checksum
/// is an error.
pub fn read(files: &[(&str, &[u8])], wanted: &Wanted) -> Result<Table> {
    // Event files have numbers only.
    let wanted = Wanted { numbers: wanted.numbers.clone(), texts: Vec::new(), ..Wanted::default() };
    let mut events = Events::new(&wanted);
    let mut cut_at = None;
    for &(name, bytes) in files {
        if let Some(start) = events.read_file(name, bytes).map_err(|error| error.in_file(name))? {
            cut_at = Some(start as u64);
        }
    }
    let (keys, mut numbers, texts) = events.columns.finish();
    let doubles = events.doubles;
    for column in &mut numbers {
        let double = doubles.iter().any(|(_, key)| *key == column.key);
        column.stored = if double { Stored::Double } else { Stored::Single };
    }
    Ok(Table {
        origin: Origin::Tensorboard,
        run: Run { sessions: events.sessions, began: events.began, ..Run::default() },
        keys,
        before: 0,
        rows: events.rows,
        numbers,
        texts,
        places: Places::Numbered("summary event", 0),
        cut_at,
    })
}

/// The events read so far.
struct Events {
    columns: Columns,
    /// The column of `step` and that of `wall_time`, where wanted.
    own: [Option<usize>; 2],
    rows: usize,
    /// The columns that hold a double: they are taken as doubles, which leaves every value as it is.
    doubles: Vec<(usize, String)>,
    /// Where writers began anew.
    sessions: Vec<Session>,
    /// The time of the first event.
    began: Option<f64>,
}

impl Events {
    fn new(wanted: &Wanted) -> Self {
        let columns = Columns::new(wanted);
        let own = ["step", "wall_time"].map(|key| columns.wanted_number(key));
        // Steps and times are whole or double.
        let doubles = own.into_iter().flatten().zip(["step", "wall_time"].map(String::from)).collect();
        Self { columns, own, rows: 0, doubles, sessions: Vec::new(), began: None }
    }

    /// Adds the events of a file; says where its last record starts if that is cut off.
    fn read_file(&mut self, name: &str, bytes: &[u8]) -> Result<Option<usize>> {
        if bytes.is_empty() {
            return Err(Error::format("the file is empty"));
        }
        let mut records = Records::new(bytes);
        loop {
            match records.next()? {
                Next::Record(start, event) => {
                    let place = |error: Error| error.at(format_args!("byte {start}"));
                    self.add(event, name, start).map_err(place)?;
                }
                Next::Cut(start) => return Ok(Some(start)),
                Next::End => return Ok(None),
            }
        }
    }

    fn add(&mut self, event: &[u8], name: &str, start: usize) -> Result<()> {
        let (mut step, mut wall_time, mut has_summary, mut starts) = (0, 0.0, false, false);
        for field in Fields::of(event) {
            match field? {
                (1, Field::Fixed64(bits)) => wall_time = f64::from_bits(bits),
                (2, Field::Varint(number)) => step = number.cast_signed(),
                (5, Field::Bytes(_)) => has_summary = true,
                (7, Field::Bytes(log)) => starts |= is_start(log)?,
                _ => {}
            }
        }
        self.began.get_or_insert(wall_time);
        if starts {
            self.sessions.push(Session { row: row_after(self.rows)?, from_step: Some(step as f64) });
        }
        if !has_summary {
            return Ok(());
        }
        let own = [step as f64, wall_time];
        let mut row = self.open_row(own)?;
        for value in Fields::of(event).flatten().filter_map(summary).flat_map(Fields::of) {
            let (1, Field::Bytes(value)) = value? else { continue };
            let tagged = Tagged::of(value)?;
            let Some(column) = self.columns.slot(tagged.tag).number else { continue };
            if self.own.contains(&Some(column)) {
                continue;
            }
            match tagged.held()? {
                Held::Number(number, stored) => {
                    if stored == Stored::Double && self.doubles.iter().all(|(known, _)| *known != column) {
                        self.doubles.push((column, String::from_utf8_lossy(tagged.tag).into_owned()));
                    }
                    if self.columns.holds(column, row) {
                        row = self.open_row(own)?;
                    }
                    self.columns.log(column, row, number);
                }
                Held::Other(what) => self.columns.refuse(column, || refused(tagged.tag, &what, name, start)),
            }
        }
        Ok(())
    }

    fn open_row(&mut self, own: [f64; 2]) -> Result<u32> {
        let row = row_after(self.rows)?;
        self.rows += 1;
        for (column, value) in self.own.into_iter().zip(own) {
            if let Some(column) = column {
                self.columns.log(column, row, value);
            }
        }
        Ok(row)
    }
}

/// Whether a session log says that a writer began.
fn is_start(log: &[u8]) -> Result<bool> {
    const START: u64 = 1;
    let mut status = 0;
    for field in Fields::of(log) {
        if let (1, Field::Varint(number)) = field? {
            status = number;
        }
    }
    Ok(status == START)
}

/// When the first event of a file was written; none where that cannot be read.
pub fn began(bytes: &[u8]) -> Option<f64> {
    let Next::Record(_, event) = Records::new(bytes).next().ok()? else { return None };
    Fields::of(event).flatten().find_map(|field| match field {
        (1, Field::Fixed64(bits)) => Some(f64::from_bits(bits)),
        _ => None,
    })
}

fn summary<'a>(field: (u64, Field<'a>)) -> Option<&'a [u8]> {
    match field {
        (5, Field::Bytes(summary)) => Some(summary),
        _ => None,
    }
}

fn refused(tag: &[u8], what: &str, name: &str, start: usize) -> Error {
    let tag = String::from_utf8_lossy(tag);
    let error = Error::value(format!("the tag `{tag}` does not hold a number")).in_file(name);
    let error = error.at(format_args!("byte {start}")).found(what);
    error.allowed("a scalar: a simple value, or a float or double tensor of one element")
}
