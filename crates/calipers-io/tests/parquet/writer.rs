//! Small parquet files, written by the library's own writer.

use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type,
};
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;

/// The cells of one column of a row group.
pub(crate) enum Cells {
    Bool(Vec<Option<bool>>),
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Float(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Text(Vec<Option<&'static str>>),
    Fixed(Vec<Option<Vec<u8>>>),
    /// Nothing but nulls and empty lists.
    Nulls(usize),
}

/// A file of these row groups.
pub(crate) fn file(schema: &str, properties: WriterProperties, groups: &[Vec<Cells>]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let required: Vec<bool> =
        schema.get_fields().iter().map(|field| !field.is_optional() && field.is_primitive()).collect();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("a writer");
    for group in groups {
        let mut row_group = writer.next_row_group().expect("a row group");
        write_group(&mut row_group, group, &required);
        row_group.close().expect("a row group");
    }
    writer.into_inner().expect("a file")
}

fn write_group(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, columns: &[Cells], required: &[bool]) {
    for (place, cells) in columns.iter().enumerate() {
        let required = required.get(place).copied().unwrap_or_default();
        match cells {
            Cells::Bool(cells) => write::<BoolType>(group, cells, required),
            Cells::Int32(cells) => write::<Int32Type>(group, cells, required),
            Cells::Int64(cells) => write::<Int64Type>(group, cells, required),
            Cells::Float(cells) => write::<FloatType>(group, cells, required),
            Cells::Double(cells) => write::<DoubleType>(group, cells, required),
            Cells::Text(cells) => {
                let cells: Vec<_> = cells.iter().map(|cell| cell.map(ByteArray::from)).collect();
                write::<ByteArrayType>(group, &cells, required);
            }
            Cells::Fixed(cells) => {
                let cells: Vec<_> =
                    cells.iter().cloned().map(|cell| cell.map(FixedLenByteArray::from)).collect();
                write::<FixedLenByteArrayType>(group, &cells, required);
            }
            Cells::Nulls(rows) => write::<DoubleType>(group, &vec![None; *rows], false),
        }
    }
}

fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: &[Option<T::T>],
    required: bool,
) {
    let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let mut column = group.next_column().expect("a column").expect("a column");
    let writer = column.typed::<T>();
    let depth = writer.get_descriptor().max_def_level();
    let levels: Vec<i16> = cells.iter().map(|cell| if cell.is_some() { depth } else { 0 }).collect();
    let repeats = vec![0; cells.len()];
    let levels = (!required).then_some(&levels[..]);
    writer.write_batch(&values, levels, Some(&repeats)).expect("values");
    column.close().expect("a column");
}

/// Properties that make several small pages.
pub(crate) fn small_pages(compression: Compression, version: WriterVersion) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_write_batch_size(3)
        .set_data_page_row_count_limit(7)
}

/// The encoding of every column, without dictionaries.
pub(crate) fn encoded(builder: WriterPropertiesBuilder, encoding: Encoding) -> WriterProperties {
    builder.set_dictionary_enabled(false).set_encoding(encoding).build()
}
