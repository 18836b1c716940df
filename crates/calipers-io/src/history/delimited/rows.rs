//! Rows of a delimited table: where the wanted cells of each row are.
//!
//! Rows without quotes are passed over by [`Scan`]: cells are counted, and only the borders of the
//! wanted ones are located. A row in which a quote occurs is read once more by [`Cells`].

use calipers_core::{Error, Result};

use super::cells::{Cell, Cells};
use super::scan::Scan;
use crate::limits;

/// Walks over the rows behind the header.
pub(crate) struct Rows<'a> {
    text: &'a str,
    delimiter: u8,
    /// How many cells each row must have.
    width: usize,
    /// The wanted columns, ascending, and which borders are before and behind their cells; none is
    /// the start or the end of the row.
    picks: Vec<(usize, [Option<usize>; 2])>,
    /// Finds the delimiters that border a wanted cell.
    scan: Scan<'a>,
    /// The wanted cells of the current row.
    cells: Vec<Cell>,
    /// Where the next row starts, and its line.
    start: usize,
    line: u64,
    /// Whether the text ends inside a quoted cell of the next row.
    open: bool,
    /// Where the line starts that the last error is about, if it is the last one of the text, without its end,
    /// and something is missing from it.
    cut: Option<usize>,
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
    pub(crate) fn new(
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
        Self {
            text,
            delimiter,
            width,
            picks: picks.iter().map(sides).collect(),
            cells: vec![Cell::default(); picks.len()],
            scan: Scan::new(text.as_bytes(), delimiter, borders, start),
            start,
            line,
            open: false,
            cut: None,
        }
    }

    /// The next row that is not blank: its line and its wanted cells in the order of the picks.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[Cell])>> {
        while self.start < self.text.len() {
            let (start, line) = (self.start, self.line);
            let passed = match self.plain_row() {
                Some(passed) => passed,
                None => {
                    let passed = self.quoted_row();
                    let is_line = !self.text.as_bytes()[start..].contains(&b'\n');
                    self.cut = (passed.is_err() && self.open && is_line).then_some(start);
                    passed.map_err(|error| error.at(format_args!("line {line}")))?
                }
            };
            let Passed { width, end, next, lines, quoted } = passed;
            self.start = next;
            self.line += lines;
            if width == 1 && self.text.as_bytes()[start..end].trim_ascii().is_empty() {
                continue;
            }
            if width != self.width || end - start > limits::LINE {
                let is_line = end == self.text.len() && lines == 1;
                self.cut = (width < self.width && is_line).then_some(start);
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

    /// Where the line that the last error is about was cut off, if it was.
    pub(super) fn cut(&self) -> Option<usize> {
        self.cut
    }

    /// Passes over a row without quotes; none when there is one.
    #[inline]
    fn plain_row(&mut self) -> Option<Passed> {
        let (width, end) = self.scan.row()?;
        Some(Passed { width, end, next: self.text.len().min(end + 1), lines: 1, quoted: false })
    }

    /// The wanted cells of a row without quotes, from the borders found.
    #[inline]
    fn place_cells(&mut self, start: usize, end: usize) {
        let found = self.scan.found();
        for (cell, (_, [before, behind])) in self.cells.iter_mut().zip(&self.picks) {
            let start = before.map_or(start, |border| found[border] + 1);
            let end = behind.map_or(end, |border| found[border]);
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
        self.scan.move_to(next);
        Ok(Passed { width, end, next, lines: 1 + cells.line_feeds, quoted: true })
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
    use proptest::prelude::*;

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

    /// Lines and wanted cells of the rows up to the first that is refused, where that is and why.
    type Read = (Vec<(u64, Vec<Cell>)>, (usize, u64), Option<Error>);

    fn by_blocks(text: &str, width: usize, picks: &[usize]) -> Read {
        let mut rows = Rows::new(text, b',', width, picks, (0, 1));
        let mut found = Vec::new();
        let error = loop {
            match rows.next() {
                Ok(Some((line, cells))) => found.push((line, cells.to_vec())),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        (found, rows.place(), error)
    }

    fn cell_by_cell(text: &str, width: usize, picks: &[usize]) -> Read {
        let (mut found, mut place) = (Vec::new(), (0, 1));
        while place.0 < text.len() {
            let (start, line) = place;
            let mut row = Cells::new(text, start, b',');
            let mut cells = Vec::new();
            loop {
                match row.next() {
                    Ok(Some(cell)) => cells.push(cell),
                    Ok(None) => break,
                    Err(error) => return (found, place, Some(error.at(format_args!("line {line}")))),
                }
            }
            let (end, next) = row.end();
            place = (next, line + 1 + row.line_feeds);
            if cells.len() == 1 && text[start..end].trim_ascii().is_empty() {
                continue;
            }
            if cells.len() != width {
                let error = Rows::new(text, b',', width, picks, (0, 1)).refused(cells.len(), end - start);
                return (found, place, Some(error.at(format_args!("line {line}"))));
            }
            found.push((line, picks.iter().map(|pick| cells[*pick]).collect()));
        }
        (found, place, None)
    }

    /// A row of so many cells, a few of which are quoted or belong to another row.
    fn row(width: usize) -> impl Strategy<Value = String> {
        let cell = prop_oneof![
            60 => "[0-9.]{0,9}",
            2 => "[0-9é]{50,70}",
            1 => "\"([,\n0é]|\"\"){0,70}\"[ \r]?",
            1 => prop::sample::select(vec!["5\"", ",", "\r", "\n", "\n\n", "\"a\"b", "\""]).prop_map(String::from),
        ];
        let end = prop::sample::select(vec!["\n", "\r\n", "\n \n", "\n\n"]);
        (prop::collection::vec(cell, width), end).prop_map(|(cells, end)| cells.join(",") + end)
    }

    proptest! {
        #[test]
        fn rows_and_errors_are_those_found_cell_by_cell(
            (width, picks, rows) in (1_usize..40).prop_flat_map(|width| {
                let picks = prop::collection::btree_set(0..width, 0..=width.min(5));
                (Just(width), picks, prop::collection::vec(row(width), 0..12))
            }),
            cut in 0_usize..3,
        ) {
            let mut text = rows.concat();
            for _ in 0..cut {
                text.pop();
            }
            let picks: Vec<usize> = picks.into_iter().collect();
            prop_assert_eq!(by_blocks(&text, width, &picks), cell_by_cell(&text, width, &picks));
        }

        #[test]
        fn any_text_is_read_as_cell_by_cell(text in "[,\n\"\r 0é]{0,200}", width in 1_usize..4) {
            prop_assert_eq!(by_blocks(&text, width, &[0]), cell_by_cell(&text, width, &[0]));
        }
    }
}
