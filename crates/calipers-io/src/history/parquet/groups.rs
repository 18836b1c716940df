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
use crate::file::ReadAt;

/// Rows that are decoded at a time.
const BATCH: usize = 8 << 10;

/// How many rows a row group has, and how a column of it is stored.
pub(crate) struct Group {
    pub(crate) rows: usize,
    /// The definition level of a value; a lower one is a null.
    level: i16,
    /// How many calls may give no rows: one for each page, since pages may be empty.
    pub(crate) pages: usize,
}

impl Group {
    /// Calls `log` with the row and the value of each cell that is not null.
    pub(crate) fn each<T: DataType>(
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
                    log((done + step) as u32, value)?;
                }
            }
            done += rows;
        }
        if done == self.rows { Ok(()) } else { Err(damaged(format_args!("{done} of {} rows", self.rows))) }
    }
}

/// A parquet file and its footer.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a dyn ReadAt,
    pub(crate) footer: Arc<ParquetMetaData>,
}

impl Source<'_> {
    /// Calls `read` with the checked column of a row group, whose rows are counted from 0.
    pub(crate) fn column(
        &self,
        number: usize,
        place: usize,
        read: impl FnOnce(&mut ColumnReader, &Group) -> Result<()>,
    ) -> Result<()> {
        let descriptor = self.footer.file_metadata().schema_descr().column(place);
        let group = self.footer.row_group(number);
        let rows = usize::try_from(group.num_rows()).map_err(damaged)?;
        let at = |error: Error| {
            error
                .at(format_args!("row group {}", number + 1))
                .at(format_args!("column `{}`", name(&descriptor)))
        };
        let meta = group.column(place);
        let (start, bytes) = self.stored(meta, &descriptor).map_err(at)?;
        let lists = descriptor.max_rep_level() > 0;
        let chunk = Chunk {
            bytes: &bytes,
            start,
            physical: descriptor.physical_type(),
            required: descriptor.max_def_level() == 0,
            compression: meta.compression(),
            encodings: *meta.encodings_mask(),
            values: if lists { u64::try_from(meta.num_values()).map_err(damaged)? } else { rows as u64 },
            lists,
        };
        let pages = pages::check(&chunk).map_err(at)?;
        let stored = Stored { start, bytes: Bytes::from(bytes) };
        let page_reader = SerializedPageReader::new(Arc::new(stored), meta, rows, None);
        let page_reader = page_reader.map_err(|error| at(damaged(error)))?;
        let mut reader = get_column_reader(Arc::clone(&descriptor), Box::new(page_reader));
        let level = descriptor.max_def_level();
        read(&mut reader, &Group { rows, level, pages }).map_err(at)
    }

    /// Where a column chunk begins and its bytes, where the footer's description of it makes sense.
    fn stored(&self, meta: &ColumnChunkMetaData, column: &ColumnDescriptor) -> Result<(u64, Vec<u8>)> {
        if meta.column_type() != column.physical_type() || meta.file_path().is_some() {
            return Err(damaged("a column chunk of another type or in another file"));
        }
        if meta.compression() == Compression::LZO {
            return Err(Error::format("parquet: the compression cannot be read")
                .found(meta.compression())
                .allowed("UNCOMPRESSED, SNAPPY, ZSTD, GZIP, BROTLI, LZ4 or LZ4_RAW")
                .advice("write the file with one of these"));
        }
        let start = meta.dictionary_page_offset().unwrap_or_else(|| meta.data_page_offset());
        let range = u64::try_from(start).ok().zip(u64::try_from(meta.compressed_size()).ok());
        let inside = range
            .filter(|(start, length)| start.checked_add(*length).is_some_and(|end| end <= self.file.size()));
        let (start, length) = inside.ok_or_else(|| {
            damaged(format_args!(
                "{} bytes from byte {start} in a file of {}",
                meta.compressed_size(),
                self.file.size()
            ))
        })?;
        Ok((start, read_at(self.file, start, length)?))
    }
}

/// Bytes of a file, which reaches so far.
pub(crate) fn read_at(file: &dyn ReadAt, start: u64, length: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(damaged)?];
    file.read_exact_at(&mut bytes, start)
        .map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
    Ok(bytes)
}

/// The error for bytes that the decoder refuses.
pub(crate) fn damaged(found: impl std::fmt::Display) -> Error {
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
