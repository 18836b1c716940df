//! Parquet tables: one row per step, one column per key, nulls where a key was not logged.
//!
//! Columns inside structs are named by their path with dots. The `parquet` crate decodes; what it
//! trusts (the footer's structure, page sizes, counts, checksums and encodings) is checked first,
//! and should it still give up in the middle, the file is reported as damaged.

mod column;
mod groups;
mod pages;
mod shape;
mod thrift;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calipers_core::{Error, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use self::groups::damaged;
use self::thrift::Compact;
use super::{Format, Places, Run, Table, Wanted};
use crate::limits;

const MAGIC: &[u8] = b"PAR1";
const MAGIC_ENCRYPTED: &[u8] = b"PARE";
/// Four bytes at the start; the length of the footer and four bytes at the end.
const FRAME: usize = 12;

/// Whether the bytes begin as a parquet file does.
pub fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(MAGIC_ENCRYPTED)
}

/// Reads the wanted columns of all row groups.
pub fn read(bytes: &[u8], wanted: &Wanted) -> Result<Table> {
    if bytes.is_empty() {
        return Err(Error::format("the file is empty"));
    }
    // The decoder may panic on a hostile file that passes all checks here.
    DECODING.set(true);
    let read = catch_unwind(AssertUnwindSafe(|| read_checked(bytes, wanted)));
    DECODING.set(false);
    read.unwrap_or_else(|_| Err(damaged("values that the decoder cannot follow")))
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside the decoder, so that a panic there will become an error: a program
/// that reports panics of its own need not report this one.
pub fn decoding() -> bool {
    DECODING.get()
}

fn read_checked(bytes: &[u8], wanted: &Wanted) -> Result<Table> {
    let footer = footer(bytes)?;
    let rows = rows(bytes, &footer)?;
    let schema = footer.file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|column| column::name(column)).collect();
    let mut table = Table {
        format: Format::Parquet,
        run: Run::default(),
        keys: Vec::new(),
        rows,
        numbers: Vec::new(),
        texts: Vec::new(),
        places: Places::Numbered("row"),
        cut_at: None,
    };
    for key in &wanted.numbers {
        if let Some(place) = names.iter().position(|name| name == key) {
            let refused = repeated(&names, key).or_else(|| column::not_numeric(&schema.column(place)));
            table.numbers.push(match refused {
                Some(error) => {
                    super::Numbers { key: key.clone(), unreadable: Some(error), ..Default::default() }
                }
                None => column::numbers(bytes, &footer, place)?,
            });
        }
    }
    for key in &wanted.texts {
        if let Some(place) = names.iter().position(|name| name == key) {
            match repeated(&names, key).or_else(|| column::not_named(&schema.column(place))) {
                Some(error) => return Err(error),
                None => table.texts.push(column::texts(bytes, &footer, place)?),
            }
        }
    }
    table.keys = first_of_each(names);
    Ok(table)
}

fn repeated(names: &[String], key: &str) -> Option<Error> {
    let mut places = names.iter().enumerate().filter(|(_, name)| *name == key).map(|(place, _)| place + 1);
    let (first, second) = (places.next()?, places.next()?);
    Some(
        Error::format("two columns have the same name")
            .at(format_args!("columns {first} and {second}"))
            .found(format_args!("`{key}`"))
            .advice("rename one of them"),
    )
}

fn first_of_each(names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}

/// The footer, where the frame of the file and the structure of the footer hold.
fn footer(bytes: &[u8]) -> Result<ParquetMetaData> {
    let cut = || {
        Error::format("parquet: the file is cut off or not complete")
            .at("its end")
            .allowed("`PAR1` at both ends")
            .advice("copy the file again, or close its writer")
    };
    if bytes.starts_with(MAGIC_ENCRYPTED) || bytes.ends_with(MAGIC_ENCRYPTED) {
        return Err(Error::format("parquet: the file is encrypted").advice("write it without encryption"));
    }
    if !bytes.starts_with(MAGIC) {
        return Err(Error::format("not a parquet file").at("byte 0").allowed("`PAR1`"));
    }
    if bytes.len() < FRAME || !bytes.ends_with(MAGIC) {
        return Err(cut().found(format_args!("{} bytes", bytes.len())));
    }
    let tail = bytes.len() - 8;
    let length = bytes[tail..].first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    if length == 0 || length > bytes.len() - FRAME {
        let error = cut().found(format_args!("a footer of {length} bytes in a file of {}", bytes.len()));
        return Err(error.allowed(format_args!("1 to {}", bytes.len() - FRAME)));
    }
    let start = tail - length;
    let footer = &bytes[start..tail];
    let mut structure = Compact::new(footer, start as u64);
    structure.follow(&shape::FOOTER)?;
    if structure.read() != length {
        return Err(damaged(format_args!("a footer of {} bytes", structure.read()))
            .at(format_args!("byte {start}"))
            .allowed(format_args!("{length} bytes")));
    }
    ParquetMetaDataReader::decode_metadata(footer)
        .map_err(|error| damaged(error).at(format_args!("byte {start}")))
}

/// The number of rows, where the row groups agree with it and the bytes can hold so many.
fn rows(bytes: &[u8], footer: &ParquetMetaData) -> Result<usize> {
    let declared = footer.file_metadata().num_rows();
    let mut rows = 0_u64;
    for group in footer.row_groups() {
        let more =
            u64::try_from(group.num_rows()).map_err(|_| damaged("a row group with less than no rows"))?;
        rows = rows.saturating_add(more);
    }
    if i64::try_from(rows).ok() != Some(declared) {
        let error = damaged(format_args!("{rows} rows in the row groups"));
        return Err(error.at("the footer").allowed(format_args!("{declared} rows")));
    }
    let most = (bytes.len() as u64).saturating_mul(limits::ROWS_PER_BYTE).max(limits::FREE_ROWS);
    let most = most.min(u64::from(u32::MAX));
    if rows > most {
        return Err(Error::format("parquet: more rows than the file can hold")
            .at("the footer")
            .found(format_args!("{rows} rows in {} bytes", bytes.len()))
            .allowed(format_args!("at most {most}")));
    }
    Ok(rows as usize)
}
