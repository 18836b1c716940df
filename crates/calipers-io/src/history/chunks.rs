//! Tables of any length, some rows at a time.

use std::collections::HashMap;
use std::ops::Range;

use calipers_core::Result;

use super::columns::row_after;
use super::{Numbers, Places, Table, Texts};

/// The rows of one file, some at a time.
pub trait Chunks {
    /// The next rows; none behind the last. There is at least one chunk, be it without rows.
    ///
    /// Rows are counted from 0 in each chunk. Keys and columns are those found in the file so far,
    /// so that a later chunk may have more of them, never fewer.
    fn next(&mut self) -> Result<Option<Table>>;
}

/// The rows of some file.
pub type BoxedChunks<'a> = Box<dyn Chunks + 'a>;

/// Reads all that is left into one table.
pub fn whole(chunks: &mut dyn Chunks) -> Result<Option<Table>> {
    let Some(first) = chunks.next()? else { return Ok(None) };
    let Some(second) = chunks.next()? else { return Ok(Some(first)) };
    let mut gathered = Gathered::default();
    gathered.add(&first, 0..first.rows as u32)?;
    drop(first);
    gathered.add(&second, 0..second.rows as u32)?;
    drop(second);
    while let Some(chunk) = chunks.next()? {
        gathered.add(&chunk, 0..chunk.rows as u32)?;
    }
    Ok(gathered.take())
}

/// Rows that follow each other in a file, gathered from its chunks.
#[derive(Debug, Default)]
pub struct Gathered {
    table: Option<Table>,
    /// Where each name of each text column is.
    names: Vec<HashMap<String, u32>>,
}

impl Gathered {
    /// Whether no rows were added yet.
    pub fn is_empty(&self) -> bool {
        self.table.is_none()
    }

    /// Adds rows of a chunk. They follow the rows added before.
    pub fn add(&mut self, chunk: &Table, rows: Range<u32>) -> Result<()> {
        let table = self.table.get_or_insert_with(|| beginning(chunk, rows.start));
        if rows.end as usize == chunk.rows {
            table.cut_at = table.cut_at.or(chunk.cut_at);
        }
        let first = row_after(table.rows)?;
        row_after(table.rows + rows.len())?;
        if table.keys.len() < chunk.keys.len() {
            table.keys.clone_from(&chunk.keys);
        }
        table.places.add(table.rows, &chunk.places, &rows);
        for (at, column) in chunk.numbers.iter().enumerate() {
            if table.numbers.get(at).is_none_or(|known| known.key != column.key) {
                let stored = column.stored;
                table.numbers.insert(at, Numbers { key: column.key.clone(), stored, ..Numbers::default() });
            }
            add_numbers(&mut table.numbers[at], column, &rows, first);
        }
        for (at, column) in chunk.texts.iter().enumerate() {
            if table.texts.get(at).is_none_or(|known| known.key != column.key) {
                table.texts.insert(at, Texts { key: column.key.clone(), ..Texts::default() });
                self.names.insert(at, HashMap::new());
            }
            add_texts(&mut table.texts[at], &mut self.names[at], column, &rows, first);
        }
        table.rows += rows.len();
        Ok(())
    }

    /// The table of the rows added so far; what is added next begins another one.
    pub fn take(&mut self) -> Option<Table> {
        self.names.clear();
        self.table.take()
    }
}

/// A table without rows and columns that begins at a row of a chunk.
fn beginning(chunk: &Table, row: u32) -> Table {
    Table {
        origin: chunk.origin,
        run: chunk.run.clone(),
        keys: chunk.keys.clone(),
        before: chunk.before + row as usize,
        rows: 0,
        numbers: Vec::new(),
        texts: Vec::new(),
        places: chunk.places.from(row),
        cut_at: None,
    }
}

fn add_numbers(into: &mut Numbers, column: &Numbers, rows: &Range<u32>, first: u32) {
    let from = column.rows.partition_point(|row| *row < rows.start);
    let to = from + column.rows[from..].partition_point(|row| *row < rows.end);
    into.rows.extend(column.rows[from..to].iter().map(|row| row - rows.start + first));
    into.values.extend_from_slice(&column.values[from..to]);
    into.stored = into.stored.finer(column.stored);
    if into.unreadable.is_none() {
        into.unreadable.clone_from(&column.unreadable);
    }
}

fn add_texts(
    into: &mut Texts,
    places: &mut HashMap<String, u32>,
    column: &Texts,
    rows: &Range<u32>,
    first: u32,
) {
    let from = column.cells.partition_point(|(row, _)| *row < rows.start);
    let to = from + column.cells[from..].partition_point(|(row, _)| *row < rows.end);
    let cells = &column.cells[from..to];
    let lowest = cells.iter().map(|(_, name)| *name).min().unwrap_or(0);
    let highest = cells.iter().map(|(_, name)| *name).max().unwrap_or(0);
    // Where the names of these cells are here, once they have been looked up.
    let mut known = vec![None; (highest - lowest) as usize + 1];
    for (row, name) in cells {
        let place = *known[(name - lowest) as usize].get_or_insert_with(|| {
            let text = &column.names[*name as usize];
            places.get(text).copied().unwrap_or_else(|| {
                let place = into.names.len() as u32;
                into.names.push(text.clone());
                places.insert(text.clone(), place);
                place
            })
        });
        into.cells.push((row - rows.start + first, place));
    }
}

impl Places {
    /// The places of the rows from a row on.
    fn from(&self, row: u32) -> Self {
        match self {
            Self::LinesFrom(first) => Self::LinesFrom(first + u64::from(row)),
            Self::Lines(lines) => Self::LinesFrom(lines.get(row as usize).copied().unwrap_or(0)),
            Self::Numbered(word, first) => Self::Numbered(word, first + u64::from(row)),
        }
    }

    /// Adds the places of rows of a chunk behind those of `count` rows.
    fn add(&mut self, count: usize, chunk: &Self, rows: &Range<u32>) {
        let line = |row: u32| match chunk {
            Self::LinesFrom(first) => first + u64::from(row),
            Self::Lines(lines) => lines[row as usize],
            Self::Numbered(..) => 0,
        };
        match self {
            Self::Numbered(..) => {}
            Self::Lines(lines) => lines.extend(rows.clone().map(line)),
            Self::LinesFrom(first) => {
                let next = *first + count as u64;
                let mut expected = next..;
                let unbroken = match chunk {
                    Self::LinesFrom(_) => rows.is_empty() || line(rows.start) == next,
                    _ => rows.clone().all(|row| expected.next() == Some(line(row))),
                };
                if count == 0 && !rows.is_empty() && matches!(chunk, Self::LinesFrom(_)) {
                    *first = line(rows.start);
                } else if !unbroken {
                    *self = Self::Lines((*first..next).chain(rows.clone().map(line)).collect());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Origin;

    fn chunk(before: usize, lines: &[u64], values: &[(u32, f64)], names: &[&str]) -> Table {
        let mut texts = Texts { key: "run".into(), ..Texts::default() };
        for (row, name) in (0..).zip(names) {
            let known = texts.names.iter().position(|known| known == name);
            let place = known.unwrap_or_else(|| {
                texts.names.push((*name).into());
                texts.names.len() - 1
            });
            texts.cells.push((row, place as u32));
        }
        let numbers = Numbers {
            key: "m".into(),
            rows: values.iter().map(|(row, _)| *row).collect(),
            values: values.iter().map(|(_, value)| *value).collect(),
            unreadable: None,
            ..Numbers::default()
        };
        let unbroken = lines.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        Table {
            origin: Origin::Table,
            run: Default::default(),
            keys: vec!["m".into(), "run".into()],
            before,
            rows: lines.len(),
            numbers: vec![numbers],
            texts: vec![texts],
            places: if unbroken { Places::LinesFrom(lines[0]) } else { Places::Lines(lines.to_vec()) },
            cut_at: None,
        }
    }

    #[test]
    fn rows_of_several_pieces_become_one_table() {
        let first = chunk(0, &[2, 3, 4], &[(0, 0.5), (2, 0.7)], &["a", "a", "b"]);
        let second = chunk(3, &[5, 7], &[(1, 0.9)], &["b", "a"]);
        let mut gathered = Gathered::default();
        gathered.add(&first, 1..3).unwrap();
        gathered.add(&second, 0..2).unwrap();
        let table = gathered.take().unwrap();
        assert_eq!((table.before, table.rows), (1, 4));
        assert_eq!(
            (&table.numbers[0].rows[..], &table.numbers[0].values[..]),
            (&[1, 3][..], &[0.7, 0.9][..])
        );
        assert_eq!(table.texts[0].names, ["a", "b"]);
        assert_eq!(table.texts[0].cells, [(0, 0), (1, 1), (2, 1), (3, 0)]);
        assert_eq!(table.places, Places::Lines(vec![3, 4, 5, 7]));
        assert!(gathered.is_empty());
    }

    #[test]
    fn a_column_that_is_found_later_takes_its_place_among_the_others() {
        let first = chunk(0, &[2, 3], &[(0, 0.5)], &["a", "a"]);
        let mut second = chunk(2, &[4], &[(0, 0.6)], &["a"]);
        second.numbers.insert(
            0,
            Numbers {
                key: "epoch".into(),
                rows: vec![0],
                values: vec![2.0],
                unreadable: None,
                ..Numbers::default()
            },
        );
        second.keys.push("epoch".into());
        let mut gathered = Gathered::default();
        gathered.add(&first, 0..2).unwrap();
        gathered.add(&second, 0..1).unwrap();
        let table = gathered.take().unwrap();
        let columns: Vec<_> =
            table.numbers.iter().map(|column| (&column.key[..], &column.rows[..])).collect();
        assert_eq!(columns, [("epoch", &[2][..]), ("m", &[0, 2][..])]);
        assert_eq!((table.keys.len(), &table.places), (3, &Places::LinesFrom(2)));
    }
}
