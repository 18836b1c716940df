//! The per-unit table as files: a line a unit, the first column `unit`, nothing where a value is
//! undefined.

mod columnar;

use calipers_core::{Result, Table, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::csv::{Lines, guarded};
use crate::json::Plain;
use crate::leaf::{Leaf, leaf};
use crate::number::shortest;

/// The table as CSV; an empty cell is undefined.
pub fn csv(table: &Table) -> String {
    let mut lines = Lines::new();
    lines.push(table.columns.iter().map(|heading| guarded(heading)));
    for (unit, cells) in &table.rows {
        lines.push(std::iter::once(guarded(unit)).chain(cells.iter().map(cell)));
    }
    lines.finish()
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

/// The table as JSON, one object a line; `null` is undefined.
pub fn jsonl(table: &Table) -> String {
    let lines = table.rows.iter().map(|(unit, cells)| {
        let line = Unit { columns: &table.columns, unit, cells };
        serde_json::to_string(&line).expect("every key is a string") + "\n"
    });
    lines.collect()
}

struct Unit<'a> {
    columns: &'a [String],
    unit: &'a str,
    cells: &'a [Value],
}

impl Serialize for Unit<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.columns.len()))?;
        let (first, others) =
            self.columns.split_first().map_or(("unit", &[][..]), |(first, others)| (first, others));
        object.serialize_entry(first, self.unit)?;
        for (heading, value) in others.iter().zip(self.cells) {
            object.serialize_entry(heading, &Plain(value))?;
        }
        object.end()
    }
}

/// The table as a parquet file: the unit as text, a column of counts as 64-bit integers where every
/// one of them fits, numbers as doubles, and null where undefined.
pub fn parquet(table: &Table) -> Result<Vec<u8>> {
    columnar::write(table)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
