//! Rows of a delimited table: where the wanted cells of each row are.
//!
//! Rows without quotes are found in the [`Masks`]: cells are counted, and only the borders of the
//! wanted ones are located. A row in which a quote occurs is read once more by [`Cells`].

use calipers_core::{Error, Result};

use super::cells::{Cell, Cells};
use super::masks::{BLOCK, Masks};
use crate::limits;

/// Walks over the rows behind the header.
pub(super) struct Rows<'a> {
    text: &'a str,
    delimiter: u8,
    /// How many cells each row must have.
    width: usize,
    /// The wanted columns, ascending, and which borders are before and behind their cells; none is
    /// the start or the end of the row.
    picks: Vec<(usize, [Option<usize>; 2])>,
    /// Which delimiters of a row border a wanted cell, counted from 1, ascending.
    borders: Vec<usize>,
    /// Where those of the current row are.
    found: Vec<usize>,
    /// The wanted cells of the current row.
    cells: Vec<Cell>,
    /// Where the next row starts, and its line.
    start: usize,
    line: u64,
    /// The block in which the next row starts, and what of it has not been passed.
    block: usize,
    masks: Masks,
    /// Whether the text ends inside a quoted cell of the next row.
    open: bool,
}

/// How a row ended.
struct Passed {
    /// How many cells it has.
    width: usize,
    /// The byte behind its last cell.
    end: usize,
    /// Where the next row starts.
    next: usize,
    /// How many lines it takes.
    lines: u64,
    /// Whether its cells were read one by one.
    quoted: bool,
}

impl<'a> Rows<'a> {
    /// The rows from byte `start` on, which is on line `line`. `picks` are the wanted columns,
    /// ascending and distinct, all below `width`.
    pub(super) fn new(
        text: &'a str,
        delimiter: u8,
        width: usize,
        picks: &[usize],
        (start, line): (usize, u64),
    ) -> Self {
        let mut borders: Vec<usize> = picks.iter().flat_map(|pick| [*pick, pick + 1]).collect();
        borders.dedup();
        borders.retain(|border| (1..width).contains(border));
        let sides = |pick: &usize| (*pick, [*pick, pick + 1].map(|side| borders.binary_search(&side).ok()));
        let mut rows = Self {
            text,
            delimiter,
            width,
            picks: picks.iter().map(sides).collect(),
            found: Vec::with_capacity(borders.len()),
            cells: vec![Cell::default(); picks.len()],
            borders,
            start,
            line,
            block: 0,
            masks: Masks::default(),
            open: false,
        };
        rows.load(start);
        rows
    }

    /// The next row that is not blank: its line and its wanted cells in the order of the picks.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(u64, &[Cell])>> {
        while self.start < self.text.len() {
            let (start, line) = (self.start, self.line);
            let passed = match self.plain_row() {
                Some(passed) => passed,
                None => self.quoted_row().map_err(|error| error.at(format_args!("line {line}")))?,
            };
            let Passed { width, end, next, lines, quoted } = passed;
            self.start = next;
            self.line += lines;
            if width == 1 && self.text.as_bytes()[start..end].trim_ascii().is_empty() {
                continue;
            }
            if width != self.width || end - start > limits::LINE {
                return Err(self.refused(width, end - start).at(format_args!("line {line}")));
            }
            if !quoted {
                self.place_cells(start, end);
            }
            return Ok(Some((line, &self.cells)));
        }
        Ok(None)
    }

    /// Where the next row starts, and its line.
    pub(super) fn place(&self) -> (usize, u64) {
        (self.start, self.line)
    }

    /// Whether the last error is that the text ends inside a quoted cell.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Passes over a row without quotes; none when there is one.
    #[inline]
    fn plain_row(&mut self) -> Option<Passed> {
        self.found.clear();
        let mut delimiters_before = 0;
        loop {
            let end = self.masks.ends.trailing_zeros();
            let row = u64::MAX.checked_shl(end).map_or(u64::MAX, |beyond| !beyond);
            if self.masks.quotes & row != 0 {
                return None;
            }
            let mut delimiters = self.masks.delimiters & row;
            let seen = delimiters_before + delimiters.count_ones() as usize;
            let mut passed = delimiters_before;
            while let Some(border) = self.borders.get(self.found.len()).filter(|border| **border <= seen) {
                while passed + 1 < *border {
                    delimiters &= delimiters - 1;
                    passed += 1;
                }
                self.found.push(self.block + delimiters.trailing_zeros() as usize);
            }
            let end_of_row = self.block + end as usize;
            if end < BLOCK as u32 {
                self.masks = self.masks.past(end + 1);
                return Some(Passed {
                    width: seen + 1,
                    end: end_of_row,
                    next: end_of_row + 1,
                    lines: 1,
                    quoted: false,
                });
            }
            let length = self.text.len();
            if end_of_row >= length {
                self.masks = Masks::default();
                return Some(Passed { width: seen + 1, end: length, next: length, lines: 1, quoted: false });
            }
            delimiters_before = seen;
            self.block = end_of_row;
            self.masks = Masks::of(self.text.as_bytes(), self.block, self.delimiter);
        }
    }

    /// The wanted cells of a row without quotes, from the borders found.
    #[inline]
    fn place_cells(&mut self, start: usize, end: usize) {
        for (cell, (_, [before, behind])) in self.cells.iter_mut().zip(&self.picks) {
            let start = before.map_or(start, |border| self.found[border] + 1);
            let end = behind.map_or(end, |border| self.found[border]);
            *cell = Cell { start, end, doubled: false };
        }
    }

    /// Reads a row in which a quote occurs, cell by cell.
    fn quoted_row(&mut self) -> Result<Passed> {
        let mut cells = Cells::new(self.text, self.start, self.delimiter);
        let (mut width, mut pick) = (0, 0);
        loop {
            let next = cells.next();
            self.open = cells.open;
            let Some(cell) = next? else { break };
            if self.picks.get(pick).is_some_and(|(column, _)| *column == width) {
                self.cells[pick] = cell;
                pick += 1;
            }
            width += 1;
        }
        let (end, next) = cells.end();
        self.load(next);
        Ok(Passed { width, end, next, lines: 1 + cells.line_feeds, quoted: true })
    }

    fn load(&mut self, start: usize) {
        self.block = start;
        self.masks = Masks::of(self.text.as_bytes(), start, self.delimiter);
    }

    fn refused(&self, width: usize, bytes: usize) -> Error {
        if bytes > limits::LINE {
            let allowed = format!("at most {} bytes", limits::LINE);
            return Error::format("a row is too long").found(format_args!("{bytes} bytes")).allowed(allowed);
        }
        Error::format("a row of another length")
            .found(format_args!("{width} cells"))
            .allowed(format_args!("{} cells, as in the header", self.width))
            .advice("quote cells that hold the delimiter; check --delimiter")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and the wanted cells of each row.
    fn rows(text: &str, width: usize, picks: &[usize]) -> Vec<(u64, Vec<String>)> {
        let mut rows = Rows::new(text, b',', width, picks, (0, 1));
        let mut found = Vec::new();
        while let Some((line, cells)) = rows.next().unwrap() {
            found.push((line, cells.iter().map(|cell| cell.of(text).into_owned()).collect()));
        }
        found
    }

    #[test]
    fn cells_are_found_wherever_blocks_begin() {
        for width in [1, 2, 7, 64, 65, 130] {
            for length in [0, 1, 3, 20, 63, 64, 65] {
                let row: Vec<String> =
                    (0..width).map(|column| format!("{column}{}", "x".repeat(length))).collect();
                let text = format!("{0}\n{0}\n\"\"{1}\n{0}", row.join(","), ",".repeat(width - 1));
                for picks in [vec![0], vec![width - 1], vec![width / 2], (0..width).collect()] {
                    let cells: Vec<String> = picks.iter().map(|pick| row[*pick].clone()).collect();
                    let empty = vec![String::new(); picks.len()];
                    let expected = [(1, cells.clone()), (2, cells.clone()), (3, empty), (4, cells)];
                    assert_eq!(rows(&text, width, &picks), expected, "{width} {length} {picks:?}");
                }
            }
        }
    }

    #[test]
    fn a_row_beyond_the_limit_is_refused_by_line() {
        let text = format!("1\n{}\n", "1".repeat(limits::LINE + 1));
        let mut rows = Rows::new(&text, b',', 1, &[0], (0, 1));
        assert!(rows.next().is_ok());
        let error = rows.next().unwrap_err();
        assert_eq!((error.what(), error.place()), ("a row is too long", Some("line 2")));
    }
}
