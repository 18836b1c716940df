//! Parquet tables: one row per step, one column per key, nulls where a key was not logged.
//!
//! Columns inside structs are named by their path with dots. The `parquet` crate decodes; what it
//! trusts (the footer's structure, page sizes, counts, checksums and encodings) is checked first,
//! and should it still give up in the middle, the file is reported as damaged.

pub(crate) mod column;
pub(crate) mod groups;
mod pages;
mod shape;
mod thrift;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use calipers_core::{Error, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use self::groups::{Source, damaged, read_at};
use self::thrift::Compact;
use super::chunks::{self, BoxedChunks, Chunks};
use super::{Numbers, Origin, Places, Run, Table, Texts, Wanted};
use crate::file::ReadAt;
use crate::{limits, memory};

const MAGIC: &[u8] = b"PAR1";
const MAGIC_ENCRYPTED: &[u8] = b"PARE";
/// Four bytes at the start; the length of the footer and four bytes at the end.
const FRAME: u64 = 12;

/// Whether the bytes begin as a parquet file does.
pub fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(MAGIC_ENCRYPTED)
}

/// Reads the wanted columns of all row groups.
pub fn read(bytes: &[u8], wanted: &Wanted) -> Result<Table> {
    let mut chunks = chunks(&bytes, wanted)?;
    chunks::whole(&mut *chunks)?.ok_or_else(empty)
}

/// Reads the wanted columns one row group at a time.
pub fn chunks<'a>(file: &'a dyn ReadAt, wanted: &Wanted) -> Result<BoxedChunks<'a>> {
    if file.size() == 0 {
        return Err(empty());
    }
    guarded(|| RowGroups::new(file, wanted)).map(|groups| Box::new(groups) as Box<dyn Chunks>)
}

fn empty() -> Error {
    Error::format("the file is empty")
}

/// Does what may make the decoder panic, on a hostile file that passes all checks here.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    DECODING.set(false);
    done.unwrap_or_else(|_| Err(damaged("values that the decoder cannot follow")))
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside the decoder, so that a panic there will become an error: a program
/// that reports panics of its own need not report this one.
pub fn decoding() -> bool {
    DECODING.get()
}

/// The footer of a file whose bytes can hold the rows that it announces.
pub(crate) fn checked_footer(file: &dyn ReadAt) -> Result<ParquetMetaData> {
    let footer = footer(file)?;
    rows(file.size(), &footer)?;
    Ok(footer)
}

/// The row groups of a file.
struct RowGroups<'a> {
    source: Source<'a>,
    names: Vec<String>,
    /// The wanted columns: key and place, or why the column is no column of numbers.
    numbers: Vec<(String, Result<usize>)>,
    texts: Vec<usize>,
    next: usize,
    before: usize,
}

impl<'a> RowGroups<'a> {
    fn new(file: &'a dyn ReadAt, wanted: &Wanted) -> Result<Self> {
        let footer = Arc::new(checked_footer(file)?);
        let schema = footer.file_metadata().schema_descr();
        let names: Vec<String> = schema.columns().iter().map(|column| column::name(column)).collect();
        let place = |key: &String| names.iter().position(|name| name == key);
        let mut numbers = Vec::new();
        for (key, place) in wanted.numbers.iter().filter_map(|key| Some((key, place(key)?))) {
            let refused = repeated(&names, key).or_else(|| column::not_numeric(&schema.column(place)));
            numbers.push((key.clone(), refused.map_or(Ok(place), Err)));
        }
        let mut texts = Vec::new();
        for (key, place) in wanted.texts.iter().filter_map(|key| Some((key, place(key)?))) {
            match repeated(&names, key).or_else(|| column::not_named(&schema.column(place))) {
                Some(error) => return Err(error),
                None => texts.push(place),
            }
        }
        let names = first_of_each(names);
        Ok(Self { source: Source { file, footer }, names, numbers, texts, next: 0, before: 0 })
    }

    fn group(&self, number: usize) -> Result<Table> {
        let groups = self.source.footer.row_groups();
        let rows = groups.get(number).map_or(Ok(0), |group| usize::try_from(group.num_rows()));
        let mut table = Table {
            origin: Origin::Table,
            run: Run::default(),
            keys: self.names.clone(),
            before: self.before,
            rows: rows.map_err(damaged)?,
            numbers: Vec::new(),
            texts: Vec::new(),
            places: Places::Numbered("row", self.before as u64),
            cut_at: None,
        };
        let none = number >= groups.len();
        let key =
            |place: usize| column::name(&self.source.footer.file_metadata().schema_descr().column(place));
        for (key, place) in &self.numbers {
            table.numbers.push(match place {
                Ok(place) if !none => column::numbers(&self.source, number, *place)?,
                place => Numbers { key: key.clone(), unreadable: place.clone().err(), ..Numbers::default() },
            });
        }
        for place in &self.texts {
            table.texts.push(match none {
                false => column::texts(&self.source, number, *place, self.before)?,
                true => Texts { key: key(*place), ..Texts::default() },
            });
        }
        Ok(table)
    }
}

impl Chunks for RowGroups<'_> {
    fn next(&mut self) -> Result<Option<Table>> {
        // A file without row groups is one chunk without rows.
        if self.next >= self.source.footer.num_row_groups().max(1) {
            return Ok(None);
        }
        let table = guarded(|| self.group(self.next))?;
        self.next += 1;
        self.before += table.rows;
        Ok(Some(table))
    }
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
fn footer(file: &dyn ReadAt) -> Result<ParquetMetaData> {
    let size = file.size();
    let cut = || {
        Error::format("parquet: the file is cut off or not complete")
            .at("its end")
            .allowed("`PAR1` at both ends")
            .advice("copy the file again, or close its writer")
    };
    let head = read_at(file, 0, size.min(4))?;
    let tail = read_at(file, size.saturating_sub(8), size.min(8))?;
    if head == MAGIC_ENCRYPTED || tail.ends_with(MAGIC_ENCRYPTED) {
        return Err(Error::format("parquet: the file is encrypted").advice("write it without encryption"));
    }
    if head != MAGIC {
        return Err(Error::format("not a parquet file").at("byte 0").allowed("`PAR1`"));
    }
    if size < FRAME || !tail.ends_with(MAGIC) {
        return Err(cut().found(format_args!("{size} bytes")));
    }
    let length = tail.first_chunk().map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
    if length == 0 || length > size - FRAME {
        let error = cut().found(format_args!("a footer of {length} bytes in a file of {size}"));
        return Err(error.allowed(format_args!("1 to {}", size - FRAME)));
    }
    let start = size - 8 - length;
    let footer = read_at(file, start, length)?;
    let mut structure = Compact::new(&footer, start);
    structure.follow(&shape::FOOTER)?;
    if structure.read() as u64 != length {
        return Err(damaged(format_args!("a footer of {} bytes", structure.read()))
            .at(format_args!("byte {start}"))
            .allowed(format_args!("{length} bytes")));
    }
    ParquetMetaDataReader::decode_metadata(&footer)
        .map_err(|error| damaged(error).at(format_args!("byte {start}")))
}

/// Checks that the row groups agree with the number of rows and that the bytes can hold so many.
fn rows(size: u64, footer: &ParquetMetaData) -> Result<()> {
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
    let most = size.saturating_mul(limits::ROWS_PER_BYTE).max(limits::FREE_ROWS);
    let most = most.min(u64::from(u32::MAX));
    if rows > most {
        return Err(Error::format("parquet: more rows than the file can hold")
            .at("the footer")
            .found(format_args!("{rows} rows in {size} bytes"))
            .allowed(format_args!("at most {most}")));
    }
    // A number and its row, of one column at least.
    memory::ask("the table", rows.saturating_mul(12)).map_err(|error| error.at("the footer"))
}
