//! The per-unit table as a parquet file.

use std::sync::Arc;

use calipers_core::{Error, Result, Table, Value};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::text;
use crate::leaf::{Leaf, leaf};

type Outcome<T> = std::result::Result<T, ParquetError>;

pub(super) fn write(table: &Table) -> Result<Vec<u8>> {
    encode(table).map_err(|error| Error::io(format!("cannot write the table as parquet: {error}")))
}

fn encode(table: &Table) -> Outcome<Vec<u8>> {
    let others: Vec<(&String, Column)> = table
        .columns
        .iter()
        .skip(1)
        .enumerate()
        .map(|(i, heading)| (heading, Column::of(table.rows.iter().filter_map(|(_, cells)| cells.get(i)))))
        .collect();
    let units = table.rows.iter().map(|(unit, _)| ByteArray::from(unit.as_str())).collect::<Vec<_>>();

    let first = table.columns.first().map_or("unit", String::as_str);
    let mut fields = vec![field(first, Physical::BYTE_ARRAY, Repetition::REQUIRED)?];
    for (heading, column) in &others {
        fields.push(field(heading, column.physical(), Repetition::OPTIONAL)?);
    }
    let schema = Type::group_type_builder("units").with_fields(fields).build()?;
    let mut file = SerializedFileWriter::new(
        Vec::new(),
        Arc::new(schema),
        Arc::new(WriterProperties::builder().build()),
    )?;
    let mut rows = file.next_row_group()?;
    put::<ByteArrayType>(&mut rows, &units, None)?;
    for (_, column) in &others {
        match column {
            Column::Whole(cells) => put_optional::<Int64Type>(&mut rows, cells)?,
            Column::Number(cells) => put_optional::<DoubleType>(&mut rows, cells)?,
            Column::Text(cells) => put_optional::<ByteArrayType>(&mut rows, cells)?,
        }
    }
    rows.close()?;
    file.into_inner()
}

fn field(name: &str, physical: Physical, repetition: Repetition) -> Outcome<Arc<Type>> {
    let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

/// The cells of one column in the narrowest type that holds them all.
enum Column {
    Whole(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    /// Names, and values that hold other values as JSON.
    Text(Vec<Option<ByteArray>>),
}

impl Column {
    fn of<'a>(cells: impl Iterator<Item = &'a Value> + Clone) -> Self {
        let leaves: Option<Vec<Leaf<'_>>> = cells.clone().map(leaf).collect();
        let Some(leaves) = leaves else {
            let name = |cell: &Value| match leaf(cell) {
                Some(Leaf::Undefined(_)) => None,
                _ => Some(ByteArray::from(text(cell).as_str())),
            };
            return Self::Text(cells.map(name).collect());
        };
        let whole = leaves.iter().map(|leaf| match leaf {
            Leaf::Count(n) => i64::try_from(*n).ok().map(Some),
            Leaf::Number(_) => None,
            Leaf::Undefined(_) => Some(None),
        });
        match whole.collect::<Option<Vec<_>>>() {
            Some(whole) if whole.iter().any(Option::is_some) => Self::Whole(whole),
            _ => Self::Number(
                leaves
                    .iter()
                    .map(|leaf| match leaf {
                        Leaf::Number(x) => Some(*x),
                        Leaf::Count(n) => Some(*n as f64),
                        Leaf::Undefined(_) => None,
                    })
                    .collect(),
            ),
        }
    }

    fn physical(&self) -> Physical {
        match self {
            Self::Whole(_) => Physical::INT64,
            Self::Number(_) => Physical::DOUBLE,
            Self::Text(_) => Physical::BYTE_ARRAY,
        }
    }
}

fn put_optional<T: DataType>(
    rows: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: &[Option<T::T>],
) -> Outcome<()> {
    let defined: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
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
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::io::Write;

    fn read_back(table: &Table) -> (Vec<Physical>, Vec<Vec<Field>>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&write(table).unwrap()).unwrap();
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
        assert_eq!(write(&table).unwrap(), write(&table).unwrap());
        assert_eq!(read_back(&table).1.len(), 300);
    }
}
