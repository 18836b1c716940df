//! The rows of a CSV or TSV file of units: columns by name, rows with their line.

use std::borrow::Cow;

use calipers_core::{Error, Result};

use crate::file::empty;
use crate::history::delimited::{Cell, Header, Options, Rows};
use crate::text::{shown, without_mark};

/// The rows of a CSV or TSV file.
pub(super) struct Records<'a> {
    text: &'a str,
    header: Header,
    rows: Rows<'a>,
}

/// One row.
#[derive(Debug)]
pub(super) struct Record<'r> {
    text: &'r str,
    cells: &'r [Cell],
}

impl<'r> Record<'r> {
    /// The text of a cell.
    pub(super) fn cell(&self, column: usize) -> Cow<'r, str> {
        match self.cells[column].of(self.text) {
            // The last cell of a row keeps what stands before the line feed.
            Cow::Borrowed(text) => Cow::Borrowed(text.strip_suffix('\r').unwrap_or(text)),
            quoted => quoted,
        }
    }
}

impl<'a> Records<'a> {
    /// Reads the header; no column name may occur twice.
    pub(super) fn new(bytes: &'a [u8], delimiter: u8) -> Result<Self> {
        let text = std::str::from_utf8(without_mark(bytes)).map_err(|error| {
            Error::format("not UTF-8").at(format_args!("byte {}", bytes.len().min(error.valid_up_to())))
        })?;
        if text.trim_ascii().is_empty() {
            return Err(empty().allowed("a header line with column names"));
        }
        let header = Header::read(text, &Options { delimiter: Some(delimiter), ..Options::default() })?;
        for name in &header.keys {
            header.column(name).transpose()?;
        }
        let columns: Vec<usize> = (0..header.width).collect();
        let rows = Rows::new(text, delimiter, header.width, &columns, header.rows);
        Ok(Self { text, header, rows })
    }

    /// The position of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.column(name)?.ok()
    }

    /// The error for columns that are needed and not there.
    pub(super) fn missing(&self, what: &str, allowed: &str) -> Error {
        let names: Vec<_> = self.header.keys.iter().map(|name| shown(name.as_bytes())).collect();
        let error = Error::format(what).at("header").found(format_args!("columns {}", names.join(", ")));
        error.allowed(allowed).advice("name the columns in the first line")
    }

    /// The next row and its line, from 1.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Record<'_>)>> {
        let next = self.rows.next()?;
        Ok(next.map(|(line, cells)| (line, Record { text: self.text, cells })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u64, String)> {
        let mut records = Records::new(text.as_bytes(), b',').unwrap();
        let mut found = Vec::new();
        while let Some((line, row)) = records.next().unwrap() {
            found.push((line, row.cell(0).into_owned()));
        }
        found
    }

    #[test]
    fn rows_know_their_line_whatever_ends_lines() {
        let rows = |list: &[(u64, &str)]| {
            list.iter().map(|(line, text)| (*line, (*text).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(lines("a,b\n1,2\n\n\n3,4\n"), rows(&[(2, "1"), (5, "3")]));
        assert_eq!(lines("a,b\r\n1,2\r\n\r\n3,4"), rows(&[(2, "1"), (4, "3")]));
        assert_eq!(lines("\u{feff}a,b\n\"x\ny\",2\n3,4\n"), rows(&[(2, "x\ny"), (4, "3")]));
    }

    #[test]
    fn ragged_rows_and_repeated_columns_are_refused() {
        let mut records = Records::new(b"a,b\r\n1,2\r\n1\r\n", b',').unwrap();
        records.next().unwrap();
        assert_eq!(records.next().unwrap_err().place(), Some("line 3"));
        assert!(Records::new(b"a,a\n", b',').is_err());
        assert!(Records::new(b"\n\n", b',').is_err());
    }
}
