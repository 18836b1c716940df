//! A long table as a parquet file.

use std::sync::Arc;

use calipers_core::{Error, Result};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{Block, Cells, Heading, Kind};

type Outcome<T> = std::result::Result<T, ParquetError>;

pub(super) fn write<'a>(headings: &[Heading], blocks: impl Iterator<Item = Block<'a>>) -> Result<Vec<u8>> {
    encode(headings, blocks).map_err(|error| Error::io(format!("cannot write the table as parquet: {error}")))
}

fn encode<'a>(headings: &[Heading], blocks: impl Iterator<Item = Block<'a>>) -> Outcome<Vec<u8>> {
    let unit = Type::primitive_type_builder("unit", Physical::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String));
    let mut fields = vec![Arc::new(unit.build()?)];
    for heading in headings {
        let physical = match heading.kind {
            Kind::Whole => Physical::INT64,
            Kind::Number => Physical::DOUBLE,
        };
        let field = Type::primitive_type_builder(heading.name, physical);
        fields.push(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?));
    }
    let schema = Type::group_type_builder("lines").with_fields(fields).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    for block in blocks.filter(|block| block.lines > 0) {
        let mut rows = file.next_row_group()?;
        let units = vec![ByteArray::from(block.unit); block.lines];
        put::<ByteArrayType>(&mut rows, &units, None)?;
        for (heading, cells) in headings.iter().zip(&block.columns) {
            let (given, lacking) = (vec![1; block.lines], vec![0; block.lines]);
            match (heading.kind, cells) {
                (Kind::Whole, Cells::Whole(cells)) => put::<Int64Type>(&mut rows, cells, Some(&given))?,
                (Kind::Number, Cells::Number(cells)) => put::<DoubleType>(&mut rows, cells, Some(&given))?,
                (Kind::Whole, _) => put::<Int64Type>(&mut rows, &[], Some(&lacking))?,
                (Kind::Number, _) => put::<DoubleType>(&mut rows, &[], Some(&lacking))?,
            }
        }
        rows.close()?;
    }
    file.into_inner()
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
    use std::io::Write;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::super::tests::{HEADINGS, blocks};
    use super::*;

    #[test]
    fn what_was_written_reads_back_with_its_types_and_gaps() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&write(&HEADINGS, blocks().into_iter()).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        let rows: Vec<Vec<Field>> = rows
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        let row = |unit: &str, node, bias, touched| {
            vec![Field::Str(unit.into()), Field::Long(node), Field::Double(bias), touched]
        };
        assert_eq!(
            rows,
            [
                row("=a", 0, 0.5, Field::Null),
                row("=a", 7, 2.0, Field::Null),
                row("b", 3, 1e300, Field::Long(1))
            ]
        );
    }

    #[test]
    fn a_table_without_lines_is_a_file_with_its_columns() {
        let bytes = write(&HEADINGS, std::iter::empty()).unwrap();
        assert_eq!(bytes, write(&HEADINGS, blocks().into_iter().skip(1).take(1)).unwrap());
        assert!(bytes.starts_with(b"PAR1"));
    }
}
