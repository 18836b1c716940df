//! The pages of a column chunk, checked before the decoder sees them: their sizes against the bytes
//! that are there, their checksums where there are any, and their encodings.

use std::io::Read;

use brotli_decompressor::Decompressor;
use calipers_core::{Error, Result};
use parquet::basic::{Compression, Encoding, EncodingMask, Type};

use super::shape::PAGE_HEADER;
use super::thrift::{Compact, Kind};
use crate::{compress, limits};

/// A column chunk as the footer describes it.
pub(super) struct Chunk<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Where they begin in the file.
    pub(super) start: u64,
    /// How its values are stored.
    pub(super) physical: Type,
    /// Whether every row holds a value.
    pub(super) required: bool,
    /// How its pages are compressed.
    pub(super) compression: Compression,
    /// The encodings that the footer lists.
    pub(super) encodings: EncodingMask,
    /// How many values it holds: as many as its row group has rows, unless a row is a list.
    pub(super) values: u64,
    /// Whether a row is a list.
    pub(super) lists: bool,
}

/// How many bytes are inflated at a time.
const BLOCK: usize = 4 << 10;

const DATA: i64 = 0;
const INDEX: i64 = 1;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const DELTA_BINARY_PACKED: i64 = 5;
const RLE_DICTIONARY: i64 = 8;
const BYTE_STREAM_SPLIT: i64 = 9;

/// The fields of a page header that decide how it is decoded.
#[derive(Default)]
struct Header {
    kind: Option<i64>,
    stored: Option<i64>,
    inflated: Option<i64>,
    checksum: Option<i64>,
    values: Option<i64>,
    encoding: Option<i64>,
    level_encoding: Option<i64>,
    list_encoding: Option<i64>,
    level_bytes: i64,
}

impl Header {
    fn read(compact: &mut Compact<'_>) -> Result<Self> {
        let mut header = Self::default();
        let mut number = 0;
        while let Some(kind) = compact.field(&mut number)? {
            match (number, kind) {
                (1, Kind::Int) => header.kind = Some(compact.int()?),
                (2, Kind::Int) => header.inflated = Some(compact.int()?),
                (3, Kind::Int) => header.stored = Some(compact.int()?),
                (4, Kind::Int) => header.checksum = Some(compact.int()?),
                (5 | 7 | 8, Kind::Struct) => header.read_part(number, compact)?,
                _ => compact.skip(kind)?,
            }
        }
        Ok(header)
    }

    /// The part that data pages (5), dictionaries (7) and data pages of version 2 (8) have.
    fn read_part(&mut self, part: i64, compact: &mut Compact<'_>) -> Result<()> {
        let mut number = 0;
        while let Some(kind) = compact.field(&mut number)? {
            match (part, number, kind) {
                (_, 1, Kind::Int) => self.values = Some(compact.int()?),
                (5 | 7, 2, Kind::Int) | (8, 4, Kind::Int) => self.encoding = Some(compact.int()?),
                (5, 3, Kind::Int) => self.level_encoding = Some(compact.int()?),
                (5, 4, Kind::Int) => self.list_encoding = Some(compact.int()?),
                (8, 5 | 6, Kind::Int) => {
                    let bytes = compact.int()?;
                    self.level_bytes =
                        if bytes < 0 { i64::MAX } else { self.level_bytes.saturating_add(bytes) };
                }
                _ => compact.skip(kind)?,
            }
        }
        Ok(())
    }
}

/// One page whose frame was checked.
struct Page {
    header: Header,
    /// Where it begins in the file.
    start: u64,
    /// Its bytes in the file, without its header.
    stored: u64,
    /// Its bytes when inflated.
    inflated: u64,
    /// How many values it says it holds.
    values: u64,
    /// How many bytes it takes with its header.
    length: usize,
}

impl Page {
    /// The page at this byte of a chunk: its bytes are there and match their checksum.
    fn at(chunk: &Chunk<'_>, at: usize) -> Result<Self> {
        let start = chunk.start + at as u64;
        let rest = &chunk.bytes[at..];
        Compact::new(rest, start).follow(&PAGE_HEADER)?;
        let mut compact = Compact::new(rest, start);
        let header = Header::read(&mut compact)?;
        let rest = &rest[compact.read()..];
        let size = |size: Option<i64>| size.and_then(|size| u64::try_from(size).ok());
        let (Some(stored), Some(inflated)) = (size(header.stored), size(header.inflated)) else {
            let found = format!("{} stored, {} inflated", shown(header.stored), shown(header.inflated));
            return Err(broken(start, "a page without its sizes", found, "two sizes from 0".into()));
        };
        if stored > rest.len() as u64 {
            let (found, allowed) = (format!("{stored} bytes"), format!("the {} bytes left", rest.len()));
            return Err(broken(start, "a page passes the end of its column", found, allowed));
        }
        let body = &rest[..stored as usize];
        if let Some(want) = header.checksum.map(|checksum| checksum as u32) {
            let checksum = crc32fast::hash(body);
            if want != checksum {
                let (found, allowed) = (format!("{checksum:#010x}"), format!("{want:#010x}"));
                return Err(broken(start, "the checksum of a page is wrong", found, allowed));
            }
        }
        let values = size(header.values).unwrap_or(u64::MAX);
        let length = compact.read() + body.len();
        Ok(Self { header, start, stored, inflated, values, length })
    }

    /// Fails when the page cannot inflate to the size it says.
    fn check_inflated(&self, compression: Compression) -> Result<()> {
        let compressed = compression != Compression::UNCOMPRESSED;
        let ratio = self.stored.saturating_mul(limits::INFLATE_RATIO).max(compress::HARMLESS);
        let most = if compressed { ratio.min(limits::PARQUET_PAGE) } else { self.stored };
        if self.inflated == most || (compressed && self.inflated < most) {
            return Ok(());
        }
        let allowed = format!("{}{most} bytes", if compressed { "at most " } else { "" });
        let found = format!("{} bytes", self.inflated);
        Err(broken(self.start, "the size of a page is not possible", found, allowed))
    }

    /// Fails when a page that ends here inflates to more than it says, where nothing else bounds that: few
    /// bytes of Brotli can be any number of bytes. They are counted without being kept.
    fn check_brotli(&self, chunk: &Chunk<'_>, end: usize) -> Result<()> {
        if !matches!(chunk.compression, Compression::BROTLI(_)) {
            return Ok(());
        }
        let levels = if self.header.kind == Some(DATA_V2) { self.header.level_bytes as u64 } else { 0 };
        let start = end as u64 - self.stored.saturating_sub(levels);
        let most = self.inflated.saturating_sub(levels);
        let inflated = Decompressor::new(&chunk.bytes[start as usize..end], BLOCK);
        // The decoder's own message says what is damaged.
        match std::io::copy(&mut inflated.take(most.saturating_add(1)), &mut std::io::sink()) {
            Ok(read) if read > most => {
                let (found, allowed) = (format!("more than {most} bytes"), format!("{most} bytes"));
                Err(broken(self.start, "a page inflates to more than it says", found, allowed))
            }
            _ => Ok(()),
        }
    }

    /// Fails when a dictionary says that it holds more values than its bytes can.
    fn check_dictionary(&self, physical: Type) -> Result<()> {
        let most = self.inflated / width(physical);
        if self.values <= most {
            return Ok(());
        }
        let (found, allowed) = (format!("{} values", self.values), format!("at most {most}"));
        Err(broken(self.start, "a dictionary is longer than its bytes", found, allowed))
    }

    /// Fails when the levels or the values of a data page cannot have the length they have.
    fn check_data(&self, chunk: &Chunk<'_>) -> Result<()> {
        let levels = self.header.level_bytes;
        if levels as u64 > self.inflated.min(self.stored) {
            let (found, allowed) = (format!("{levels} bytes"), format!("{} bytes", self.inflated));
            return Err(broken(self.start, "the levels pass the end of a page", found, allowed));
        }
        let exact = self.values.saturating_mul(width(chunk.physical));
        let plain = matches!(self.header.encoding, Some(PLAIN | BYTE_STREAM_SPLIT));
        if plain && chunk.required && fixed(chunk.physical) && exact != self.inflated {
            let allowed = format!("{exact} bytes for {} values", self.values);
            let found = format!("{} bytes", self.inflated);
            return Err(broken(self.start, "a page has the wrong length", found, allowed));
        }
        Ok(())
    }
}

/// Checks every page of a chunk and gives the number of its data pages.
pub(super) fn check(chunk: &Chunk<'_>) -> Result<usize> {
    let (mut at, mut values, mut pages, mut dictionary) = (0, 0_u64, 0, false);
    while at < chunk.bytes.len() {
        let page = Page::at(chunk, at)?;
        at += page.length;
        if page.header.kind == Some(INDEX) {
            continue;
        }
        page.check_inflated(chunk.compression)?;
        page.check_brotli(chunk, at)?;
        let (kind, encoding) = (page.header.kind, page.header.encoding);
        match kind {
            Some(DICTIONARY) if dictionary || pages > 0 => {
                let found = "a dictionary after other pages".into();
                let allowed = "one dictionary, first".into();
                return Err(broken(page.start, "the pages are out of order", found, allowed));
            }
            Some(DICTIONARY) if matches!(encoding, Some(PLAIN | PLAIN_DICTIONARY)) => {
                page.check_dictionary(chunk.physical)?;
                dictionary = true;
            }
            Some(DATA | DATA_V2) if readable(chunk, &page.header, dictionary) => {
                page.check_data(chunk)?;
                pages += 1;
                values = values.saturating_add(page.values);
            }
            Some(DATA | DICTIONARY | DATA_V2) => {
                let levels = shown(page.header.level_encoding);
                let found = format!("encoding {}, levels {levels}", shown(encoding));
                let allowed = allowed_encodings(chunk.physical).into();
                let error = broken(page.start, "the encoding of a page cannot be read", found, allowed);
                return Err(error.advice("write the file with plain or dictionary encoding"));
            }
            _ => return Err(broken(page.start, "a page of an unknown kind", shown(kind), "0 to 3".into())),
        }
    }
    if values == chunk.values && (!chunk.lists || values <= most_values(chunk)) {
        return Ok(pages);
    }
    Err(Error::format("parquet: the pages of a column do not fill its row group")
        .at(format_args!("column chunk at byte {}", chunk.start))
        .found(format_args!("{values} values"))
        .allowed(format_args!("{} {}", chunk.values, if chunk.lists { "values" } else { "rows" }))
        .advice("write or copy the file again"))
}

/// How many values lists may hold whose chunk has so many bytes.
fn most_values(chunk: &Chunk<'_>) -> u64 {
    (chunk.bytes.len() as u64).saturating_mul(limits::INFLATE_RATIO).max(limits::FREE_ROWS)
}

fn broken(start: u64, what: &str, found: String, allowed: String) -> Error {
    Error::format(format!("parquet: {what}"))
        .at(format_args!("page at byte {start}"))
        .found(found)
        .allowed(allowed)
        .advice("write or copy the file again")
}

fn readable(chunk: &Chunk<'_>, header: &Header, dictionary: bool) -> bool {
    let new = header.kind == Some(DATA_V2);
    let levels = chunk.required || new || header.level_encoding == Some(RLE);
    let levels = levels && (!chunk.lists || new || header.list_encoding == Some(RLE));
    let values = match header.encoding {
        Some(PLAIN) => true,
        Some(PLAIN_DICTIONARY | RLE_DICTIONARY) => dictionary && chunk.physical != Type::BOOLEAN,
        Some(RLE) => chunk.physical == Type::BOOLEAN,
        // Rare, and easily mistaken for another by one wrong bit: the footer has to agree.
        Some(DELTA_BINARY_PACKED) => {
            matches!(chunk.physical, Type::INT32 | Type::INT64)
                && chunk.encodings.is_set(Encoding::DELTA_BINARY_PACKED)
        }
        Some(BYTE_STREAM_SPLIT) => {
            fixed(chunk.physical) && chunk.encodings.is_set(Encoding::BYTE_STREAM_SPLIT)
        }
        _ => false,
    };
    levels && values
}

fn allowed_encodings(physical: Type) -> &'static str {
    match physical {
        Type::BOOLEAN => "PLAIN 0, RLE 3; levels RLE 3",
        Type::BYTE_ARRAY => "PLAIN 0, dictionary 2 or 8 after its dictionary; levels RLE 3",
        Type::FLOAT | Type::DOUBLE => {
            "PLAIN 0, dictionary 2 or 8 after its dictionary, BYTE_STREAM_SPLIT 9; levels RLE 3"
        }
        _ => {
            "PLAIN 0, dictionary 2 or 8 after its dictionary, DELTA_BINARY_PACKED 5, BYTE_STREAM_SPLIT 9; levels RLE 3"
        }
    }
}

fn shown(code: Option<i64>) -> String {
    code.map_or_else(|| "none".into(), |code| code.to_string())
}

/// The least bytes that a plain value takes.
/// The fewest bytes of a value: texts begin with their length, values of a fixed length may be of one byte.
fn width(physical: Type) -> u64 {
    match physical {
        Type::INT64 | Type::DOUBLE => 8,
        Type::FIXED_LEN_BYTE_ARRAY => 1,
        _ => 4,
    }
}

fn fixed(physical: Type) -> bool {
    matches!(physical, Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE)
}
