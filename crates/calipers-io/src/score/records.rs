//! Delimited text with a header: columns by name, rows with their line.

use calipers_core::{Error, Result};
use csv::{ByteRecord, ErrorKind, Reader};

use crate::file::empty;
use crate::text::{Lines, shown, without_mark};

/// The rows of a CSV or TSV file.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    reader: Reader<&'a [u8]>,
    header: ByteRecord,
    row: ByteRecord,
    /// The line at which byte `counted` is.
    line: u64,
    counted: usize,
}

impl<'a> Records<'a> {
    /// Reads the header; no column name may occur twice.
    pub(super) fn new(bytes: &'a [u8], delimiter: u8) -> Result<Self> {
        for line in Lines::new(bytes) {
            line?;
        }
        let bytes = without_mark(bytes);
        let reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(bytes);
        let (header, row) = (ByteRecord::new(), ByteRecord::new());
        let mut records = Self { bytes, reader, header, row, line: 1, counted: 0 };
        if records.next()?.is_none() {
            return Err(empty().allowed("a header line with column names"));
        }
        records.header = std::mem::take(&mut records.row);
        records.header.trim();
        let mut names: Vec<_> = records.header.iter().collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::format("a column occurs twice")
                .at("header")
                .found(shown(pair[0]))
                .allowed("every name once")
                .advice("rename one of them")),
            None => Ok(records),
        }
    }

    /// The position of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name.as_bytes())
    }

    /// The error for columns that are needed and not there.
    pub(super) fn missing(&self, what: &str, allowed: &str) -> Error {
        let names: Vec<_> = self.header.iter().map(shown).collect();
        let error = Error::format(what).at("header").found(format_args!("columns {}", names.join(", ")));
        error.allowed(allowed).advice("name the columns in the first line")
    }

    /// The next row and its line, from 1.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &ByteRecord)>> {
        let more = self.reader.read_byte_record(&mut self.row);
        let start = self.row.position().map_or(0, csv::Position::byte) as usize;
        let line = self.line_at(start);
        match more {
            Ok(more) => Ok(more.then_some((line, &self.row))),
            Err(error) => Err(refused(&error).at(format_args!("line {line}"))),
        }
    }

    /// The line of the first character at or after the given byte; rows never go back.
    fn line_at(&mut self, start: usize) -> u64 {
        let ends = |byte: &&u8| matches!(**byte, b'\r' | b'\n');
        let start = start.min(self.bytes.len());
        let start = start + self.bytes[start..].iter().take_while(ends).count();
        let passed = &self.bytes[self.counted.min(start)..start];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.counted = self.counted.max(start);
        self.line
    }
}

fn refused(error: &csv::Error) -> Error {
    match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => Error::format("a row of another length")
            .found(format_args!("{len} cells"))
            .allowed(format_args!("{expected_len}, as in the header"))
            .advice("complete the row; cells with separators need quotes"),
        _ => Error::format("not a table").found(error).advice("write the table again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u64, String)> {
        let mut records = Records::new(text.as_bytes(), b',').unwrap();
        let mut found = Vec::new();
        while let Some((line, row)) = records.next().unwrap() {
            found.push((line, String::from_utf8_lossy(&row[0]).into_owned()));
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
