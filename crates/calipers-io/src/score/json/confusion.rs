//! Confusion matrices as JSON lines: one object per unit with `id` and `confusion`.

use std::cell::Cell;
use std::ops::Range;

use calipers_core::Error;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Keys, Skipped, refused};
use crate::score::names::Register;
use crate::text::{Lines, shown};

/// Where the matrix of a unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixLine {
    /// The unit.
    pub unit: String,
    /// Its line, from 1.
    pub line: u64,
    /// The bytes of that line.
    pub bytes: Range<usize>,
}

/// Counts of pixels by truth (rows) and prediction (columns).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The cells, row by row.
    pub counts: Vec<u64>,
}

/// Lists the units of a file without keeping their matrices; blank lines and unknown keys are
/// ignored.
pub fn index(bytes: &[u8]) -> Result<Vec<MatrixLine>, Error> {
    let mut units = Vec::new();
    let mut register = Register::default();
    for line in Lines::new(bytes) {
        let line = line?;
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        let mut reader = serde_json::Deserializer::from_slice(line.text);
        let read = Object { matrix: false, at: &Cell::default() }.deserialize(&mut reader);
        let object = read.and_then(|object| reader.end().map(|()| object));
        let object = object.map_err(|error| refused(&error, line.number))?;
        let Some(unit) = object.unit else {
            let error = Error::format("no key `id` in the object").at(format_args!("line {}", line.number));
            return Err(error.found(shown(line.text)));
        };
        register.add(&unit, line.number)?;
        units.push(MatrixLine { unit, line: line.number, bytes: line.start..line.start + line.text.len() });
    }
    Ok(units)
}

/// Reads the matrix of one line.
pub fn matrix(text: &[u8], line: u64) -> Result<Matrix, Error> {
    let at = Cell::default();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let object = Object { matrix: true, at: &at }.deserialize(&mut reader).map_err(|error| {
        let error = refused(&error, line).allowed("rows of one length, of whole numbers 0 or more");
        match at.get() {
            Some((row, column)) => error.at(format_args!("row {row}, column {column}")),
            None => error,
        }
    })?;
    object.matrix.ok_or_else(|| Error::format("no key `confusion` in the object").at(format!("line {line}")))
}

/// Row and column of the cell that is being read.
type Place = Cell<Option<(usize, usize)>>;

/// Reads one object, with or without its matrix.
struct Object<'a> {
    matrix: bool,
    at: &'a Place,
}

struct Read {
    unit: Option<String>,
    matrix: Option<Matrix>,
}

crate::seed!(Object<'_> => Read, deserialize_map);

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Read;

    crate::expecting!("an object");

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Read, A::Error> {
        let mut read = Read { unit: None, matrix: None };
        let mut keys = Keys::default();
        while let Some(key) = entries.next_key::<String>()? {
            keys.once(&key)?;
            match key.as_str() {
                "id" => read.unit = Some(entries.next_value()?),
                "confusion" if self.matrix => {
                    read.matrix = Some(entries.next_value_seed(Rows(self.at))?);
                    self.at.set(None);
                }
                _ => {
                    let Skipped = entries.next_value()?;
                }
            }
        }
        Ok(read)
    }
}

struct Rows<'a>(&'a Place);

crate::seed!(Rows<'_> => Matrix, deserialize_seq);

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = Matrix;

    crate::expecting!("a list of rows");

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Matrix, A::Error> {
        let mut matrix = Matrix { rows: 0, columns: 0, counts: Vec::new() };
        while let Some(cells) = list.next_element_seed(Row { at: self.0, matrix: &mut matrix })? {
            if matrix.rows > 0 && cells != matrix.columns {
                return Err(de::Error::custom(format_args!(
                    "row {} has {cells} columns, row 0 has {}",
                    matrix.rows, matrix.columns
                )));
            }
            matrix.columns = cells;
            matrix.rows += 1;
        }
        Ok(matrix)
    }
}

/// Appends one row to a matrix and counts its cells.
struct Row<'a> {
    at: &'a Place,
    matrix: &'a mut Matrix,
}

crate::seed!(Row<'_> => usize, deserialize_seq);

impl<'de> Visitor<'de> for Row<'_> {
    type Value = usize;

    crate::expecting!("a list of counts");

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<usize, A::Error> {
        let mut cells = 0;
        loop {
            self.at.set(Some((self.matrix.rows, cells)));
            match list.next_element::<Count>()? {
                Some(Count(count)) => self.matrix.counts.push(count),
                None => break,
            }
            cells += 1;
        }
        self.at.set(None);
        Ok(cells)
    }
}

/// A whole number, 0 or more, however it is written.
struct Count(u64);

impl<'de> de::Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Count;

            crate::expecting!("a whole number, 0 or more");

            fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
                Ok(Count(count))
            }

            fn visit_f64<E: de::Error>(self, count: f64) -> Result<Count, E> {
                whole(count).map(Count).ok_or_else(|| E::invalid_value(de::Unexpected::Float(count), &self))
            }
        }

        deserializer.deserialize_any(Number)
    }
}

/// The count that a float stands for, if it is one that floats hold exactly.
pub fn whole(count: f64) -> Option<u64> {
    let fits = (0.0..=9_007_199_254_740_992.0).contains(&count) && count.fract().abs() <= 0.0;
    fits.then_some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_listed_first_and_read_later() {
        let text =
            b"{\"id\":\"b\",\"confusion\":[[1,2.0],[0,4]]}\r\n\n{\"confusion\":[],\"x\":[1],\"id\":\"a\"}";
        let units = index(text).unwrap();
        assert_eq!(
            units.iter().map(|unit| (unit.unit.as_str(), unit.line)).collect::<Vec<_>>(),
            [("b", 1), ("a", 3)]
        );
        let first = matrix(&text[units[0].bytes.clone()], 1).unwrap();
        assert_eq!(first, Matrix { rows: 2, columns: 2, counts: vec![1, 2, 0, 4] });
        assert_eq!(matrix(&text[units[1].bytes.clone()], 3).unwrap().rows, 0);
    }

    #[test]
    fn a_bad_cell_is_named_by_row_and_column() {
        for (cells, words) in [
            ("[[1,2],[3,-4]]", ["row 1, column 1", "-4"]),
            ("[[1,2.5]]", ["row 0, column 1", "2.5"]),
            ("[[1],[\"2\"]]", ["row 1, column 0", "\"2\""]),
            ("[[1,null]]", ["row 0, column 1", "null"]),
            ("[[1,1e300]]", ["row 0, column 1", "1e+300"]),
            ("[[1,2],[3]]", ["row 1", "1 columns"]),
            ("[1,2]", ["line 7", "a list of counts"]),
            ("{}", ["line 7", "a list of rows"]),
        ] {
            let line = format!("{{\"id\":\"a\",\"confusion\":{cells}}}");
            let error = matrix(line.as_bytes(), 7).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{cells}: {error}");
        }
        assert!(matrix(b"{\"id\":\"a\"}", 7).unwrap_err().to_string().contains("`confusion`"));
    }

    #[test]
    fn names_are_there_and_come_once() {
        assert!(index(b"{\"confusion\":[]}").unwrap_err().to_string().contains("`id`"));
        let twice = index(b"{\"id\":\"a\"}\n{\"id\":\"a\"}").unwrap_err().to_string();
        assert!(twice.contains("lines 1 and 2"), "{twice}");
        assert!(index(b"{\"id\":\"a\"").unwrap_err().to_string().contains("line 1"));
    }
}
