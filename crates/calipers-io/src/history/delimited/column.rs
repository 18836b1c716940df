//! The columns of a table while its rows are read.

use std::collections::HashMap;

use calipers_core::{Error, Result};

use super::cells::Cell;
use super::header::Header;
use super::number::{self, Logged};
use crate::history::{Numbers, Places, Texts};

/// A column of numbers.
pub(super) struct NumberColumn {
    /// Which column of the file it is; none when its header is to blame.
    pub(super) column: Option<usize>,
    /// What has been read.
    pub(super) numbers: Numbers,
}

impl NumberColumn {
    /// The column of that name, when there is one; two of them cannot be read.
    pub(super) fn find(header: &Header, key: &str) -> Option<Self> {
        header.column(key).map(|column| Self::new(key, column))
    }

    /// No value read yet.
    pub(super) fn new(key: &str, column: Result<usize>) -> Self {
        let (column, unreadable) = match column {
            Ok(column) => (Some(column), None),
            Err(error) => (None, Some(error)),
        };
        Self { column, numbers: Numbers { key: key.to_owned(), unreadable, ..Numbers::default() } }
    }

    /// What was read since the last time; the reason why a value is no number stays.
    pub(super) fn take(&mut self) -> Numbers {
        let Numbers { key, rows, values, unreadable, stored } = &mut self.numbers;
        Numbers {
            key: key.clone(),
            rows: std::mem::take(rows),
            values: std::mem::take(values),
            unreadable: unreadable.clone(),
            stored: *stored,
        }
    }

    /// Reads a cell; nothing is read behind the first that is no number.
    #[inline]
    pub(super) fn log(&mut self, row: u32, line: u64, text: &str, decimal_comma: bool) {
        let Numbers { key, rows, values, unreadable, .. } = &mut self.numbers;
        if unreadable.is_some() {
            return;
        }
        match number::read(text, decimal_comma) {
            Logged::Number(value) => {
                rows.push(row);
                values.push(value);
            }
            Logged::Nothing => {}
            Logged::Unreadable => {
                let place = format!("line {line}, column `{key}`");
                *unreadable = Some(number::unreadable(text, decimal_comma).at(place));
            }
        }
    }
}

/// A column of names.
pub(super) struct TextColumn {
    /// Which column of the file it is.
    pub(super) column: usize,
    /// What has been read.
    pub(super) texts: Texts,
    places: HashMap<String, u32>,
}

impl TextColumn {
    /// The column of that name, when there is one.
    pub(super) fn find(header: &Header, key: &str) -> Option<Result<Self>> {
        let new = |column| Self {
            column,
            texts: Texts { key: key.to_owned(), ..Texts::default() },
            places: HashMap::new(),
        };
        header.column(key).map(|column| column.map(new))
    }

    /// What was read since the last time.
    pub(super) fn take(&mut self) -> Texts {
        self.places.clear();
        let Texts { key, names, cells } = &mut self.texts;
        Texts { key: key.clone(), names: std::mem::take(names), cells: std::mem::take(cells) }
    }

    /// Reads a cell; an empty one holds no name.
    pub(super) fn log(&mut self, row: u32, text: &str) {
        let name = text.trim_ascii();
        if name.is_empty() {
            return;
        }
        let Texts { names, cells, .. } = &mut self.texts;
        // Rows of one run mostly follow each other.
        let last = cells.last().map(|(_, place)| *place).filter(|place| names[*place as usize] == name);
        let place = last.or_else(|| self.places.get(name).copied()).unwrap_or_else(|| {
            let place = names.len() as u32;
            names.push(name.to_owned());
            self.places.insert(name.to_owned(), place);
            place
        });
        cells.push((row, place));
    }
}

/// The columns of the file whose cells are needed.
pub(super) struct Picks(Vec<usize>);

impl Picks {
    /// The given columns, in any order.
    pub(super) fn new(columns: impl IntoIterator<Item = usize>) -> Self {
        let mut columns: Vec<_> = columns.into_iter().collect();
        columns.sort_unstable();
        columns.dedup();
        Self(columns)
    }

    /// The columns, ascending.
    pub(super) fn columns(&self) -> &[usize] {
        &self.0
    }

    /// Which of a row's needed cells is that of the column, which must be one of the given.
    pub(super) fn cell(&self, column: usize) -> usize {
        self.0.partition_point(|pick| *pick < column)
    }

    /// The columns of numbers with the cells they read.
    pub(super) fn numbers<'a>(&self, columns: &'a mut [NumberColumn]) -> Vec<(usize, &'a mut NumberColumn)> {
        let read = |column: &'a mut NumberColumn| Some((self.cell(column.column?), column));
        columns.iter_mut().filter_map(read).collect()
    }

    /// The columns of names with the cells they read.
    pub(super) fn texts<'a>(&self, columns: &'a mut [TextColumn]) -> Vec<(usize, &'a mut TextColumn)> {
        columns.iter_mut().map(|column| (self.cell(column.column), column)).collect()
    }
}

/// Reads the cells of a row into the columns of names.
pub(super) fn log_texts(columns: &mut [(usize, &mut TextColumn)], row: u32, text: &str, cells: &[Cell]) {
    for (cell, column) in columns {
        column.log(row, &cells[*cell].of(text));
    }
}

/// The lines of the rows read so far.
pub(super) struct RowLines {
    first: u64,
    count: u32,
    /// The line of each row, from the first on that does not follow the row before it.
    lines: Vec<u64>,
}

impl RowLines {
    /// No rows yet; the first is expected on the given line.
    pub(super) fn new(first: u64) -> Self {
        Self { first, count: 0, lines: Vec::new() }
    }

    /// Notes the line of the next row and gives the number of that row.
    #[inline]
    pub(super) fn next(&mut self, line: u64) -> Result<u32> {
        let row = self.count;
        self.count = row.checked_add(1).ok_or_else(|| {
            Error::format("too many rows")
                .at(format_args!("line {line}"))
                .allowed(format_args!("at most {row}"))
        })?;
        if row == 0 {
            self.first = line;
        }
        if !self.lines.is_empty() || line != self.first + u64::from(row) {
            if self.lines.is_empty() {
                self.lines = (0..row).map(|earlier| self.first + u64::from(earlier)).collect();
            }
            self.lines.push(line);
        }
        Ok(row)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many rows there are and how messages name them.
    pub(super) fn finish(self) -> (usize, Places) {
        let places =
            if self.lines.is_empty() { Places::LinesFrom(self.first) } else { Places::Lines(self.lines) };
        (self.count as usize, places)
    }
}
