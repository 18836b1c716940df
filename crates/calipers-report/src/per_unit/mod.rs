//! Tables of units, or of the lines inside them, as files: the first column is `unit`, and there is
//! nothing where a value is undefined.

mod columnar;
mod seal;

use std::io::{self, Write};

use calipers_core::{Result, Table, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};

pub use self::columnar::Kind;
pub use self::seal::is_sealed;
use crate::csv::guarded;
use crate::json::Plain;
use crate::leaf::{Leaf, leaf};
use crate::number::shortest;

/// The table as CSV; an empty cell is undefined.
pub fn csv(table: &Table) -> String {
    text_of(|out| write_csv(&headings(table), lines(table), out))
}

/// The table as JSON, one object per line; `null` is undefined.
pub fn jsonl(table: &Table) -> String {
    text_of(|out| write_jsonl(&headings(table), lines(table), out))
}

/// The table as a parquet file: the unit as text, a column of counts as 64-bit integers where every
/// one of them fits, numbers as doubles, and null where undefined. It carries the checksum of its rows.
pub fn parquet(table: &Table) -> Result<Vec<u8>> {
    let others = (0..table.columns.len().saturating_sub(1))
        .map(|place| Kind::of(table.rows.iter().filter_map(|(_, cells)| cells.get(place))));
    let columns: Vec<(&str, Kind)> =
        headings(table).into_iter().zip(std::iter::once(Kind::Text).chain(others)).collect();
    let lines: Vec<(&str, &[Value])> = lines(table).collect();
    let sealed = seal::of_lines(&columns, &lines);
    columnar::write("units", &columns, Some((seal::KEY, sealed)), std::iter::once(lines))
}

/// A parquet file with a row group for each block of lines, in columns of these kinds.
pub fn parquet_blocks<'a, C: AsRef<[Value]>>(
    columns: &[(&str, Kind)],
    blocks: impl Iterator<Item = Vec<(&'a str, C)>>,
) -> Result<Vec<u8>> {
    columnar::write("lines", columns, None, blocks.filter(|lines| !lines.is_empty()))
}

/// Writes lines as CSV: the name of a unit, and a cell for every heading but the first.
pub fn write_csv<'a, C: AsRef<[Value]>>(
    headings: &[&str],
    lines: impl Iterator<Item = (&'a str, C)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut file = csv::Writer::from_writer(out);
    file.write_record(headings.iter().map(|heading| guarded(heading)))?;
    for (unit, cells) in lines {
        file.write_record(std::iter::once(guarded(unit)).chain(cells.as_ref().iter().map(cell)))?;
    }
    file.flush()
}

/// Writes lines as JSON, one object for each.
pub fn write_jsonl<'a, C: AsRef<[Value]>>(
    headings: &[&str],
    lines: impl Iterator<Item = (&'a str, C)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (unit, cells) in lines {
        serde_json::to_writer(&mut *out, &Line { headings, unit, cells: cells.as_ref() })?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn headings(table: &Table) -> Vec<&str> {
    table.columns.iter().map(String::as_str).collect()
}

fn lines(table: &Table) -> impl Iterator<Item = (&str, &[Value])> {
    table.rows.iter().map(|(unit, cells)| (unit.as_str(), cells.as_slice()))
}

fn text_of(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory does not fail to be written to");
    String::from_utf8(bytes).expect("every cell is text")
}

fn cell(value: &Value) -> String {
    match leaf(value) {
        Some(Leaf::Number(x)) => shortest(x),
        Some(Leaf::Count(n)) => n.to_string(),
        Some(Leaf::Undefined(_)) => String::new(),
        None => guarded(&text(value)),
    }
}

/// A name as it is, and a value that holds other values as JSON on one line.
fn text(value: &Value) -> String {
    match value {
        Value::Text(name) => name.clone(),
        value => serde_json::to_string(&Plain(value)).expect("every key is a string"),
    }
}

struct Line<'a> {
    headings: &'a [&'a str],
    unit: &'a str,
    cells: &'a [Value],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.headings.len()))?;
        object.serialize_entry(self.headings.first().unwrap_or(&"unit"), self.unit)?;
        for (heading, value) in self.headings.iter().skip(1).zip(self.cells) {
            object.serialize_entry(heading, &Plain(value))?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn table() -> Table {
        Table {
            columns: ["unit", "nodes", "ratio"].map(String::from).into(),
            rows: vec![
                ("=a,b".into(), vec![Value::Count(-3), Value::Number(2.0)]),
                ("c\n".into(), vec![Value::undefined("none"), Value::Number(f64::NAN)]),
            ],
        }
    }

    #[test]
    fn csv_leaves_undefined_cells_empty_and_guards_names() {
        assert_eq!(csv(&table()), "unit,nodes,ratio\n\"'=a,b\",-3,2.0\n\"c\n\",,\n");
    }

    #[test]
    fn jsonl_has_one_strict_object_a_line() {
        let text = jsonl(&table());
        assert_eq!(
            text,
            "{\"unit\":\"=a,b\",\"nodes\":-3,\"ratio\":2.0}\n{\"unit\":\"c\\n\",\"nodes\":null,\"ratio\":null}\n"
        );
    }

    #[test]
    fn a_series_in_a_cell_stays_json() {
        let series = Value::Series(vec![Value::Count(1), Value::undefined("")]);
        let table =
            Table { columns: vec!["unit".into(), "s".into()], rows: vec![("u".into(), vec![series])] };
        assert_eq!(csv(&table), "unit,s\nu,\"[1,null]\"\n");
        assert_eq!(jsonl(&table), "{\"unit\":\"u\",\"s\":[1,null]}\n");
    }

    #[test]
    fn names_in_cells_are_written_as_they_are_and_guarded_in_csv() {
        let cell = vec![Value::Text("=1,2".into())];
        let table = Table { columns: vec!["unit".into(), "fold".into()], rows: vec![("u".into(), cell)] };
        assert_eq!(csv(&table), "unit,fold\nu,\"'=1,2\"\n");
        assert_eq!(jsonl(&table), "{\"unit\":\"u\",\"fold\":\"=1,2\"}\n");
    }

    #[test]
    fn a_table_without_units_is_its_heading() {
        let empty = Table { rows: Vec::new(), ..table() };
        assert_eq!(csv(&empty), "unit,nodes,ratio\n");
        assert_eq!(jsonl(&empty), "");
    }

    const COLUMNS: [(&str, Kind); 4] =
        [("unit", Kind::Text), ("node", Kind::Whole), ("bias", Kind::Number), ("touched", Kind::Whole)];

    fn blocks() -> Vec<Vec<(&'static str, [Value; 3])>> {
        let line = |node, bias, touched| [Value::Count(node), Value::Number(bias), touched];
        vec![
            vec![("=a", line(0, 0.5, Value::undefined(""))), ("=a", line(7, 2.0, Value::undefined("")))],
            Vec::new(),
            vec![("b", line(3, 1e300, Value::Count(1)))],
        ]
    }

    #[test]
    fn lines_inside_units_are_written_as_they_come() {
        let headings = COLUMNS.map(|(heading, _)| heading);
        let text = text_of(|out| write_csv(&headings, blocks().into_iter().flatten(), out));
        assert_eq!(text, "unit,node,bias,touched\n'=a,0,0.5,\n'=a,7,2.0,\nb,3,1e+300,1\n");
        let text = text_of(|out| write_jsonl(&headings, blocks().into_iter().flatten(), out));
        let first = "{\"unit\":\"=a\",\"node\":0,\"bias\":0.5,\"touched\":null}\n";
        assert!(text.starts_with(first) && text.lines().count() == 3, "{text}");
    }

    #[test]
    fn blocks_read_back_from_parquet_with_their_types_and_gaps() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&parquet_blocks(&COLUMNS, blocks().into_iter()).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let rows = reader.get_row_iter(None).unwrap();
        let rows: Vec<Vec<Field>> = rows
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        let row = |unit: &str, node, bias, touched| {
            vec![Field::Str(unit.into()), Field::Long(node), Field::Double(bias), touched]
        };
        let expected = [
            row("=a", 0, 0.5, Field::Null),
            row("=a", 7, 2.0, Field::Null),
            row("b", 3, 1e300, Field::Long(1)),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn blocks_without_lines_are_a_file_with_its_columns() {
        let none = std::iter::empty::<Vec<(&str, [Value; 3])>>();
        let bytes = parquet_blocks(&COLUMNS, none).unwrap();
        assert_eq!(bytes, parquet_blocks(&COLUMNS, blocks().into_iter().skip(1).take(1)).unwrap());
        assert!(bytes.starts_with(b"PAR1"));
    }
}
