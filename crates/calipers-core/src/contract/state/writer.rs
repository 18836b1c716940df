//! A state that is written from its beginning to its end.

use std::io::{self, Read, Seek, Write};

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

    /// Ends the state.
    pub fn finish(self) -> io::Result<()> {
        self.out.write_all(self.whole.finalize().as_bytes())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.whole.update(bytes);
        self.out.write_all(bytes)
    }
}
