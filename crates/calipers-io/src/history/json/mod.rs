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
mod keys;
pub mod loose;
mod rows;
mod scan;
mod sniff;
mod state;
mod string;
mod value;

use calipers_core::{Error, Result};

use super::{Format, Table, Wanted};
use scan::Scanner;

pub use sniff::sniff;
pub use state::global_step;

/// Reads the wanted keys of a history in one of the four JSON layouts.
pub fn read(bytes: &[u8], format: Format, wanted: &Wanted) -> Result<Table> {
    let mut scan = Scanner::new(bytes)?;
    match format {
        Format::JsonRows => rows::read_list(&mut scan, wanted),
        Format::JsonLines => rows::read_lines(&mut scan, wanted),
        Format::JsonColumns => columns::read(&mut scan, wanted),
        Format::TrainerState => state::read(&mut scan, wanted),
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
