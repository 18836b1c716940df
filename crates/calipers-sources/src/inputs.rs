//! The files a run reads, each opened once more than needed by nobody and hashed by everybody.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use calipers_core::input_files::{BELOW, ROLE};
use calipers_core::{Error, ErrorKind, Input, InputFiles, Notes, Result};
use calipers_io::compress::inflated;
use calipers_io::file::{InputFile, ReadAt, empty};

use crate::hashing::HashedFile;
use crate::walk::Found;

/// Files above this size are read at positions instead of being held in memory.
const HELD: u64 = 256 << 20;

/// What was read so far: length and hash of each file, with the path shown in the report. They are
/// sorted at the end, so that workers hardly wait for one another.
#[derive(Debug, Default)]
pub struct Inputs {
    files: Mutex<Vec<(Box<str>, Input)>>,
    remarks: Mutex<BTreeMap<String, Remark>>,
    /// What may be read, and nothing else, when recorded inputs are read again.
    recorded: Option<InputFiles>,
}

/// What a family says about a file it read.
#[derive(Debug)]
enum Remark {
    Notes(BTreeMap<String, String>),
    /// It holds nothing to measure and is no input.
    Forgotten,
}

/// A file that was opened.
#[derive(Debug)]
pub enum Opened {
    /// All of its bytes; it is recorded.
    Held(Vec<u8>),
    /// The file, of which nothing is held. Whoever reads it records it.
    File(Box<HashedFile>),
}

/// The notes of files that are read as one thing; `below` is the given folder they were found in.
pub fn role(word: &str, below: Option<&str>) -> Notes {
    let role = (ROLE.to_owned(), word.to_owned());
    let below = below.map(|folder| (BELOW.to_owned(), folder.to_owned()));
    Arc::new(std::iter::once(role).chain(below).collect())
}

impl Inputs {
    /// Reads recorded files again: nothing else, and nothing that has changed.
    pub fn again(recorded: InputFiles) -> Self {
        Self { recorded: Some(recorded), ..Self::default() }
    }

    /// Whether the file may be read: always, unless only recorded files are.
    pub fn may_read(&self, shown: &str) -> bool {
        self.recorded.as_ref().is_none_or(|recorded| recorded.get(shown).is_some())
    }

    /// Whether something that an address serves may be read.
    pub fn may_read_below(&self, address: &str) -> bool {
        let below = |path: &str| path.strip_prefix(address).is_some_and(|path| path.starts_with('/'));
        self.recorded.as_ref().is_none_or(|recorded| recorded.iter().any(|(path, _)| below(path)))
    }

    /// Whether recorded files are read again.
    pub fn is_again(&self) -> bool {
        self.recorded.is_some()
    }

    /// Reads a whole file and records it.
    pub fn read(&self, path: &Path, shown: &str, notes: &Notes) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(path, shown, notes, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a whole file into a buffer that was used before and records it; returns its hash.
    pub fn read_into(
        &self,
        path: &Path,
        shown: &str,
        notes: &Notes,
        bytes: &mut Vec<u8>,
    ) -> Result<blake3::Hash> {
        let file = InputFile::open(path).map_err(|error| error.in_file(shown))?;
        self.record_all(&file, shown, notes, bytes)
    }

    fn record_all(
        &self,
        file: &InputFile,
        shown: &str,
        notes: &Notes,
        bytes: &mut Vec<u8>,
    ) -> Result<blake3::Hash> {
        file.read_into(bytes).map_err(|error| error.in_file(shown))?;
        if bytes.is_empty() {
            return Err(empty().in_file(shown));
        }
        let hash = blake3::hash(bytes);
        self.record(shown, bytes.len() as u64, hash, notes)?;
        Ok(hash)
    }

    /// Opens a file for positioned reads and records it; a small file is read into memory.
    pub fn open(&self, path: &Path, shown: &str, notes: &Notes) -> Result<Arc<dyn ReadAt>> {
        Ok(self.open_up_to(path, shown, notes, HELD)?.0)
    }

    /// Reads and records a file, or opens one that has more than `held` bytes, to be hashed while it
    /// is read and recorded after that.
    pub fn read_or_stream(&self, path: &Path, shown: &str, notes: &Notes, held: u64) -> Result<Opened> {
        let file = InputFile::open(path).map_err(|error| error.in_file(shown))?;
        if file.size() <= held {
            let mut bytes = Vec::new();
            self.record_all(&file, shown, notes, &mut bytes)?;
            return Ok(Opened::Held(bytes));
        }
        let file = HashedFile::new(file);
        if self.is_again() {
            // What has changed is not even looked at.
            self.record_read(&file, shown, notes)?;
        }
        Ok(Opened::File(Box::new(file)))
    }

    /// Records a file that was opened and read. Fails when it was changed meanwhile.
    pub fn record_read(&self, file: &HashedFile, shown: &str, notes: &Notes) -> Result<blake3::Hash> {
        let hash = file.hash().map_err(|error| error.in_file(shown))?;
        self.record(shown, file.size(), hash, notes)?;
        Ok(hash)
    }

    /// All bytes of a file that was opened, which is recorded.
    pub fn read_held(&self, file: &HashedFile, shown: &str, notes: &Notes) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.record_all(file.file(), shown, notes, &mut bytes)?;
        Ok(bytes)
    }

    /// The same with a size of one's own up to which a file is small; returns the hash too.
    pub fn open_up_to(
        &self,
        path: &Path,
        shown: &str,
        notes: &Notes,
        held: u64,
    ) -> Result<(Arc<dyn ReadAt>, blake3::Hash)> {
        let file = InputFile::open(path).map_err(|error| error.in_file(shown))?;
        if file.size() <= held {
            let mut bytes = Vec::new();
            let hash = self.record_all(&file, shown, notes, &mut bytes)?;
            return Ok((Arc::new(bytes), hash));
        }
        let (file, hash) = self.hashed(file, shown, notes)?;
        Ok((file, hash))
    }

    /// Opens a file for positioned reads and records it, holding none of it; returns its hash too.
    pub fn stream(&self, path: &Path, shown: &str, notes: &Notes) -> Result<(Arc<InputFile>, blake3::Hash)> {
        let file = InputFile::open(path).map_err(|error| error.in_file(shown))?;
        self.hashed(file, shown, notes)
    }

    fn hashed(&self, file: InputFile, shown: &str, notes: &Notes) -> Result<(Arc<InputFile>, blake3::Hash)> {
        let file = HashedFile::new(file);
        let hash = self.record_read(&file, shown, notes)?;
        Ok((Arc::new(file.into_file()), hash))
    }

    /// The bytes of a file that was found, recorded as they are and without their compression.
    pub fn read_found<'a>(&self, found: &'a Found) -> Result<Cow<'a, [u8]>> {
        let bytes = match &found.held {
            None => self.read(&found.path, &found.shown, &found.notes).map(Cow::Owned)?,
            Some(bytes) => {
                self.record(&found.shown, bytes.len() as u64, blake3::hash(bytes), &found.notes)?;
                Cow::Borrowed(&bytes[..])
            }
        };
        inflated(bytes, found.compression)
    }

    /// Records a file that was found and opens it for positioned reads of what it holds.
    pub fn open_found(&self, found: &Found) -> Result<Arc<dyn ReadAt>> {
        let source: Arc<dyn ReadAt> = match &found.held {
            None => self.open(&found.path, &found.shown, &found.notes)?,
            Some(bytes) => {
                self.record(&found.shown, bytes.len() as u64, blake3::hash(bytes), &found.notes)?;
                Arc::<Vec<u8>>::clone(bytes)
            }
        };
        found.decompressed(source)
    }

    /// Records bytes that a server gave.
    pub fn record_served(&self, shown: &str, bytes: &[u8], notes: &Notes) -> Result<()> {
        self.record(shown, bytes.len() as u64, blake3::hash(bytes), notes)
    }

    fn record(&self, shown: &str, bytes: u64, hash: blake3::Hash, notes: &Notes) -> Result<()> {
        if let Some(recorded) = &self.recorded {
            let same = |known: &Input| (known.bytes, known.blake3) == (bytes, hash.into());
            return match recorded.get(shown) {
                Some(known) if same(known) => Ok(()),
                Some(_) => Err(Error::new(ErrorKind::Conflict, "the file has changed").in_file(shown)),
                None => Err(Error::value("the file is not among the recorded inputs").in_file(shown)),
            };
        }
        let file = (shown.into(), Input { bytes, blake3: hash.into(), notes: Arc::clone(notes) });
        self.files.lock().map_err(|_| Error::io("a worker stopped while reading"))?.push(file);
        Ok(())
    }

    /// Adds what a family says about a file that was read.
    pub fn note(&self, shown: &str, key: &str, text: &str) {
        if let Ok(mut remarks) = self.remarks.lock()
            && let Remark::Notes(notes) =
                remarks.entry(shown.into()).or_insert_with(|| Remark::Notes(BTreeMap::new()))
        {
            notes.insert(key.into(), text.into());
        }
    }

    /// Strikes out a file that turned out to hold nothing to measure.
    pub fn forget(&self, shown: &str) {
        if let Ok(mut remarks) = self.remarks.lock() {
            remarks.insert(shown.into(), Remark::Forgotten);
        }
    }

    /// Everything recorded. Fails when a file that was read twice had changed in between.
    pub fn into_files(self) -> Result<InputFiles> {
        if let Some(recorded) = self.recorded {
            return Ok(recorded);
        }
        let mut files = self.files.into_inner().unwrap_or_default();
        let remarks = self.remarks.into_inner().unwrap_or_default();
        files.retain_mut(|(path, input)| match remarks.get(&**path) {
            None => true,
            Some(Remark::Forgotten) => false,
            Some(Remark::Notes(notes)) => {
                Arc::make_mut(&mut input.notes).extend(notes.clone());
                true
            }
        });
        InputFiles::new(files)
    }
}
