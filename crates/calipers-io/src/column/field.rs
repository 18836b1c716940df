//! What a column of a parquet file holds, by the schema of the file.

use calipers_core::{Error, Result};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type};

use super::lists::Levels;
use crate::array::Dtype;
use crate::history::parquet::column::{is_half, kind, unsigned};

/// The member of a struct that holds the bytes of a file.
const BYTES: &str = "bytes";

/// A column that is read.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Where it is among the leaves of the schema.
    pub(super) place: usize,
    pub(super) levels: Levels,
    /// What its numbers are; none where it holds bytes.
    pub(super) dtype: Option<Dtype>,
}

/// The names of the columns, as a user knows them.
pub(super) fn names(schema: &SchemaDescriptor) -> Vec<String> {
    schema.root_schema().get_fields().iter().map(|field| field.name().to_owned()).collect()
}

/// The column of that name.
pub(super) fn find(schema: &SchemaDescriptor, name: &str) -> Result<Field> {
    let fields = schema.root_schema().get_fields();
    let found = |count: usize| {
        let error = if count == 0 { "no column of that name" } else { "two columns have the same name" };
        Error::value(error)
            .found(format!("`{name}`; the columns are {}", names(schema).join(", ")))
            .advice("write FILE.parquet:COLUMN with the name of one column")
    };
    let mut of_name = fields.iter().filter(|field| field.name() == name);
    let (Some(field), None) = (of_name.next(), of_name.next()) else {
        return Err(found(fields.iter().filter(|field| field.name() == name).count()));
    };
    let leaves = || {
        (0..schema.num_columns())
            .filter(|at| schema.column(*at).path().parts().first() == Some(&name.to_owned()))
    };
    let is_struct = !field.is_primitive() && !is_list(field);
    let place = match is_struct {
        true => leaves().find(|at| schema.column(*at).path().parts().get(1..) == Some(&[BYTES.to_owned()])),
        false => leaves().next().filter(|_| leaves().count() == 1),
    };
    let Some(place) = place else {
        return Err(Error::value("the column holds no files and no arrays")
            .found(format!("members {}", members(field)))
            .allowed("bytes of files, structs of `bytes` and `path`, or lists of lists of numbers")
            .advice("write each file as bytes"));
    };
    let column = schema.column(place);
    let levels = levels(field, &column.path().parts()[1..]);
    let is_bytes = column.physical_type() == Physical::BYTE_ARRAY && levels.lists.is_empty();
    let dtype = if is_bytes { None } else { Some(dtype(&column)?) };
    Ok(Field { place, levels, dtype })
}

fn is_list(field: &Type) -> bool {
    let repeated = |field: &Type| {
        field.get_basic_info().has_repetition() && field.get_basic_info().repetition() == Repetition::REPEATED
    };
    repeated(field) || matches!(field.get_fields(), [only] if repeated(only))
}

fn members(field: &Type) -> String {
    if field.is_primitive() {
        return field.name().to_owned();
    }
    field.get_fields().iter().map(|member| member.name()).collect::<Vec<_>>().join(", ")
}

/// What the definition levels mean on the way from a field to the leaf at this path below it.
fn levels(field: &Type, path: &[String]) -> Levels {
    let mut levels = Levels::default();
    let (mut at, mut rest) = (field, path.iter());
    loop {
        match at.get_basic_info().has_repetition().then(|| at.get_basic_info().repetition()) {
            Some(Repetition::REPEATED) => {
                levels.value += 1;
                levels.lists.push(levels.value);
            }
            Some(Repetition::OPTIONAL) => levels.value += 1,
            Some(Repetition::REQUIRED) | None => {}
        }
        let next = rest.next().filter(|_| !at.is_primitive());
        match next.and_then(|name| at.get_fields().iter().find(|member| member.name() == name)) {
            Some(member) => at = member,
            None => return levels,
        }
    }
}

fn dtype(column: &ColumnDescriptor) -> Result<Dtype> {
    let width = match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => Some(integer.bit_width),
        Some(LogicalType::Float16) | None => None,
        Some(_) => return Err(no_numbers(column)),
    };
    Ok(match (column.physical_type(), width, unsigned(column)) {
        (Physical::BOOLEAN, ..) => Dtype::Bool,
        (Physical::INT32, Some(8), true) => Dtype::U8,
        (Physical::INT32, Some(8), false) => Dtype::I8,
        (Physical::INT32, Some(16), true) => Dtype::U16,
        (Physical::INT32, Some(16), false) => Dtype::I16,
        (Physical::INT32, _, true) => Dtype::U32,
        (Physical::INT32, _, false) => Dtype::I32,
        (Physical::INT64, _, true) => Dtype::U64,
        (Physical::INT64, _, false) => Dtype::I64,
        (Physical::FLOAT, ..) => Dtype::F32,
        (Physical::DOUBLE, ..) => Dtype::F64,
        (Physical::FIXED_LEN_BYTE_ARRAY, ..) if is_half(column) => Dtype::F16,
        _ => return Err(no_numbers(column)),
    })
}

fn no_numbers(column: &ColumnDescriptor) -> Error {
    Error::value("the column holds neither files nor numbers")
        .found(kind(column))
        .allowed("bytes of files, structs of `bytes` and `path`, or lists of lists of numbers")
        .advice("write each file as bytes")
}
