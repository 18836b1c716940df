//! A file that is hashed while it is read from beginning to end.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use calipers_core::Result;
use calipers_io::file::{InputFile, ReadAt, STRETCH, cannot_read};

/// A file of which every byte is hashed as it is read for the first time in order; what is read
/// elsewhere or once more is hashed by nobody, and what nobody reads in the end.
#[derive(Debug)]
pub struct HashedFile {
    file: InputFile,
    hashed: Mutex<Hashed>,
}

#[derive(Debug, Default)]
struct Hashed {
    hasher: blake3::Hasher,
    /// How many bytes from the beginning on.
    up_to: u64,
}

impl HashedFile {
    /// Before the first byte.
    pub fn new(file: InputFile) -> Self {
        Self { file, hashed: Mutex::default() }
    }

    /// The file itself; what is read from it is not hashed.
    pub fn file(&self) -> &InputFile {
        &self.file
    }

    /// The file itself, for good.
    pub fn into_file(self) -> InputFile {
        self.file
    }

    /// The hash of all bytes. Fails when the file was changed since it was opened.
    pub fn hash(&self) -> Result<blake3::Hash> {
        let mut block = Vec::new();
        loop {
            let up_to = self.hashed().up_to;
            let left = self.file.size() - up_to;
            if left == 0 {
                break;
            }
            block.resize(STRETCH.min(left as usize), 0);
            self.read_exact_at(&mut block, up_to).map_err(cannot_read)?;
        }
        self.file.unchanged()?;
        Ok(self.hashed().hasher.finalize())
    }

    fn hashed(&self) -> MutexGuard<'_, Hashed> {
        self.hashed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadAt for HashedFile {
    fn size(&self) -> u64 {
        self.file.size()
    }

    /// Hashes what is read while it is still in the cache.
    fn read_exact_at(&self, buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        for stretch in buffer.chunks_mut(STRETCH) {
            self.file.read_exact_at(stretch, offset)?;
            let mut hashed = self.hashed();
            let end = offset + stretch.len() as u64;
            if (offset..end).contains(&hashed.up_to) {
                let new = (hashed.up_to - offset) as usize;
                hashed.hasher.update(&stretch[new..]);
                hashed.up_to = end;
            }
            offset = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_file_whatever_was_read_of_it() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, &bytes).unwrap();
        for reads in [
            &[][..],
            &[(0, 3_000_000)],
            &[(0, 10), (0, 10), (5, 20), (100, 7), (25, 100)],
            &[(2_999_999, 1), (0, 1_000_000), (500_000, 2_000_000), (0, 5)],
        ] {
            let file = HashedFile::new(InputFile::open(&path).unwrap());
            for (offset, length) in reads {
                let mut buffer = vec![0; *length];
                file.read_exact_at(&mut buffer, *offset).unwrap();
                assert_eq!(buffer, bytes[*offset as usize..][..*length]);
            }
            assert_eq!(file.hash().unwrap(), blake3::hash(&bytes), "{reads:?}");
            assert_eq!(file.hash().unwrap(), blake3::hash(&bytes), "asked twice");
        }
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [1; 100]).unwrap();
        let file = HashedFile::new(InputFile::open(&path).unwrap());
        file.read_exact_at(&mut [0; 50], 0).unwrap();
        std::fs::write(&path, [1; 101]).unwrap();
        assert!(file.hash().unwrap_err().to_string().contains("changed while it was read"));
    }
}
