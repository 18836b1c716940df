//! One column of a table as numbers or as names.

use std::collections::HashMap;

use calipers_core::{Error, Result, Stored};
use half::f16;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::schema::types::ColumnDescriptor;

use super::groups::Source;
use crate::history::{Numbers, Texts};

/// The name of a column: the names on the way to it, with dots between.
pub(super) fn name(column: &ColumnDescriptor) -> String {
    column.path().string()
}

/// Why a column cannot be read as numbers.
pub(super) fn not_numeric(column: &ColumnDescriptor) -> Option<Error> {
    let number = matches!(column.physical_type(), Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE)
        || is_half(column);
    let decimal = column.converted_type() == ConvertedType::DECIMAL
        || matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)));
    let list = column.max_rep_level() > 0;
    (!number || decimal || list).then(|| {
        Error::format("the column is not numeric")
            .at(format_args!("column `{}`", name(column)))
            .found(kind(column))
            .allowed("INT32, INT64, FLOAT16, FLOAT or DOUBLE")
            .advice("write the column as float64 or int64")
    })
}

/// Why a column cannot be read as names.
pub(super) fn not_named(column: &ColumnDescriptor) -> Option<Error> {
    let bare = matches!(column.physical_type(), Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY);
    let decimal = column.converted_type() == ConvertedType::DECIMAL
        || matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)));
    let list = column.max_rep_level() > 0;
    (bare || decimal || list).then(|| {
        Error::format("the column does not hold names")
            .at(format_args!("column `{}`", name(column)))
            .found(kind(column))
            .allowed("text, INT32, INT64, FLOAT, DOUBLE or BOOLEAN")
            .advice("write the column as text")
    })
}

pub(crate) fn kind(column: &ColumnDescriptor) -> String {
    let list = if column.max_rep_level() > 0 { "a list of " } else { "" };
    let physical = column.physical_type();
    match column.logical_type_ref() {
        Some(logical) => format!("{list}{physical} ({logical:?})"),
        None if column.converted_type() == ConvertedType::NONE => format!("{list}{physical}"),
        None => format!("{list}{physical} ({})", column.converted_type()),
    }
}

/// The logged numbers of a numeric column in a row group.
pub(super) fn numbers(source: &Source<'_>, group: usize, place: usize) -> Result<Numbers> {
    let column = source.footer.file_metadata().schema_descr().column(place);
    let stored = match column.physical_type() {
        Type::FLOAT => Stored::Single,
        Type::FIXED_LEN_BYTE_ARRAY => Stored::Half,
        _ => Stored::Double,
    };
    let mut found = Numbers { key: name(&column), stored, ..Numbers::default() };
    let unsigned = unsigned(&column);
    source.column(group, place, |reader, group| {
        let mut log = |row: u32, value: f64| {
            found.rows.push(row);
            found.values.push(value);
            Ok(())
        };
        match reader {
            ColumnReader::Int32ColumnReader(reader) if unsigned => {
                group.each(reader, |row, value| log(row, f64::from(*value as u32)))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                group.each(reader, |row, value| log(row, f64::from(*value)))
            }
            ColumnReader::Int64ColumnReader(reader) if unsigned => {
                group.each(reader, |row, value| log(row, *value as u64 as f64))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                group.each(reader, |row, value| log(row, *value as f64))
            }
            ColumnReader::FloatColumnReader(reader) => {
                group.each(reader, |row, value| log(row, f64::from(*value)))
            }
            ColumnReader::DoubleColumnReader(reader) => group.each(reader, |row, value| log(row, *value)),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                group.each(reader, |row, value| match value.data() {
                    [low, high] => log(row, f16::from_le_bytes([*low, *high]).to_f64()),
                    bytes => Err(Error::format("a half-precision number of another length")
                        .found(format_args!("{} bytes", bytes.len()))
                        .allowed("2")),
                })
            }
            _ => Err(Error::format("the column is not numeric")),
        }
    })?;
    Ok(found)
}

/// The names of a column of text, numbers or truth values in a row group, which has so many rows
/// before it; numbers by their shortest text.
pub(crate) fn texts(source: &Source<'_>, group: usize, place: usize, before: usize) -> Result<Texts> {
    let column = source.footer.file_metadata().schema_descr().column(place);
    let mut found = Texts { key: name(&column), ..Texts::default() };
    let unsigned = unsigned(&column);
    let mut places: HashMap<String, u32> = HashMap::new();
    source.column(group, place, |reader, group| {
        let mut log = |row: u32, text: &str| {
            let place = places.get(text).copied().unwrap_or_else(|| {
                let place = found.names.len() as u32;
                found.names.push(text.to_owned());
                places.insert(text.to_owned(), place);
                place
            });
            found.cells.push((row, place));
            Ok(())
        };
        match reader {
            ColumnReader::BoolColumnReader(reader) => {
                group.each(reader, |row, value| log(row, &value.to_string()))
            }
            ColumnReader::Int32ColumnReader(reader) if unsigned => {
                group.each(reader, |row, value| log(row, &(*value as u32).to_string()))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                group.each(reader, |row, value| log(row, &value.to_string()))
            }
            ColumnReader::Int64ColumnReader(reader) if unsigned => {
                group.each(reader, |row, value| log(row, &(*value as u64).to_string()))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                group.each(reader, |row, value| log(row, &value.to_string()))
            }
            ColumnReader::FloatColumnReader(reader) => {
                group.each(reader, |row, value| log(row, &value.to_string()))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                group.each(reader, |row, value| log(row, &value.to_string()))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                group.each(reader, |row, value: &ByteArray| match std::str::from_utf8(value.data()) {
                    Ok(text) => log(row, text),
                    Err(error) => Err(Error::format("a name is not UTF-8")
                        .at(format_args!("row {}", before as u64 + u64::from(row) + 1))
                        .found(error)),
                })
            }
            _ => Err(Error::format("the column does not hold names")),
        }
    })?;
    Ok(found)
}

pub(crate) fn is_half(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Float16))
}

pub(crate) fn unsigned(column: &ColumnDescriptor) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(column.converted_type(), UINT_8 | UINT_16 | UINT_32 | UINT_64),
    }
}
