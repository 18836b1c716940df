//! A state that is written from its beginning to its end.

use std::io::{self, Read, Seek, Write};

use postcard::ser_flavors::{Flavor, Size};
use serde::Serialize;

use super::{MAGIC, VERSION};

/// How much is copied at once.
const BUFFER: usize = 1 << 20;

/// Where entries wait until it is known how many there are.
pub trait Scratch: Read + Write + Seek {}

impl<T: Read + Write + Seek> Scratch for T {}

/// A piece of a section.
pub(super) enum Piece<'p> {
    Bytes(&'p [u8]),
    /// What was written into it, so many bytes.
    Scratch(&'p mut dyn Scratch, u64),
}

/// The bytes of a state, hashed as they go.
pub struct StateWriter<'w> {
    out: &'w mut dyn Write,
    whole: blake3::Hasher,
}

impl<'w> StateWriter<'w> {
    /// Begins a state of so many sections.
    pub fn new(out: &'w mut dyn Write, sections: u32) -> io::Result<Self> {
        let mut writer = Self { out, whole: blake3::Hasher::new() };
        writer.put(MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        writer.put(&sections.to_le_bytes())?;
        Ok(writer)
    }

    /// Writes a section.
    pub(super) fn section(&mut self, pieces: Vec<Piece<'_>>) -> io::Result<()> {
        let length = |piece: &Piece<'_>| match piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::Scratch(_, bytes) => *bytes,
        };
        self.put(&pieces.iter().map(length).sum::<u64>().to_le_bytes())?;
        let mut section = blake3::Hasher::new();
        let mut buffer = vec![0; BUFFER];
        for piece in pieces {
            match piece {
                Piece::Bytes(bytes) => {
                    section.update(bytes);
                    self.put(bytes)?;
                }
                Piece::Scratch(scratch, mut left) => {
                    scratch.rewind()?;
                    while left > 0 {
                        let piece = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
                        scratch.read_exact(&mut buffer[..piece])?;
                        section.update(&buffer[..piece]);
                        self.put(&buffer[..piece])?;
                        left -= piece as u64;
                    }
                }
            }
        }
        self.put(section.finalize().as_bytes())
    }

    /// Writes the encoding of a value as a section, and holds no more than a buffer of it: it is encoded twice,
    /// first for its length.
    pub(super) fn encoded(&mut self, value: &impl Serialize) -> io::Result<()> {
        let length = postcard::serialize_with_flavor(value, Size::default()).map_err(io::Error::other)?;
        self.put(&(length as u64).to_le_bytes())?;
        let (mut section, mut failed) = (blake3::Hasher::new(), None);
        let buffer = Vec::with_capacity(BUFFER);
        let stream = Stream { writer: &mut *self, section: &mut section, buffer, failed: &mut failed };
        let written = postcard::serialize_with_flavor(value, stream);
        match failed {
            Some(error) => return Err(error),
            None => written.map_err(io::Error::other)?,
        }
        self.put(section.finalize().as_bytes())
    }

    /// Ends the state.
    pub fn finish(self) -> io::Result<()> {
        self.out.write_all(self.whole.finalize().as_bytes())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.whole.update(bytes);
        self.out.write_all(bytes)
    }
}

/// Encoded bytes on their way into a section.
struct Stream<'s, 'w> {
    writer: &'s mut StateWriter<'w>,
    section: &'s mut blake3::Hasher,
    buffer: Vec<u8>,
    /// Why nothing more can be written, which an error of the encoding cannot say.
    failed: &'s mut Option<io::Error>,
}

impl Stream<'_, '_> {
    fn flush(&mut self) -> postcard::Result<()> {
        self.section.update(&self.buffer);
        let written = self.writer.put(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| {
            *self.failed = Some(error);
            postcard::Error::SerializeBufferFull
        })
    }
}

impl Flavor for Stream<'_, '_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    fn finalize(mut self) -> postcard::Result<()> {
        self.flush()
    }
}
