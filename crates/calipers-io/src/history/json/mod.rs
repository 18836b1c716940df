//! JSON histories: a list of rows, one row per line, an object of columns, a trainer state, tables of pandas
//! and W&B.
//!
//! Read is strict JSON with what Python's `json` adds to it: the bare tokens `NaN`, `Infinity`
//! and `-Infinity`. A number may also be one of these three as text; `null` or an absent key means
//! that nothing was logged. A wanted key that occurs twice in one object cannot be used. Inside
//! a row, nested objects are addressed as `a.b`; the key `a.b` itself goes before.
//!
//! ```
//! use calipers_io::history::{Wanted, json};
//! let bytes = br#"[{"epoch": 0, "val": {"F1": 0.5}}, {"epoch": 1, "val": {"F1": NaN}}]"#;
//! assert_eq!(json::layout(bytes), Some(json::Layout::Rows));
//! let wanted = Wanted { numbers: vec!["val.F1".into()], texts: vec![], ..Wanted::default() };
//! let table = json::read(bytes, json::Layout::Rows, &wanted)?;
//! assert_eq!(table.keys, ["epoch", "val.F1"]);
//! assert!(table.number("val.F1").is_some_and(|column| column.values[1].is_nan()));
//! # Ok::<(), calipers_core::Error>(())
//! ```

mod cells;
mod chunks;
mod columns;
mod frames;
mod keys;
mod layout;
pub mod loose;
mod rows;
mod state;
mod syntax;

use calipers_core::Result;

use self::chunks::{Lines, ListedRows};
use self::syntax::scan::{self, Scanner};
use super::chunks::{BoxedChunks, Chunks};
use super::window::Window;
use super::{Table, Wanted};
use crate::file::ReadAt;

pub use layout::{Layout, layout};
pub use state::global_step;

/// Reads the wanted keys of a history in one of the JSON layouts.
pub fn read(bytes: &[u8], layout: Layout, wanted: &Wanted) -> Result<Table> {
    let window = || Window::whole(bytes, scan::not_text);
    let mut chunks: Box<dyn Chunks> = match layout {
        Layout::Columns => return columns::read(window()?, wanted, true),
        Layout::State => return state::read(&mut Scanner::new(bytes)?, wanted),
        Layout::Split => return frames::read_split(bytes, wanted),
        Layout::Table => return frames::read_table(bytes, wanted),
        Layout::Nested => return frames::read_nested(bytes, wanted),
        Layout::Rows => Box::new(ListedRows::new(window()?, bytes.len(), wanted)),
        Layout::Lines => Box::new(Lines::new(window()?, bytes.len(), wanted)),
    };
    super::chunks::whole(&mut *chunks)?.ok_or_else(scan::empty)
}

/// Reads a list of rows some rows at a time, with about `step` bytes of the file in memory.
pub fn row_chunks<'a>(file: &'a dyn ReadAt, wanted: &Wanted, step: usize) -> Result<BoxedChunks<'a>> {
    let window = Window::opening(file, step, scan::not_text)?;
    Ok(Box::new(ListedRows::new(window, length(file), wanted)))
}

/// Reads one row per line in the same way.
pub fn line_chunks<'a>(file: &'a dyn ReadAt, wanted: &Wanted, step: usize) -> Result<BoxedChunks<'a>> {
    let window = Window::opening(file, step, scan::not_text)?;
    Ok(Box::new(Lines::new(window, length(file), wanted)))
}

fn length(file: &dyn ReadAt) -> usize {
    usize::try_from(file.size()).unwrap_or(usize::MAX)
}

/// Reads a file whose beginning looks like an object of columns, with about `step` bytes of it in memory,
/// and the wanted columns as numbers. An error may be that the layout is another one.
pub fn columns_in_chunks(file: &dyn ReadAt, wanted: &Wanted, step: usize) -> Result<Table> {
    columns::read(Window::opening(file, step, scan::not_text)?, wanted, false)
}

/// Checks that the bytes are one JSON value and nothing else.
///
/// This tells a document that is no history, which may be passed over, from a damaged one.
pub fn check(bytes: &[u8]) -> Result<()> {
    let mut scan = Scanner::new(bytes)?;
    scan.skip()?;
    scan.end()
}
