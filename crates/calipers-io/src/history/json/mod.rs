//! JSON histories: a list of rows, one row per line, an object of columns, a trainer state.
//!
//! Read is strict JSON with what Python's `json` adds to it: the bare tokens `NaN`, `Infinity`
//! and `-Infinity`. A number may also be one of these three as text; `null` or an absent key means
//! that nothing was logged. Of a key that occurs twice in one object the last value counts. Inside
//! a row, nested objects are addressed as `a.b`; the key `a.b` itself goes before.
//!
//! ```
//! use calipers_io::history::{Format, Wanted, json};
//! let bytes = br#"[{"epoch": 0, "val": {"F1": 0.5}}, {"epoch": 1, "val": {"F1": NaN}}]"#;
//! assert_eq!(json::sniff(bytes), Some(Format::JsonRows));
//! let wanted = Wanted { numbers: vec!["val.F1".into()], texts: vec![] };
//! let table = json::read(bytes, Format::JsonRows, &wanted)?;
//! assert_eq!(table.keys, ["epoch", "val.F1"]);
//! assert!(table.number("val.F1").is_some_and(|column| column.values[1].is_nan()));
//! # Ok::<(), calipers_core::Error>(())
//! ```

mod cells;
mod columns;
mod digits;
mod keys;
pub mod loose;
mod pieces;
mod rows;
mod scan;
mod sniff;
mod state;
mod string;
mod value;

use calipers_core::{Error, Result};

use self::pieces::{Lines, ListedRows};
use self::scan::Scanner;
use super::pieces::Pieces;
use super::window::Window;
use super::{Format, Table, Wanted};
use crate::file::ReadAt;

pub use sniff::sniff;
pub use state::global_step;

/// Reads the wanted keys of a history in one of the four JSON layouts.
pub fn read(bytes: &[u8], format: Format, wanted: &Wanted) -> Result<Table> {
    match format {
        Format::JsonColumns => columns::read(Window::whole(bytes, scan::not_text)?, wanted, true),
        Format::TrainerState => state::read(&mut Scanner::new(bytes)?, wanted),
        rows => {
            let window = Window::whole(bytes, scan::not_text)?;
            let mut pieces = over(window, bytes.len(), rows, wanted)?;
            super::pieces::whole(&mut *pieces)?.ok_or_else(scan::empty)
        }
    }
}

/// Reads a list of rows, or one row per line, some rows at a time, about `step` bytes of the file
/// at hand.
pub fn pieces<'a>(
    file: &'a dyn ReadAt,
    format: Format,
    wanted: &Wanted,
    step: usize,
) -> Result<Box<dyn Pieces + 'a>> {
    let length = usize::try_from(file.size()).unwrap_or(usize::MAX);
    over(Window::opening(file, step, scan::not_text)?, length, format, wanted)
}

/// Reads a file whose beginning looks like an object of columns, about `step` bytes of it at hand:
/// held are the wanted columns, as numbers. An error may be that the layout is another one.
pub fn columns_in_stretches(file: &dyn ReadAt, wanted: &Wanted, step: usize) -> Result<Table> {
    columns::read(Window::opening(file, step, scan::not_text)?, wanted, false)
}

fn over<'a>(
    window: Window<'a>,
    length: usize,
    format: Format,
    wanted: &Wanted,
) -> Result<Box<dyn Pieces + 'a>> {
    match format {
        Format::JsonRows => Ok(Box::new(ListedRows::new(window, length, wanted))),
        Format::JsonLines => Ok(Box::new(Lines::new(window, length, wanted))),
        other => Err(Error::usage("not a JSON layout")
            .found(other.name())
            .allowed("json-rows, jsonl, json-columns, trainer-state")),
    }
}

/// Checks that the bytes are one JSON value and nothing else.
///
/// This tells a document that is no history, which may be passed over, from a damaged one.
pub fn check(bytes: &[u8]) -> Result<()> {
    let mut scan = Scanner::new(bytes)?;
    scan.skip()?;
    scan.end()
}
