//! Zip archives, read strictly: one directory at the very end, local headers that agree with it,
//! no two members over the same bytes, every checksum compared.
//!
//! General zip readers take the last of two equal names and accept bytes outside of the members.
//! Here an archive is evidence: both are errors, and each names its member.

use std::collections::BTreeMap;
use std::sync::Arc;

use calipers_core::{Error, Result, stop};
use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::array::{out_of_memory, read_at, read_range};
use crate::file::{ReadAt, empty};
use crate::{limits, memory};

mod folder;
mod write;

pub use folder::folder;
pub(crate) use write::ArchiveWriter;

/// An open archive of which only the directory and the local headers have been read.
pub(crate) struct Archive {
    source: Arc<dyn ReadAt>,
    format: &'static str,
    members: BTreeMap<String, Member>,
}

#[derive(Clone, Copy)]
struct Member {
    deflated: bool,
    crc: u32,
    /// Bytes in the archive.
    stored: u64,
    /// Bytes when inflated.
    size: u64,
    /// Where the local header is.
    header: u64,
    /// Where the stored bytes are.
    data: u64,
}

const END: usize = 22;
const LOCATOR: usize = 20;
const END64: usize = 56;
const ENTRY: usize = 46;
const LOCAL: usize = 30;

impl Archive {
    /// Reads and checks everything but the contents of the members. Errors begin with `format`.
    pub(crate) fn open(source: Arc<dyn ReadAt>, format: &'static str) -> Result<Self> {
        if source.size() == 0 {
            return Err(empty());
        }
        let mut archive = Self { source, format, members: BTreeMap::new() };
        let (start, length, count) = archive.directory()?;
        let bytes = read_range(&*archive.source, start, length)?;
        let mut rest = &bytes[..];
        for _ in 0..count {
            let at = start + (bytes.len() - rest.len()) as u64;
            let (name, member, after) = archive.entry(rest, at, start)?;
            if archive.members.insert(name.clone(), member).is_some() {
                return Err(archive.refused(&name, "two members have one name"));
            }
            rest = after;
        }
        if !rest.is_empty() {
            return Err(archive.broken(start + length - rest.len() as u64));
        }
        archive.no_overlap()?;
        Ok(archive)
    }

    /// The names of the members, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The inflated size of a member.
    pub(crate) fn size(&self, name: &str) -> Option<u64> {
        self.members.get(name).map(|member| member.size)
    }

    /// The contents of a member, or `None` when there is no such name.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(member) = self.members.get(name) else { return Ok(None) };
        memory::ask("the member", member.size).map_err(|error| error.at(place(name)))?;
        let bytes = if member.deflated {
            self.inflate(name, member)?
        } else {
            read_range(&*self.source, member.data, member.stored)?
        };
        let mut crc = Crc::new();
        for chunk in bytes.chunks(1 << 20) {
            stop::wanted()?;
            crc.update(chunk);
        }
        if crc.sum() == member.crc {
            Ok(Some(bytes))
        } else {
            let place = format!("{}, byte {}", place(name), member.data);
            Err(Error::format(format!("{}: the checksum is wrong", self.format))
                .at(place)
                .found(format!("{:08x} for {} bytes", crc.sum(), member.size))
                .allowed(format!("{:08x}, as declared", member.crc))
                .advice("the member is damaged: copy or write the file again"))
        }
    }

    /// Start, length and number of entries of the directory, from the records at the end.
    fn directory(&self) -> Result<(u64, u64, u64)> {
        let size = self.source.size();
        let tail = read_range(&*self.source, size - size.min(TAIL), size.min(TAIL))?;
        let end =
            tail.len().checked_sub(END).map(|at| &tail[at..]).filter(|end| end.starts_with(b"PK\x05\x06"));
        let end = end.filter(|end| u16_at(end, 20) == 0).ok_or_else(|| self.broken(size))?;
        let locator = tail.len().checked_sub(END + LOCATOR).map(|at| &tail[at..]);
        let (place, disks, count, length, start) =
            match locator.filter(|bytes| bytes.starts_with(b"PK\x06\x07")) {
                None => {
                    let disks = u32::from(u16_at(end, 4)) + u32::from(u16_at(end, 6));
                    let sizes = (u64::from(u32_at(end, 12)), u64::from(u32_at(end, 16)));
                    (size - END as u64, disks, u64::from(u16_at(end, 10)), sizes.0, sizes.1)
                }
                Some(locator) => {
                    let place = size.checked_sub(TAIL).filter(|place| *place == u64_at(locator, 8));
                    let place = place
                        .filter(|_| tail.starts_with(b"PK\x06\x06") && u64_at(&tail, 4) == END64 as u64 - 12);
                    let place = place.ok_or_else(|| self.broken(size - (END + LOCATOR) as u64))?;
                    let disks = u32_at(&tail, 16) | u32_at(&tail, 20);
                    (place, disks, u64_at(&tail, 32), u64_at(&tail, 40), u64_at(&tail, 48))
                }
            };
        if count > limits::ARCHIVE_MEMBERS as u64 {
            let what = format!("{}: too many members in the archive", self.format);
            return Err(Error::format(what)
                .found(count)
                .allowed(format!("at most {}", limits::ARCHIVE_MEMBERS)));
        }
        let whole = start.checked_add(length) == Some(place) && length >= count * ENTRY as u64;
        if disks == 0 && whole { Ok((start, length, count)) } else { Err(self.broken(place)) }
    }

    /// One entry of the directory, checked against its local header, and what follows it.
    fn entry<'a>(&self, bytes: &'a [u8], at: u64, end: u64) -> Result<(String, Member, &'a [u8])> {
        let broken = || self.broken(at);
        let (fixed, rest) = bytes.split_at_checked(ENTRY).ok_or_else(broken)?;
        if !fixed.starts_with(b"PK\x01\x02") {
            return Err(broken());
        }
        let (raw_name, rest) = rest.split_at_checked(u16_at(fixed, 28).into()).ok_or_else(broken)?;
        let (extra, rest) = rest.split_at_checked(u16_at(fixed, 30).into()).ok_or_else(broken)?;
        let (_comment, rest) = rest.split_at_checked(u16_at(fixed, 32).into()).ok_or_else(broken)?;
        let name = self.member_name(raw_name, at)?;
        let [size, stored, header] = wide_sizes(fixed, extra).ok_or_else(broken)?;
        let method = u16_at(fixed, 10);
        let member = Member { deflated: method == 8, crc: u32_at(fixed, 16), stored, size, header, data: 0 };

        let encrypted = u16_at(fixed, 8) & (1 | 1 << 6 | 1 << 13) != 0;
        if encrypted {
            return Err(self.refused(&name, "the member is encrypted"));
        }
        if !matches!(method, 0 | 8) {
            let error = self.refused(&name, "unknown compression method");
            return Err(error.found(method).allowed("0 (stored), 8 (deflated)"));
        }
        // Only what was written on Unix says what kind of file it was.
        let kind = if fixed[5] == 3 { u16_at(fixed, 40) & 0o170_000 } else { 0 };
        if !matches!(kind, 0 | 0o040_000 | 0o100_000) {
            let what =
                if kind == 0o120_000 { "the member is a link" } else { "the member is a device or a pipe" };
            return Err(self.refused(&name, what).allowed("files and folders"));
        }
        if method == 0 && size != stored {
            return Err(self
                .refused(&name, "the declared sizes disagree")
                .found(format!("{stored} and {size} bytes")));
        }
        if size > limits::INFLATED || size > stored.saturating_mul(limits::INFLATE_RATIO) {
            return Err(self
                .refused(&name, "the member inflates too much")
                .found(format!("{size} bytes from {stored}"))
                .allowed(format!("{} : 1, {} bytes", limits::INFLATE_RATIO, limits::INFLATED)));
        }
        let data = self
            .local_header(&member, raw_name, method, u16_at(fixed, 8))
            .map_err(|error| error.at(place(&name)))?;
        if data.checked_add(stored).is_none_or(|after| after > end) {
            return Err(self.broken(header).at(place(&name)));
        }
        Ok((name, Member { data, ..member }, rest))
    }

    /// Where the data of a member begins, once its local header agrees with the directory.
    fn local_header(&self, member: &Member, name: &[u8], method: u16, flags: u16) -> Result<u64> {
        let broken = || self.broken(member.header);
        let length = (LOCAL + name.len()) as u64;
        if member.header.checked_add(length).is_none_or(|end| end > self.source.size()) {
            return Err(broken());
        }
        let local = read_range(&*self.source, member.header, length)?;
        // With bit 3 the writer did not know the checksum yet and put it after the data.
        let late = flags & 1 << 3 != 0;
        let agrees = local.starts_with(b"PK\x03\x04")
            && u16_at(&local, 6) & 1 == 0
            && u16_at(&local, 8) == method
            && (late || u32_at(&local, 14) == member.crc)
            && usize::from(u16_at(&local, 26)) == name.len()
            && &local[LOCAL..] == name;
        if agrees { Ok(member.header + length + u64::from(u16_at(&local, 28))) } else { Err(broken()) }
    }

    /// Names are only ever compared, but those that try to leave a folder are a sign of harm.
    fn member_name(&self, raw: &[u8], at: u64) -> Result<String> {
        let name = String::from_utf8_lossy(raw).into_owned();
        let harmless = std::str::from_utf8(raw).is_ok()
            && (1..=limits::NAME).contains(&raw.len())
            && !name.starts_with('/')
            && !name.contains('\\')
            && !name.chars().any(char::is_control)
            && !name.split('/').any(|part| part == "..");
        if harmless {
            return Ok(name);
        }
        let shown: String = name.chars().take(80).collect();
        Err(Error::format(format!("{}: a member name is not allowed", self.format))
            .at(format!("byte {at}"))
            .found(shown))
    }

    fn no_overlap(&self) -> Result<()> {
        let mut spans: Vec<_> =
            self.members.iter().map(|(name, m)| (m.header, m.data + m.stored, name)).collect();
        spans.sort_unstable();
        match spans.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            Some(pair) => Err(self
                .refused(pair[1].2, "two members overlap")
                .found(format!("{} and {}", pair[0].2, pair[1].2))),
            None => Ok(()),
        }
    }

    fn inflate(&self, name: &str, member: &Member) -> Result<Vec<u8>> {
        let lies = || {
            self.refused(name, "the declared sizes are wrong")
                .found(format!("{} bytes declared", member.size))
        };
        // One byte more than declared, so that a longer stream shows itself.
        let capacity = usize::try_from(member.size + 1).map_err(|_| out_of_memory(member.size))?;
        let mut out = Vec::new();
        out.try_reserve_exact(capacity).map_err(|_| out_of_memory(member.size))?;
        let mut inflater = Decompress::new(false);
        let mut chunk = vec![0; member.stored.min(64 << 10) as usize];
        loop {
            stop::wanted()?;
            let done = inflater.total_in();
            let length = (member.stored - done).min(chunk.len() as u64) as usize;
            read_at(&*self.source, &mut chunk[..length], member.data + done)?;
            let before = out.len();
            let status = inflater.decompress_vec(&chunk[..length], &mut out, FlushDecompress::None);
            let status =
                status.map_err(|_| self.broken(member.data + inflater.total_in()).at(place(name)))?;
            if out.len() as u64 > member.size {
                return Err(lies());
            }
            if status == Status::StreamEnd {
                break;
            }
            if inflater.total_in() == done && out.len() == before {
                return Err(self.broken(member.data + done).at(place(name)));
            }
        }
        if out.len() as u64 == member.size && inflater.total_in() == member.stored {
            Ok(out)
        } else {
            Err(lies())
        }
    }

    fn refused(&self, name: &str, what: &str) -> Error {
        Error::format(format!("{}: {what}", self.format)).at(place(name)).advice("write the file again")
    }

    fn broken(&self, byte: u64) -> Error {
        Error::format(format!("{}: broken archive at byte {byte}", self.format))
            .advice("the file is cut, damaged or not a zip archive: copy or write it again")
    }
}

/// The records that may stand behind the directory.
const TAIL: u64 = (END + LOCATOR + END64) as u64;

fn place(name: &str) -> String {
    format!("member {name}")
}

/// Inflated size, stored size and header place; from the zip64 field where they need 64 bits.
fn wide_sizes(fixed: &[u8], mut extra: &[u8]) -> Option<[u64; 3]> {
    let narrow = [24, 20, 42].map(|at| u32_at(fixed, at));
    let mut wide = None;
    while let Some((head, rest)) = extra.split_at_checked(4) {
        let (field, rest) = rest.split_at_checked(u16_at(head, 2).into())?;
        if u16_at(head, 0) == 1 {
            wide = Some(field);
        }
        extra = rest;
    }
    let mut wide = wide.unwrap_or_default();
    let mut sizes = narrow.map(u64::from);
    for size in &mut sizes {
        if *size == u64::from(u32::MAX) {
            let (value, rest) = wide.split_at_checked(8)?;
            (*size, wide) = (u64_at(value, 0), rest);
        }
    }
    Some(sizes)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
