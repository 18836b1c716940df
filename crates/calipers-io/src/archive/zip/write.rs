//! Zip archives, written: members stored as they are, in order, without dates, so that equal
//! members give equal bytes.

use std::io::{self, Write};

/// An archive that is written from front to back.
pub(crate) struct ArchiveWriter<'a> {
    out: &'a mut dyn Write,
    written: u64,
    directory: Vec<u8>,
    members: u16,
    /// The data of every member begins at a multiple of this.
    aligned: u64,
}

/// The first day that the format can name.
const DATE: u16 = 1 << 5 | 1;
/// What an extra field of padding begins with: the name that PyTorch gives it, and its length.
const PADDING: (&[u8], usize) = (b"FB", 4);

impl<'a> ArchiveWriter<'a> {
    /// An archive without members.
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, written: 0, directory: Vec::new(), members: 0, aligned: 1 }
    }

    /// The same, where the data of every member begins at a multiple of 64 bytes.
    pub(crate) fn aligned(out: &'a mut dyn Write) -> Self {
        Self { aligned: 64, ..Self::new(out) }
    }

    /// Adds a member of these bytes, one part after the other.
    pub(crate) fn member(&mut self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let mut crc = crc32fast::Hasher::new();
        parts.iter().for_each(|part| crc.update(part));
        let size = narrow(parts.iter().map(|part| part.len() as u64).sum())?;
        let name_length = u16::try_from(name.len()).map_err(|_| too_large())?;
        let start = narrow(self.written)?;
        // Version 2.0, UTF-8 names, stored, no date.
        let mut fields = Vec::from([20, 0, 0, 8, 0, 0, 0, 0]);
        fields.extend(DATE.to_le_bytes());
        for number in [crc.finalize(), size, size] {
            fields.extend(number.to_le_bytes());
        }
        fields.extend(name_length.to_le_bytes());
        let extra = self.padding(start, name.len());

        self.write(b"PK\x03\x04")?;
        self.write(&fields)?;
        self.write(&(extra.len() as u16).to_le_bytes())?;
        self.write(name.as_bytes())?;
        self.write(&extra)?;
        for part in parts {
            self.write(part)?;
        }
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&fields);
        // No extra field, no comment, the first disk, no attributes.
        self.directory.extend([0; 12]);
        self.directory.extend(start.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.members = self.members.checked_add(1).filter(|n| *n < u16::MAX).ok_or_else(too_large)?;
        Ok(())
    }

    /// Writes the directory.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let (start, length) = (narrow(self.written)?, narrow(self.directory.len() as u64)?);
        let directory = std::mem::take(&mut self.directory);
        self.write(&directory)?;
        self.write(b"PK\x05\x06\0\0\0\0")?;
        self.write(&self.members.to_le_bytes())?;
        self.write(&self.members.to_le_bytes())?;
        self.write(&length.to_le_bytes())?;
        self.write(&start.to_le_bytes())?;
        self.write(&[0; 2])
    }

    fn padding(&self, start: u32, name: usize) -> Vec<u8> {
        if self.aligned == 1 {
            return Vec::new();
        }
        let (word, head) = PADDING;
        let before = u64::from(start) + (30 + name + head) as u64;
        let zeros = (before.next_multiple_of(self.aligned) - before) as usize;
        let mut extra = word.to_vec();
        extra.extend((zeros as u16).to_le_bytes());
        extra.resize(head + zeros, 0);
        extra
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

fn narrow(number: u64) -> io::Result<u32> {
    u32::try_from(number).ok().filter(|n| *n < u32::MAX).ok_or_else(too_large)
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "more than a zip archive of 4 GiB holds; write .safetensors")
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::*;

    #[test]
    fn another_reader_finds_every_member_where_it_should_begin() {
        let mut bytes = Vec::new();
        let mut archive = ArchiveWriter::aligned(&mut bytes);
        archive.member("a/empty", &[]).unwrap();
        archive.member("a/two parts", &[b"one ", b"two"]).unwrap();
        archive.finish().unwrap();
        let mut read = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        assert_eq!(read.len(), 2);
        for (name, held) in [("a/empty", ""), ("a/two parts", "one two")] {
            let mut member = read.by_name(name).unwrap();
            assert_eq!(member.data_start().unwrap() % 64, 0);
            let mut text = String::new();
            member.read_to_string(&mut text).unwrap();
            assert_eq!(text, held);
        }
    }
}
