//! TensorBoard event files: the scalars of one run, which may be spread over several files.
//!
//! One row for each event that holds a summary. The columns are the tags, besides `step` and
//! `wall_time`, which every event has; a tag of one of these two names cannot be addressed.

mod records;
mod scalar;

use calipers_core::{Error, Result};

use super::columns::{Columns, row_after};
use super::wire::{Field, Fields};
use super::{Origin, Places, Run, Table, Wanted};
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
    let wanted = Wanted { numbers: wanted.numbers.clone(), texts: Vec::new() };
    let mut events = Events::new(&wanted);
    let mut cut_at = None;
    for &(name, bytes) in files {
        if let Some(start) = events.read_file(name, bytes).map_err(|error| error.in_file(name))? {
            cut_at = Some(start as u64);
        }
    }
    let (keys, numbers, texts) = events.columns.finish();
    Ok(Table {
        origin: Origin::Tensorboard,
        run: Run::default(),
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
}

impl Events {
    fn new(wanted: &Wanted) -> Self {
        let columns = Columns::new(wanted);
        let own = ["step", "wall_time"].map(|key| columns.wanted_number(key));
        Self { columns, own, rows: 0 }
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
        let (mut step, mut wall_time, mut has_summary) = (0, 0.0, false);
        for field in Fields::of(event) {
            match field? {
                (1, Field::Fixed64(bits)) => wall_time = f64::from_bits(bits),
                (2, Field::Varint(number)) => step = number.cast_signed(),
                (5, Field::Bytes(_)) => has_summary = true,
                _ => {}
            }
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
                Held::Number(number) => {
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
