//! The cells of one row, read byte after byte with every rule about quotes.

use std::borrow::Cow;

use calipers_core::{Error, Result};
use memchr::{memchr, memchr2};

use crate::text::shown;

/// Where a cell is, without its quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Its first byte.
    pub(super) start: usize,
    /// The byte behind it.
    pub(super) end: usize,
    /// Whether quotes inside it are doubled.
    pub(super) doubled: bool,
}

impl Cell {
    /// The text of the cell.
    #[inline]
    pub(crate) fn of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let raw = &text[self.start..self.end];
        if self.doubled { Cow::Owned(halved(raw)) } else { Cow::Borrowed(raw) }
    }
}

/// The text with single quotes for doubled ones.
#[cold]
fn halved(raw: &str) -> String {
    raw.replace("\"\"", "\"")
}

/// Walks over the cells of one row.
pub(super) struct Cells<'a> {
    text: &'a str,
    delimiter: u8,
    next: usize,
    stop: usize,
    ended: bool,
    /// How many line feeds quoted cells have held so far.
    pub(super) line_feeds: u64,
    /// Whether the text ends inside a quoted cell.
    pub(super) open: bool,
}

impl<'a> Cells<'a> {
    /// The row that starts at byte `start`.
    pub(super) fn new(text: &'a str, start: usize, delimiter: u8) -> Self {
        Self { text, delimiter, next: start, stop: start, ended: false, line_feeds: 0, open: false }
    }

    /// The next cell, none behind the last one of the row.
    pub(super) fn next(&mut self) -> Result<Option<Cell>> {
        if self.ended {
            return Ok(None);
        }
        let start = self.next;
        let bytes = self.text.as_bytes();
        let (cell, stop) = if bytes.get(start) == Some(&b'"') {
            self.quoted(start + 1)?
        } else {
            let end = self.stop_after(start);
            (Cell { start, end, doubled: false }, end)
        };
        self.ended = bytes.get(stop) != Some(&self.delimiter);
        (self.stop, self.next) = (stop, bytes.len().min(stop + 1));
        Ok(Some(cell))
    }

    /// Where the row ends and where the following one starts, once the last cell has been taken.
    pub(super) fn end(&self) -> (usize, usize) {
        (self.stop, self.next)
    }

    /// The first delimiter or line end at or after a byte, or the end of the text.
    fn stop_after(&self, start: usize) -> usize {
        let rest = &self.text.as_bytes()[start..];
        memchr2(self.delimiter, b'\n', rest).map_or(self.text.len(), |length| start + length)
    }

    /// The cell whose opening quote stands before `start`, and where the delimiter behind it is.
    fn quoted(&mut self, start: usize) -> Result<(Cell, usize)> {
        let bytes = self.text.as_bytes();
        let (mut end, mut doubled) = (start, false);
        loop {
            let Some(length) = memchr(b'"', &bytes[end..]) else {
                self.open = true;
                return Err(Error::format("a quoted cell is not closed")
                    .found(shown(bytes[start..].trim_ascii_end()))
                    .advice("close the quote; a quote inside a quoted cell is written twice"));
            };
            end += length;
            if bytes.get(end + 1) != Some(&b'"') {
                break;
            }
            doubled = true;
            end += 2;
        }
        let stop = self.stop_after(end + 1);
        let behind = &bytes[end + 1..stop];
        if !behind.trim_ascii().is_empty() {
            return Err(Error::format("text behind a closing quote")
                .found(shown(behind))
                .allowed("the delimiter or the end of the line")
                .advice("a quote inside a quoted cell is written twice"));
        }
        self.line_feeds += memchr::memchr_iter(b'\n', &bytes[start..end]).count() as u64;
        Ok((Cell { start, end, doubled }, stop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of the first row, where the next one starts and the line feeds inside.
    fn row(text: &str) -> Result<(Vec<String>, (usize, usize), u64)> {
        let mut cells = Cells::new(text, 0, b',');
        let mut found = Vec::new();
        while let Some(cell) = cells.next()? {
            found.push(cell.of(text).into_owned());
        }
        Ok((found, cells.end(), cells.line_feeds))
    }

    #[test]
    fn quoted_cells_may_hold_delimiters_quotes_and_line_ends() {
        let (cells, end, line_feeds) = row("\"a,\"\"b\"\"\",\"c\r\nd\" ,,e\nf,g\n").unwrap();
        assert_eq!(cells, ["a,\"b\"", "c\r\nd", "", "e"]);
        assert_eq!((end, line_feeds), ((20, 21), 1));
        assert_eq!(row("\"\"\"\"").unwrap().0, ["\""]);
        assert_eq!(row("\"\"\r\n").unwrap().0, [""]);
    }

    #[test]
    fn a_quote_inside_a_cell_without_quotes_is_text() {
        assert_eq!(row("5\" disk, \"x\",y").unwrap().0, ["5\" disk", " \"x\"", "y"]);
    }

    #[test]
    fn the_last_cell_may_be_empty() {
        assert_eq!(row("a,").unwrap().0, ["a", ""]);
        assert_eq!(row("a,\n").unwrap().0, ["a", ""]);
        assert_eq!(row("").unwrap(), (vec![String::new()], (0, 0), 0));
    }

    #[test]
    fn open_quotes_and_text_behind_quotes_are_refused() {
        for (text, what) in [
            ("\"a,b\nc", "not closed"),
            ("a,\"", "not closed"),
            ("\"a\"\"", "not closed"),
            ("\"a\"b,c", "behind a closing quote"),
        ] {
            assert!(row(text).unwrap_err().to_string().contains(what), "{text}");
        }
    }
}
