//! The checksum that a parquet table carries: that of its lines as JSON, so that a file in which a number changed is
//! told from the one that was written.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use calipers_core::{Digest, Error, Result, Value};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::columnar::{Kind, name_or_json, number, whole};

/// The key under which the checksum stands.
pub(super) const KEY: &str = "calipers.blake3";

/// A cell as the file keeps it.
enum Cell {
    Null,
    Whole(i64),
    Number(f64),
    Text(String),
    /// A value that holds other values, as JSON.
    Json(Box<RawValue>),
}

/// The checksum of lines that are about to be written in columns of these kinds.
pub(super) fn of_lines<C: AsRef<[Value]>>(columns: &[(&str, Kind)], lines: &[(&str, C)]) -> String {
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let cell = |value: &Value, kind: Kind| match kind {
        Kind::Whole => whole(value).map_or(Cell::Null, Cell::Whole),
        Kind::Number => number(value).map_or(Cell::Null, Cell::Number),
        Kind::Text => name_or_json(value).map_or(Cell::Null, Cell::Text),
    };
    let kept = lines.iter().map(|(unit, cells)| {
        let kinds = columns[1..].iter().map(|(_, kind)| *kind);
        let cells = cells.as_ref().iter().zip(kinds).map(|(value, kind)| cell(value, kind));
        std::iter::once(Cell::Text((*unit).to_owned())).chain(cells).collect()
    });
    of_rows(&headings, kept.collect())
}

/// Whether a parquet file says which rows it was written with; fails where it has others.
pub fn is_sealed(file: &[u8]) -> Result<bool> {
    // The decoder is not made for files that somebody damaged.
    let read = catch_unwind(AssertUnwindSafe(|| read(file)));
    let damaged = || Error::format("the rows of the file cannot be read again");
    let Some((said, found)) = read.map_err(|_| damaged())?? else { return Ok(false) };
    if said == found {
        return Ok(true);
    }
    Err(Error::format("the rows are not those that were written: their checksum does not match")
        .at(format!("key {KEY}"))
        .found(found)
        .allowed(said)
        .advice("write the file again with --per-unit"))
}

/// What the file says of its rows, and what they are.
fn read(file: &[u8]) -> Result<Option<(String, String)>> {
    let damaged = |error| Error::format("the rows of the file cannot be read").found(error);
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).map_err(damaged)?;
    let metadata = reader.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let Some(said) = pairs.iter().find(|pair| pair.key == KEY) else { return Ok(None) };
    let schema = metadata.schema_descr();
    let headings: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    let mut rows = Vec::new();
    for row in reader.get_row_iter(None).map_err(damaged)? {
        let row = row.map_err(damaged)?;
        rows.push(row.get_column_iter().map(|(_, field)| of_field(field)).collect());
    }
    Ok(Some((said.value.clone().unwrap_or_default(), of_rows(&headings, rows))))
}

fn of_field(field: &Field) -> Cell {
    match field {
        Field::Null => Cell::Null,
        Field::Long(whole) => Cell::Whole(*whole),
        Field::Double(number) => Cell::Number(*number),
        Field::Str(text) => Cell::Text(text.clone()),
        // We write no others: whatever this is, it is no cell of ours.
        other => Cell::Text(format!("{other:?}")),
    }
}

fn of_rows(headings: &[&str], mut rows: Vec<Vec<Cell>>) -> String {
    // Text that is a list or an object in every row of a column is a value that holds others.
    for place in 1..headings.len() {
        let nested = |row: &Vec<Cell>| match row.get(place) {
            Some(Cell::Text(text)) => text.starts_with(['[', '{']),
            _ => true,
        };
        if !rows.iter().all(nested) {
            continue;
        }
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(place)) {
            if let Cell::Text(text) = cell
                && let Ok(json) = RawValue::from_string(std::mem::take(text))
            {
                *cell = Cell::Json(json);
            }
        }
    }
    let mut text = Vec::new();
    for cells in &rows {
        // Writing into memory fails for no line of text and numbers.
        let _ = serde_json::to_writer(&mut text, &Line { headings, cells });
        text.push(b'\n');
    }
    Digest::of(&text).to_string()
}

struct Line<'a> {
    headings: &'a [&'a str],
    cells: &'a [Cell],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if self.headings.len() != self.cells.len() {
            return Err(S::Error::custom("a row of another length"));
        }
        let mut object = serializer.serialize_map(None)?;
        for (heading, cell) in self.headings.iter().zip(self.cells) {
            match cell {
                Cell::Null => object.serialize_entry(heading, &())?,
                Cell::Whole(whole) => object.serialize_entry(heading, whole)?,
                Cell::Number(number) => object.serialize_entry(heading, number)?,
                Cell::Text(text) => object.serialize_entry(heading, text)?,
                Cell::Json(json) => object.serialize_entry(heading, json)?,
            }
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::per_unit::{jsonl, parquet};
    use calipers_core::Table;

    fn table() -> Table {
        let series = |x| Value::Series(vec![Value::Count(1), Value::Number(x)]);
        let row = |name: &str, n, x, cell| {
            (name.to_owned(), vec![Value::Count(n), Value::Number(x), Value::Text("[1]".into()), cell])
        };
        let mut rows =
            vec![row("größe", -3, 0.1, series(0.5)), row("b", 2, f64::NAN, Value::undefined("none"))];
        rows[1].1[2] = Value::Text("fold".into());
        Table { columns: ["unit", "n", "x", "fold", "curve"].map(String::from).into(), rows }
    }

    #[test]
    fn the_checksum_is_that_of_the_lines_as_json() {
        let bytes = parquet(&table()).unwrap();
        let hash = Digest::of(jsonl(&table()).as_bytes()).to_string();
        assert!(is_sealed(&bytes).unwrap());
        assert!(String::from_utf8_lossy(&bytes).contains(&hash));
    }

    #[test]
    fn row_68_no_flipped_bit_of_a_table_gives_other_rows_without_an_error() {
        let bytes = parquet(&table()).unwrap();
        let rows = |bytes: &[u8]| {
            let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes)).ok()?;
            let rows: Option<Vec<String>> =
                reader.get_row_iter(None).ok()?.map(|row| Some(format!("{:?}", row.ok()?))).collect();
            rows
        };
        let good = rows(&bytes);
        let mut told = 0;
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match is_sealed(&damaged) {
                Err(_) => told += 1,
                // The key itself may be lost, which is told as a warning.
                Ok(false) => {}
                Ok(true) => {
                    let again = catch_unwind(AssertUnwindSafe(|| rows(&damaged))).ok().flatten();
                    let values = |rows: &Option<Vec<String>>| rows.as_ref().map(|rows| rows.join("\n"));
                    assert_eq!(values(&again), values(&good), "bit {bit}");
                }
            }
        }
        assert!(told > bytes.len(), "{told} of {} bits", bytes.len() * 8);
    }
}
