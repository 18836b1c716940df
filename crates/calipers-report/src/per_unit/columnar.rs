//! Tables as parquet files: the unit as text, then columns that may have gaps.

use std::sync::Arc;

use calipers_core::{Error, Result, Value};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::text;
use crate::leaf::{Leaf, leaf};

type Outcome<T> = std::result::Result<T, ParquetError>;

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Whole,
    /// Numbers.
    Number,
    /// Names, and values that hold other values as JSON.
    Text,
}

impl Kind {
    /// The narrowest kind that holds every cell.
    pub(super) fn of<'a>(cells: impl Iterator<Item = &'a Value>) -> Self {
        let (mut counts, mut kind) = (false, Self::Whole);
        for cell in cells {
            match leaf(cell) {
                None => return Self::Text,
                Some(Leaf::Count(n)) if i64::try_from(n).is_ok() => counts = true,
                Some(Leaf::Undefined(_)) => {}
                Some(Leaf::Count(_) | Leaf::Number(_)) => kind = Self::Number,
            }
        }
        if counts { kind } else { Self::Number }
    }

    fn physical(self) -> Physical {
        match self {
            Self::Whole => Physical::INT64,
            Self::Number => Physical::DOUBLE,
            Self::Text => Physical::BYTE_ARRAY,
        }
    }
}

/// Writes a file whose schema is called `name`, with a row group for each group of lines, and what it says of
/// itself.
pub(super) fn write<'a, C: AsRef<[Value]>>(
    name: &str,
    columns: &[(&str, Kind)],
    said: Option<(&str, String)>,
    groups: impl Iterator<Item = Vec<(&'a str, C)>>,
) -> Result<Vec<u8>> {
    encode(name, columns, said, groups)
        .map_err(|error| Error::io(format!("cannot write the table as parquet: {error}")))
}

fn encode<'a, C: AsRef<[Value]>>(
    name: &str,
    columns: &[(&str, Kind)],
    said: Option<(&str, String)>,
    groups: impl Iterator<Item = Vec<(&'a str, C)>>,
) -> Outcome<Vec<u8>> {
    let fields = columns.iter().enumerate().map(|(place, (heading, kind))| {
        let repetition = if place == 0 { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let field = Type::primitive_type_builder(heading, kind.physical())
            .with_repetition(repetition)
            .with_logical_type((*kind == Kind::Text).then_some(LogicalType::String));
        field.build().map(Arc::new)
    });
    let schema = Type::group_type_builder(name).with_fields(fields.collect::<Outcome<_>>()?).build()?;
    let said = said.map(|(key, value)| vec![KeyValue::new(key.to_owned(), value)]);
    let properties = Arc::new(WriterProperties::builder().set_key_value_metadata(said).build());
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    for lines in groups {
        let mut rows = file.next_row_group()?;
        let units: Vec<ByteArray> = lines.iter().map(|(unit, _)| (*unit).into()).collect();
        put::<ByteArrayType>(&mut rows, &units, None)?;
        for (place, (_, kind)) in columns[1..].iter().enumerate() {
            let cells = lines.iter().map(|(_, cells)| &cells.as_ref()[place]);
            match kind {
                Kind::Whole => put_optional::<Int64Type>(&mut rows, cells.map(whole).collect())?,
                Kind::Number => put_optional::<DoubleType>(&mut rows, cells.map(number).collect())?,
                Kind::Text => {
                    let texts = cells.map(|cell| name_or_json(cell).map(|text| text.as_str().into()));
                    put_optional::<ByteArrayType>(&mut rows, texts.collect())?;
                }
            }
        }
        rows.close()?;
    }
    file.into_inner()
}

pub(super) fn whole(cell: &Value) -> Option<i64> {
    match leaf(cell) {
        Some(Leaf::Count(n)) => i64::try_from(n).ok(),
        _ => None,
    }
}

pub(super) fn number(cell: &Value) -> Option<f64> {
    match leaf(cell)? {
        Leaf::Number(x) => Some(x),
        Leaf::Count(n) => Some(n as f64),
        Leaf::Undefined(_) => None,
    }
}

pub(super) fn name_or_json(cell: &Value) -> Option<String> {
    let undefined = matches!(leaf(cell), Some(Leaf::Undefined(_)));
    (!undefined).then(|| text(cell))
}

fn put_optional<T: DataType>(
    rows: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: Vec<Option<T::T>>,
) -> Outcome<()> {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let defined: Vec<T::T> = cells.into_iter().flatten().collect();
    put::<T>(rows, &defined, Some(&levels))
}

fn put<T: DataType>(
    rows: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Outcome<()> {
    let missing = || ParquetError::General("fewer columns than the schema has".into());
    let mut column = rows.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::Table;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::io::Write;

    fn read_back(table: &Table) -> (Vec<Physical>, Vec<Vec<Field>>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&crate::per_unit::parquet(table).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let types = schema.columns().iter().map(|column| column.physical_type()).collect();
        let rows = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect());
        (types, rows.collect())
    }

    #[test]
    fn what_was_written_reads_back_with_its_types_and_gaps() {
        let series = Value::Series(vec![Value::Count(1), Value::Number(0.5)]);
        let table = Table {
            columns: ["unit", "nodes", "big", "ratio", "never", "curve"].map(String::from).into(),
            rows: vec![
                (
                    "größe".into(),
                    vec![
                        Value::Count(-3),
                        Value::Count(1 << 70),
                        Value::Number(0.1),
                        Value::undefined("n"),
                        series,
                    ],
                ),
                (
                    "b".into(),
                    vec![
                        Value::undefined("x"),
                        Value::Count(2),
                        Value::Number(f64::NAN),
                        Value::undefined("n"),
                        Value::undefined("x"),
                    ],
                ),
            ],
        };
        let (types, rows) = read_back(&table);
        use Physical::{BYTE_ARRAY, DOUBLE, INT64};
        assert_eq!(types, [BYTE_ARRAY, INT64, DOUBLE, DOUBLE, DOUBLE, BYTE_ARRAY]);
        assert_eq!(
            rows,
            [
                vec![
                    Field::Str("größe".into()),
                    Field::Long(-3),
                    Field::Double(2f64.powi(70)),
                    Field::Double(0.1),
                    Field::Null,
                    Field::Str("[1,0.5]".into()),
                ],
                vec![
                    Field::Str("b".into()),
                    Field::Null,
                    Field::Double(2.0),
                    Field::Null,
                    Field::Null,
                    Field::Null,
                ],
            ]
        );
    }

    #[test]
    fn a_table_without_units_is_a_file_with_its_columns() {
        let table = Table { columns: vec!["unit".into(), "nodes".into()], rows: Vec::new() };
        let (types, rows) = read_back(&table);
        assert_eq!((types.len(), rows.len()), (2, 0));
    }

    #[test]
    fn the_bytes_depend_on_the_table_alone() {
        let rows = (0..300).map(|i| (format!("u{i}"), vec![Value::Count(i)])).collect();
        let table = Table { columns: vec!["unit".into(), "n".into()], rows };
        assert_eq!(crate::per_unit::parquet(&table).unwrap(), crate::per_unit::parquet(&table).unwrap());
        assert_eq!(read_back(&table).1.len(), 300);
    }
}
