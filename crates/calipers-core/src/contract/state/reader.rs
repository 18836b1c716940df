//! A state that is read from its beginning to its end, a piece at a time: its memory is that of one piece.

use std::io::Read;

use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FIRST, HASH, HEAD, MAGIC, VERSION};
use crate::error::{Error, Result};

/// How much is read at once, at least.
const LEAST: usize = 16 << 10;

/// The bytes of a state, checked as they come.
pub struct StateReader<'r> {
    source: String,
    input: Box<dyn Read + 'r>,
    size: u64,
    /// How many bytes have been read.
    at: u64,
    /// What was read and not yet taken begins at `start`.
    buffer: Vec<u8>,
    start: usize,
    /// How many bytes of the section have not been read.
    left: u64,
    /// How much is read at once.
    piece: usize,
    whole: blake3::Hasher,
    section: blake3::Hasher,
    /// Whether the section has not ended.
    is_open: bool,
    /// The section that is being read, from 1, and its protocol.
    number: u32,
    name: String,
    sections: u32,
    version: u32,
}

impl<'r> StateReader<'r> {
    /// Begins to read a state of so many bytes, in pieces of about `piece`; `source` names it in messages.
    pub fn new(input: impl Read + 'r, size: u64, source: &str, piece: usize) -> Result<Self> {
        let mut reader = Self::unread(input, size, source, piece);
        let head: [u8; HEAD] = reader.exactly()?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if !head.starts_with(MAGIC) {
            return Err(reader.fail("not a Calipers state", 0).advice("states are written with --state"));
        }
        (reader.version, reader.sections) = (word(8), word(12));
        if !(FIRST..=VERSION).contains(&reader.version) {
            let error = reader.fail("a state of another format version", 8).found(reader.version);
            return Err(error.allowed(format!("{FIRST} to {VERSION}")));
        }
        Ok(reader)
    }

    fn unread(input: impl Read + 'r, size: u64, source: &str, piece: usize) -> Self {
        Self {
            source: source.into(),
            input: Box::new(input),
            size,
            at: 0,
            buffer: Vec::new(),
            start: 0,
            left: 0,
            piece: piece.max(LEAST),
            whole: blake3::Hasher::new(),
            section: blake3::Hasher::new(),
            is_open: false,
            number: 0,
            name: String::new(),
            sections: 0,
            version: 0,
        }
    }

    /// Reads entries that were written for this program alone.
    pub(super) fn of_entries(input: impl Read + 'r, size: u64) -> Self {
        Self { left: size, ..Self::unread(input, size, "what is merged", LEAST) }
    }

    /// How many sections the state has.
    pub fn sections(&self) -> u32 {
        self.sections
    }

    /// Whether it is of the format that is written today. Older ones are read as a whole.
    pub fn is_current(&self) -> bool {
        self.version == VERSION
    }

    /// What it is called in messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Begins the next section; gives the name of its protocol.
    pub fn begin(&mut self) -> Result<&str> {
        let place = self.at;
        let length = u64::from_le_bytes(self.exactly()?);
        let announced = length.checked_add(HASH as u64).and_then(|length| self.at.checked_add(length));
        if announced.is_none_or(|end| end > self.size) {
            let left = self.size - self.at;
            return Err(self
                .fail("the state is cut short or its length field is damaged", place)
                .found(format!("{length} bytes announced, {left} left")));
        }
        (self.left, self.number, self.is_open) = (length, self.number + 1, true);
        self.section.reset();
        self.name = self.take()?;
        Ok(&self.name)
    }

    /// The next value of the section.
    pub(super) fn take<T: Serialize + DeserializeOwned>(&mut self) -> Result<T> {
        Ok(self.take_with_bytes()?.0)
    }

    /// The next value of the section, and its bytes. Refuses bytes that would be written differently.
    pub(super) fn take_with_bytes<T: Serialize + DeserializeOwned>(&mut self) -> Result<(T, Vec<u8>)> {
        loop {
            match postcard::take_from_bytes::<T>(&self.buffer[self.start..]) {
                Ok((value, rest)) => {
                    let end = self.buffer.len() - rest.len();
                    let bytes = self.buffer[self.start..end].to_vec();
                    if !is_written_as(&value, &bytes) {
                        return Err(self.unlike("bytes that this version would write differently"));
                    }
                    self.start = end;
                    return Ok((value, bytes));
                }
                Err(postcard::Error::DeserializeUnexpectedEnd) if self.left > 0 => self.more()?,
                Err(_) => return Err(self.unlike("rows of another version")),
            }
        }
    }

    /// Ends the section, which must hold nothing else.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.left > 0 || self.start < self.buffer.len() {
            return Err(self.unlike("rows of another version"));
        }
        self.checked()
    }

    /// Ends the state, which must hold nothing else.
    pub fn finish(mut self) -> Result<()> {
        let (end, found) = (self.at, self.whole.finalize());
        let expected: [u8; HASH] = self.exactly()?;
        if self.at < self.size {
            return Err(self.fail("bytes after the end of the state", self.at));
        }
        match found.as_bytes() == &expected {
            true => Ok(()),
            false => Err(self.fail("the state is damaged: checksum does not match", end)),
        }
    }

    /// The reason behind an error: where the section is damaged, that, and not what came of it.
    pub fn damage_or(&mut self, error: Error) -> Error {
        if !self.is_open {
            return error;
        }
        while self.left > 0 {
            self.start = self.buffer.len();
            if let Err(unreadable) = self.more() {
                return unreadable;
            }
        }
        self.checked().err().unwrap_or(error)
    }

    /// Compares the hash behind the section with that of what was read.
    fn checked(&mut self) -> Result<()> {
        let found = self.section.finalize();
        let begin = self.at - self.section.count();
        self.is_open = false;
        let expected: [u8; HASH] = self.exactly()?;
        if found.as_bytes() == &expected {
            return Ok(());
        }
        Err(Error::format("the state is damaged: checksum does not match")
            .in_file(&self.source)
            .at(format!("section {}, bytes {begin} to {}", self.number, self.at))
            .advice("measure this shard again"))
    }

    /// Reads more of the section. What is left over of the last piece may be of any length: a value is
    /// taken whole.
    fn more(&mut self) -> Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let (old, piece) = (self.buffer.len(), self.piece.max(self.buffer.len()));
        let more = usize::try_from(self.left).unwrap_or(usize::MAX).min(piece);
        self.buffer.resize(old + more, 0);
        self.input.read_exact(&mut self.buffer[old..]).map_err(|error| unreadable(&self.source, &error))?;
        self.left -= more as u64;
        self.at += more as u64;
        self.section.update(&self.buffer[old..]);
        self.whole.update(&self.buffer[old..]);
        Ok(())
    }

    /// Bytes that are in no section.
    fn exactly<const N: usize>(&mut self) -> Result<[u8; N]> {
        if self.at + N as u64 > self.size {
            return Err(self.fail("the state is cut short", self.size));
        }
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|error| unreadable(&self.source, &error))?;
        self.at += N as u64;
        self.whole.update(&bytes);
        Ok(bytes)
    }

    fn fail(&self, what: &str, at: u64) -> Error {
        Error::format(what).in_file(&self.source).at(format!("byte {at}"))
    }

    fn unlike(&self, why: &str) -> Error {
        let error = Error::format("the state does not decode").in_file(&self.source);
        error.at(format!("section {}", self.name)).found(why)
    }

    /// Says that this section cannot be what a run has written.
    pub(super) fn impossible(&self, why: impl std::fmt::Display) -> Error {
        self.unlike(&why.to_string())
    }
}

/// Whether a value would be written as these bytes, which is found out without writing it.
pub(super) fn is_written_as(value: &impl Serialize, bytes: &[u8]) -> bool {
    postcard::serialize_with_flavor(value, Expected(bytes)).is_ok_and(|rest| rest.is_empty())
}

/// Bytes that are to come; what comes instead is an error.
struct Expected<'b>(&'b [u8]);

impl<'b> Flavor for Expected<'b> {
    type Output = &'b [u8];

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0 = self.0.strip_prefix(bytes).ok_or(postcard::Error::SerializeBufferFull)?;
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Self::Output> {
        Ok(self.0)
    }
}

fn unreadable(source: &str, error: &std::io::Error) -> Error {
    Error::io(format!("cannot read the state: {}", error.kind())).in_file(source)
}
