//! The files that a run reads: each is opened once, and hashed whoever reads it.

mod ahead;
mod stamp;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use calipers_core::input_files::{BELOW, COLUMN, ROLE};
use calipers_core::{Error, ErrorKind, Input, InputFiles, Notes, Result};
use calipers_io::compress::inflated;
use calipers_io::file::{InputFile, ReadAt, empty};
use calipers_io::place;

use self::ahead::Ahead;
pub(crate) use self::stamp::Stamp;
use crate::hashing::HashedFile;
use crate::tree::PassedOver;
use crate::walk::Found;

/// Files above this size are read at positions instead of being held in memory.
const HELD: u64 = 256 << 20;

/// How many requests are under way for each thread, and for all of them.
const REQUESTS_PER_THREAD: usize = 8;
const MOST_REQUESTS: usize = 64;

/// What was read so far: length and hash of each file, with the path shown in the report. They are
/// sorted at the end, so that workers hardly wait for one another.
#[derive(Debug, Default)]
pub struct Inputs {
    files: Mutex<Vec<ReadFile>>,
    /// Files that several units share, read for one of them.
    shared: Mutex<Vec<Arc<Shared>>>,
    remarks: Mutex<BTreeMap<String, Remark>>,
    /// What may be read, and nothing else, when recorded inputs are read again.
    recorded: Option<InputFiles>,
    /// Whether what cannot be read is left out.
    keep_going: bool,
    /// What could not be found out about files while they were listed, by unit or path.
    left_out: Arc<Mutex<BTreeMap<String, String>>>,
    passed_over: Mutex<PassedOver>,
    /// Whether some of them lie on a server.
    are_far: AtomicBool,
    /// Those that were looked into there and are not yet measured.
    ahead: Arc<Ahead>,
}

/// A file that was read, and how a later change of it is noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadFile {
    pub(crate) shown: Box<str>,
    pub(crate) input: Input,
    pub(crate) stamp: Option<Stamp>,
}

/// Files that were read together for the first of several units.
#[derive(Debug)]
pub(crate) struct Shared {
    files: Vec<ReadFile>,
    /// Whether a unit that was measured has brought them into the record.
    adopted: AtomicBool,
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

/// The notes of a parquet file of which one column is read.
pub fn role_of_column(word: &str, column: &str) -> Notes {
    let mut notes = role(word, None);
    Arc::make_mut(&mut notes).insert(COLUMN.to_owned(), column.to_owned());
    notes
}

impl Inputs {
    /// Reads recorded files again: nothing else, and nothing that has changed.
    pub fn again(recorded: InputFiles) -> Self {
        Self { recorded: Some(recorded), ..Self::default() }
    }

    /// What cannot be read is left out, where `keep_going` says so.
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Whether what cannot be read is left out.
    pub fn goes_on(&self) -> bool {
        self.keep_going
    }

    /// Leaves out what cannot be read or paired: a unit, or a file by its path. Fails where that is not
    /// wanted.
    pub fn leave_out(&self, name: &str, error: Error) -> Result<()> {
        if !self.keep_going {
            return Err(error);
        }
        locked(&self.left_out).insert(name.to_owned(), error.in_one_line());
        Ok(())
    }

    /// The same for what may have been left out of a recorded file, which is read again without it.
    pub fn leave_out_again(&self, name: &str, error: Error) -> Result<()> {
        if self.is_again() { Ok(()) } else { self.leave_out(name, error) }
    }

    /// The failure of a run of which everything was left out; none where nothing was.
    pub(crate) fn nothing_left(&self) -> Option<Error> {
        let left_out = locked(&self.left_out);
        let (unit, reason) = left_out.first_key_value()?;
        Some(nothing_left(unit, reason, left_out.len()))
    }

    /// Goes on after a failure about `name`, which is left out; fails where that is not wanted.
    pub fn unless_left_out<T>(&self, name: &str, done: Result<T>) -> Result<Option<T>> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(error) => self.leave_out(name, error).map(|()| None),
        }
    }

    /// Notes where files are read from.
    pub(crate) fn come_from(&self, path: &Path) {
        if place::is_address(path) {
            self.are_far.store(true, Ordering::Relaxed);
        }
    }

    fn are_far(&self) -> bool {
        self.are_far.load(Ordering::Relaxed)
    }

    /// How many workers read them: those that wait for a server leave the cores to others.
    pub(crate) fn workers(&self, threads: usize) -> usize {
        match self.are_far() {
            true => threads.max((threads * REQUESTS_PER_THREAD).min(MOST_REQUESTS)),
            false => threads,
        }
    }

    /// What was left out so far, and why.
    pub(crate) fn left_out(&self) -> BTreeMap<String, String> {
        locked(&self.left_out).clone()
    }

    /// Counts what a listing has passed over.
    pub(crate) fn pass_over(&self, more: PassedOver) {
        locked(&self.passed_over).add(more);
    }

    /// What listings have passed over, in lines.
    pub(crate) fn passed_over(&self) -> Vec<String> {
        locked(&self.passed_over).lines()
    }

    /// A record for one unit, or for a file that several share.
    pub fn aside(&self) -> Self {
        Self {
            recorded: self.recorded.clone(),
            keep_going: self.keep_going,
            // What is left out is told, whoever read it.
            left_out: Arc::clone(&self.left_out),
            ahead: Arc::clone(&self.ahead),
            ..Self::default()
        }
    }

    /// Adds what was read for a unit that was measured.
    pub(crate) fn adopt(&self, unit: Self) {
        let shared = unit.shared.into_inner().unwrap_or_default();
        let mut files = unit.files.into_inner().unwrap_or_default();
        remark(&mut files, &unit.remarks.into_inner().unwrap_or_default());
        for shared in shared.iter().filter(|shared| !shared.adopted.swap(true, Ordering::Relaxed)) {
            files.extend(shared.files.iter().cloned());
        }
        locked(&self.files).append(&mut files);
    }

    /// The files that were read so far, those that several units share included.
    pub(crate) fn read_files(&self) -> Vec<ReadFile> {
        let mut files = locked(&self.files).clone();
        locked(&self.shared).iter().for_each(|shared| files.extend(shared.files.iter().cloned()));
        files
    }

    /// Everything that was read so far, to be shared by several units.
    pub(crate) fn into_shared(self) -> Arc<Shared> {
        let mut files = self.files.into_inner().unwrap_or_default();
        for shared in self.shared.into_inner().unwrap_or_default() {
            files.extend(shared.files.iter().cloned());
        }
        Arc::new(Shared { files, adopted: AtomicBool::new(false) })
    }

    /// Notes that a unit uses files that were read for another.
    pub(crate) fn share(&self, shared: &Arc<Shared>) {
        locked(&self.shared).push(Arc::clone(shared));
    }

    /// The hash of all that was read so far, whatever its order.
    pub(crate) fn digest(&self) -> blake3::Hash {
        let files = self.read_files();
        let mut lines: Vec<String> = files
            .iter()
            .map(|file| format!("{} {} {}", file.input.blake3, file.input.bytes, file.shown))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        blake3::hash(lines.join("\n").as_bytes())
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
        let file = self.opened(path, shown)?;
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
        self.record(shown, bytes.len() as u64, hash, notes, Stamp::of(file))?;
        Ok(hash)
    }

    /// Opens a file for positioned reads and records it; a small file is read into memory.
    pub fn open(&self, path: &Path, shown: &str, notes: &Notes) -> Result<Arc<dyn ReadAt>> {
        Ok(self.open_up_to(path, shown, notes, HELD)?.0)
    }

    /// Reads and records a file, or opens one that has more than `held` bytes, to be hashed while it
    /// is read and recorded after that.
    pub fn read_or_stream(&self, path: &Path, shown: &str, notes: &Notes, held: u64) -> Result<Opened> {
        let file = self.opened(path, shown)?;
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
        self.record(shown, file.size(), hash, notes, Stamp::of(file.file()))?;
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
        let file = self.opened(path, shown)?;
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
        let file = self.opened(path, shown)?;
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
                self.record(&found.shown, bytes.len() as u64, blake3::hash(bytes), &found.notes, None)?;
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
                self.record(&found.shown, bytes.len() as u64, blake3::hash(bytes), &found.notes, None)?;
                Arc::<Vec<u8>>::clone(bytes)
            }
        };
        found.decompressed(source)
    }

    /// Records bytes that a server gave.
    pub fn record_served(&self, shown: &str, bytes: &[u8], notes: &Notes) -> Result<()> {
        self.record(shown, bytes.len() as u64, blake3::hash(bytes), notes, None)
    }

    fn record(
        &self,
        shown: &str,
        bytes: u64,
        hash: blake3::Hash,
        notes: &Notes,
        stamp: Option<Stamp>,
    ) -> Result<()> {
        if let Some(recorded) = &self.recorded {
            let same = |known: &Input| (known.bytes, known.blake3) == (bytes, hash.into());
            return match recorded.get(shown) {
                Some(known) if same(known) => Ok(()),
                Some(_) => Err(Error::new(ErrorKind::Conflict, "the file has changed").in_file(shown)),
                None => Err(Error::value("the file is not among the recorded inputs").in_file(shown)),
            };
        }
        let input = Input { bytes, blake3: hash.into(), notes: Arc::clone(notes) };
        locked(&self.files).push(ReadFile { shown: shown.into(), input, stamp });
        Ok(())
    }

    /// Adds what a family says about a file that was read.
    pub fn note(&self, shown: &str, key: &str, text: &str) {
        if let Remark::Notes(notes) =
            locked(&self.remarks).entry(shown.into()).or_insert_with(|| Remark::Notes(BTreeMap::new()))
        {
            notes.insert(key.into(), text.into());
        }
    }

    /// Takes back that a file was read, because it will be read once more: it may have grown meanwhile.
    pub fn unread(&self, shown: &str) {
        let mut files = locked(&self.files);
        if let Some(at) = files.iter().rposition(|file| *file.shown == *shown) {
            files.swap_remove(at);
        }
    }

    /// Takes back that anything was read that an address serves.
    pub fn unread_below(&self, address: &str) {
        let is_below = |path: &str| path.strip_prefix(address).is_some_and(|path| path.starts_with('/'));
        locked(&self.files).retain(|file| !is_below(&file.shown));
    }

    /// Strikes out a file that turned out to hold nothing to measure.
    pub fn forget(&self, shown: &str) {
        locked(&self.remarks).insert(shown.into(), Remark::Forgotten);
    }

    /// Everything recorded. Fails when a file that was read twice had changed in between.
    pub fn into_files(self) -> Result<InputFiles> {
        if let Some(recorded) = self.recorded {
            return Ok(recorded);
        }
        let mut files = self.files.into_inner().unwrap_or_default();
        for shared in self.shared.into_inner().unwrap_or_default() {
            if !shared.adopted.swap(true, Ordering::Relaxed) {
                files.extend(shared.files.iter().cloned());
            }
        }
        remark(&mut files, &self.remarks.into_inner().unwrap_or_default());
        recorded(files)
    }

    /// Adds files that an earlier run has read.
    pub(crate) fn adopt_recorded(&self, files: &InputFiles) {
        let file = |(shown, input): (&str, &Input)| ReadFile {
            shown: shown.into(),
            input: input.clone(),
            stamp: None,
        };
        locked(&self.files).extend(files.iter().map(file));
    }

    /// The files that were read so far, as they will be recorded.
    pub(crate) fn remarked(&self) -> Vec<ReadFile> {
        let mut files = self.read_files();
        remark(&mut files, &locked(&self.remarks));
        files
    }
}

/// The failure of a run of which so many units were left out, and none was measured.
pub(crate) fn nothing_left(unit: &str, reason: &str, count: usize) -> Error {
    Error::value("every unit was left out")
        .at(format!("unit {unit}"))
        .found(format!("{reason} (the first of {count})"))
        .advice("there is nothing to report: mend the inputs")
}

/// Adds the remarks about files, and drops files that hold nothing.
fn remark(files: &mut Vec<ReadFile>, remarks: &BTreeMap<String, Remark>) {
    files.retain_mut(|file| match remarks.get(&*file.shown) {
        None => true,
        Some(Remark::Forgotten) => false,
        Some(Remark::Notes(notes)) => {
            Arc::make_mut(&mut file.input.notes).extend(notes.clone());
            true
        }
    });
}

/// The inputs that files are in a report.
pub(crate) fn recorded(files: Vec<ReadFile>) -> Result<InputFiles> {
    InputFiles::new(files.into_iter().map(|file| (file.shown, file.input)).collect())
}

/// What a worker that stopped half-way has left is whole: entries are added in one step.
fn locked<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
