//! The values of a column in each row group, through the decoders of the `parquet` crate.

use std::sync::Arc;

use bytes::Bytes;
use bytes::buf::{Buf, Reader};
use calipers_core::{Error, Result};
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result as Decoded};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use super::column::name;
use super::pages::{self, Chunk};

/// Rows that are decoded at a time.
const BATCH: usize = 8 << 10;

/// Which rows of the file a row group holds, and how a column of it is stored.
pub(super) struct Group {
    first: u32,
    rows: usize,
    /// The definition level of a value; a lower one is a null.
    level: i16,
    /// How many calls may give no rows: one for each page, since pages may be empty.
    pages: usize,
}

impl Group {
    /// Calls `log` with the row and the value of each cell that is not null.
    pub(super) fn each<T: DataType>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        mut log: impl FnMut(u32, &T::T) -> Result<()>,
    ) -> Result<()> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (mut done, mut empty) = (0, 0);
        while done < self.rows && empty <= self.pages {
            levels.clear();
            values.clear();
            let most = BATCH.min(self.rows - done);
            let (rows, _, _) =
                reader.read_records(most, Some(&mut levels), None, &mut values).map_err(damaged)?;
            empty += usize::from(rows == 0);
            let mut values = values.iter();
            for step in 0..rows {
                if levels.get(step).is_none_or(|level| *level == self.level) {
                    let value = values.next().ok_or_else(|| damaged("fewer values than rows"))?;
                    log(self.first + (done + step) as u32, value)?;
                }
            }
            done += rows;
        }
        if done == self.rows { Ok(()) } else { Err(damaged(format_args!("{done} of {} rows", self.rows))) }
    }
}

/// Calls `read` with the checked column of each row group in turn.
pub(super) fn each_group(
    bytes: &[u8],
    footer: &ParquetMetaData,
    place: usize,
    mut read: impl FnMut(&mut ColumnReader, &Group) -> Result<()>,
) -> Result<()> {
    let descriptor = footer.file_metadata().schema_descr().column(place);
    let mut first = 0;
    for (number, group) in footer.row_groups().iter().enumerate() {
        let rows = usize::try_from(group.num_rows()).map_err(damaged)?;
        let at = |error: Error| {
            error
                .at(format_args!("row group {}", number + 1))
                .at(format_args!("column `{}`", name(&descriptor)))
        };
        let meta = group.column(place);
        let chunk = chunk(bytes, meta, &descriptor, rows as u64).map_err(at)?;
        let pages = pages::check(&chunk).map_err(at)?;
        let stored = Stored { start: chunk.start, bytes: Bytes::copy_from_slice(chunk.bytes) };
        let page_reader = SerializedPageReader::new(Arc::new(stored), meta, rows, None);
        let page_reader = page_reader.map_err(|error| at(damaged(error)))?;
        let mut reader = get_column_reader(Arc::clone(&descriptor), Box::new(page_reader));
        let level = descriptor.max_def_level();
        read(&mut reader, &Group { first, rows, level, pages }).map_err(at)?;
        first += rows as u32;
    }
    Ok(())
}

/// The bytes of a column chunk, where the footer's description of it makes sense.
fn chunk<'a>(
    bytes: &'a [u8],
    meta: &ColumnChunkMetaData,
    column: &ColumnDescriptor,
    rows: u64,
) -> Result<Chunk<'a>> {
    if meta.column_type() != column.physical_type() || meta.file_path().is_some() {
        return Err(damaged("a column chunk of another type or in another file"));
    }
    let compressed = match meta.compression() {
        Compression::UNCOMPRESSED => false,
        Compression::SNAPPY | Compression::ZSTD(_) => true,
        other => {
            return Err(Error::format("parquet: the compression cannot be read")
                .found(other)
                .allowed("UNCOMPRESSED, SNAPPY or ZSTD")
                .advice("write the file with one of these"));
        }
    };
    let start = meta.dictionary_page_offset().unwrap_or_else(|| meta.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(meta.compressed_size()).ok());
    let found = range.and_then(|(start, length)| {
        let end = usize::try_from(start.checked_add(length)?).ok()?;
        Some((start, bytes.get(start as usize..end)?))
    });
    let (start, stored) = found.ok_or_else(|| {
        damaged(format_args!(
            "{} bytes from byte {start} in a file of {}",
            meta.compressed_size(),
            bytes.len()
        ))
    })?;
    let (required, encodings) = (column.max_def_level() == 0, *meta.encodings_mask());
    Ok(Chunk {
        bytes: stored,
        start,
        physical: column.physical_type(),
        required,
        compressed,
        encodings,
        rows,
    })
}

/// The error for bytes that the decoder refuses.
pub(super) fn damaged(found: impl std::fmt::Display) -> Error {
    Error::format("parquet: the file is damaged").found(found).advice("write or copy the file again")
}

/// The bytes of one column chunk, addressed by their place in the file.
struct Stored {
    start: u64,
    bytes: Bytes,
}

impl Stored {
    fn tail(&self, start: u64) -> Decoded<Bytes> {
        let skipped = start.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        match skipped {
            Some(skipped) if skipped <= self.bytes.len() => Ok(self.bytes.slice(skipped..)),
            _ => Err(ParquetError::EOF("a page outside its column chunk".into())),
        }
    }
}

impl Length for Stored {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Stored {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Decoded<Self::T> {
        Ok(self.tail(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Decoded<Bytes> {
        let mut tail = self.tail(start)?;
        if length > tail.len() {
            return Err(ParquetError::EOF("a page passes the end of its column chunk".into()));
        }
        Ok(tail.split_to(length))
    }
}
