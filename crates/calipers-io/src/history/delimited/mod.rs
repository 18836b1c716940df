//! Delimited text: tables with one column per key, tables with the key in a column, and the
//! tables behind W&B panels.
//!
//! The file must be UTF-8. Quotes follow RFC 4180, lines end in LF or CRLF, blank lines are passed
//! over, and blanks around names and numbers do not matter.

mod cells;
mod column;
mod header;
mod long;
mod number;
mod panel;
mod rows;
mod scan;
mod walk;
mod wide;

use std::collections::BTreeSet;

use calipers_core::Result;

pub(crate) use self::cells::Cell;
use self::column::TextColumn;
pub(crate) use self::header::Header;
pub use self::header::{columns, has_header};
use self::long::LongTable;
pub use self::panel::{Panel, is_panel, read_panel, read_panel_in_chunks};
pub(crate) use self::rows::Rows;
use self::walk::Walk;
use self::wide::WideTable;
use super::chunks::{self, BoxedChunks};
use super::window::Window;
use super::{Table, Wanted};
use crate::file::{ReadAt, empty};

/// How a delimited file is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The character between cells; without one, the comma, semicolon or tab that occurs most
    /// often in the header.
    pub delimiter: Option<u8>,
    /// Whether numbers have a decimal comma.
    pub decimal_comma: bool,
    /// The columns of a long layout; without them every key has a column of its own.
    pub long: Option<Long>,
}

/// The columns of a table in which each row holds one value of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Long {
    /// The column that holds the keys.
    pub key_column: String,
    /// The column that holds the values.
    pub value_column: String,
}

/// Reads a table.
///
/// In the long layout a wanted number is the column of that name or else the values of that key,
/// columns are read in the rows of wanted keys only, and `keys` lists columns before keys.
///
/// ```
/// use calipers_io::history::{Wanted, delimited};
/// let wanted = Wanted { numbers: vec!["val_F1".into()], ..Wanted::default() };
/// let table = delimited::read(b"epoch;val_F1\n0;\n1;0.5\n", &wanted, &Default::default())?;
/// assert_eq!((table.rows, &table.numbers[0].rows[..]), (2, &[1][..]));
/// # Ok::<(), calipers_core::Error>(())
/// ```
pub fn read(bytes: &[u8], wanted: &Wanted, options: &Options) -> Result<Table> {
    let mut chunks = over(Window::whole(bytes, header::not_text)?, wanted, options)?;
    chunks::whole(&mut *chunks)?.ok_or_else(empty)
}

/// Reads a table some rows at a time, with about `step` bytes of the file in memory.
pub fn chunks<'a>(
    file: &'a dyn ReadAt,
    wanted: &Wanted,
    options: &Options,
    step: usize,
) -> Result<BoxedChunks<'a>> {
    over(Window::opening(file, step, header::not_text)?, wanted, options)
}

fn over<'a>(mut window: Window<'a>, wanted: &Wanted, options: &Options) -> Result<BoxedChunks<'a>> {
    let header = header::opened(&mut window, options)?;
    let walk = Walk::new(window, &header);
    Ok(match &options.long {
        Some(long) => Box::new(LongTable::new(walk, header, wanted, options, long)?),
        None => Box::new(WideTable::new(walk, header, wanted, options)?),
    })
}

fn text_columns(header: &Header, wanted: &Wanted) -> Result<Vec<TextColumn>> {
    once_each(&wanted.texts).filter_map(|key| TextColumn::find(header, key)).collect()
}

/// The keys without repetitions, in order.
fn once_each(keys: &[String]) -> impl Iterator<Item = &str> {
    let mut seen = BTreeSet::new();
    keys.iter().map(String::as_str).filter(move |key| seen.insert(*key))
}

#[cfg(test)]
mod tests;
