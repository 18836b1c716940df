//! Delimited text: tables with one column per key, tables with the key in a column, and the
//! tables behind W&B panels.
//!
//! The file must be UTF-8. Quotes follow RFC 4180, lines end in LF or CRLF, blank lines are passed
//! over, and blanks around names and numbers do not matter.

mod cells;
mod column;
mod header;
mod long;
mod masks;
mod number;
mod panel;
mod rows;

use std::collections::BTreeSet;

use calipers_core::Result;

use self::column::{NumberColumn, Picks, RowLines, TextColumn, log_texts};
use self::header::Header;
pub use self::panel::{Panel, is_panel, read_panel};
use self::rows::Rows;
use super::{Format, Run, Table, Wanted};

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
    let text = header::text(bytes)?;
    let header = Header::read(text, options)?;
    match &options.long {
        Some(long) => long::read(text, header, wanted, options, long),
        None => wide(text, header, wanted, options),
    }
}

fn wide(text: &str, header: Header, wanted: &Wanted, options: &Options) -> Result<Table> {
    let find = |key| NumberColumn::find(&header, key);
    let mut numbers: Vec<_> = once_each(&wanted.numbers).filter_map(find).collect();
    let mut texts = text_columns(&header, wanted)?;
    let read = numbers.iter().filter_map(|column| column.column);
    let picks = Picks::new(read.chain(texts.iter().map(|column| column.column)));
    let (mut into_numbers, mut into_texts) = (picks.numbers(&mut numbers), picks.texts(&mut texts));
    let mut rows = Rows::new(text, header.delimiter, header.width, picks.columns(), header.rows);
    let mut lines = RowLines::new(header.rows.1);
    while let Some((line, cells)) = rows.next()? {
        let row = lines.next(line)?;
        for (cell, column) in &mut into_numbers {
            column.log(row, line, &cells[*cell].of(text), options.decimal_comma);
        }
        log_texts(&mut into_texts, row, text, cells);
    }
    let (rows, places) = lines.finish();
    Ok(Table {
        format: Format::Csv,
        run: Run::default(),
        keys: header.keys,
        rows,
        numbers: numbers.into_iter().map(|column| column.numbers).collect(),
        texts: texts.into_iter().map(|column| column.texts).collect(),
        places,
        cut_at: None,
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
