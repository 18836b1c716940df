//! The rows of a table that is read one chunk at a time.

use calipers_core::Result;

use super::cells::Cell;
use super::column::{Picks, RowLines};
use super::header::Header;
use super::rows::Rows;
use crate::history::window::Window;

/// Walks over the rows of a file behind its header.
pub(super) struct Walk<'a> {
    window: Window<'a>,
    delimiter: u8,
    width: usize,
    /// Where the next row starts in the window, and its line.
    next: (usize, u64),
    /// How many rows were passed.
    pub(super) before: usize,
    /// Where the last line begins, if it is cut off and no row.
    pub(super) cut_at: Option<u64>,
    ended: bool,
}

impl<'a> Walk<'a> {
    /// Before the first row.
    pub(super) fn new(window: Window<'a>, header: &Header) -> Self {
        let Header { delimiter, width, rows, .. } = *header;
        Self { window, delimiter, width, next: rows, before: 0, cut_at: None, ended: false }
    }

    /// Calls `each` with number, line and picked cells of every row in the buffer, and reads on. None
    /// when the end was reached before; otherwise the lines of the rows.
    #[inline]
    pub(super) fn rows(
        &mut self,
        picks: &Picks,
        mut each: impl FnMut(u32, u64, &str, &[Cell]),
    ) -> Result<Option<RowLines>> {
        if self.ended {
            return Ok(None);
        }
        let mut lines = RowLines::new(self.next.1);
        let mut too_long = false;
        while !self.ended && lines.is_empty() {
            self.ended = self.window.is_last();
            // What is too long for a row will be refused as it is.
            let all = self.ended || too_long;
            let text = self.window.text();
            let end =
                if all { Some(text.len()) } else { memchr::memrchr(b'\n', text.as_bytes()).map(|at| at + 1) };
            let text = &text[..end.unwrap_or(0).max(self.next.0)];
            let mut rows = Rows::new(text, self.delimiter, self.width, picks.columns(), self.next);
            loop {
                match rows.next() {
                    Ok(Some((line, cells))) => each(lines.next(line)?, line, text, cells),
                    Ok(None) => break,
                    Err(error) => {
                        // The row may go on after the text in the buffer.
                        if !all && rows.is_open() {
                            break;
                        }
                        // The program that writes the file has not finished this line.
                        if let (true, Some(cut)) = (self.ended, rows.cut()) {
                            self.cut_at = Some(self.window.start() + cut as u64);
                            break;
                        }
                        return Err(error);
                    }
                }
            }
            let (used, line) = rows.place();
            too_long = used == self.next.0 && self.window.is_long();
            self.window.pass(used)?;
            self.next = (0, line);
        }
        Ok(Some(lines))
    }
}
