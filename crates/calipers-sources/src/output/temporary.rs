//! A file beside its target, which takes the target's place when it is whole.
//!
//! Its name is `.<target>.<pid>-<n>.tmp`. It is locked until then, so that whoever writes the same target
//! later can tell what a killed process left from what a living one is writing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use calipers_core::{Error, Result};

use super::failed;

const ENDING: &str = ".tmp";
/// How many names are tried.
const ATTEMPTS: u32 = 100;

/// The temporary files of this program, for its end by a signal.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Held while outputs are renamed.
static RENAMING: Mutex<()> = Mutex::new(());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the program from ending before outputs whose renames have begun are there.
pub(super) fn renaming() -> MutexGuard<'static, ()> {
    RENAMING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what was not finished: call it where the program ends in the middle. Nothing is renamed any
/// more.
pub fn remove_temporaries() {
    std::mem::forget(renaming());
    for file in std::mem::take(&mut *unfinished()) {
        // Nothing better can be done about a file that cannot be removed.
        let _ = fs::remove_file(file);
    }
}

/// A temporary file, removed again unless it has taken the place of its target.
#[derive(Debug)]
pub(super) struct Temporary {
    beside: PathBuf,
    target: PathBuf,
    file: File,
}

impl Temporary {
    /// A new file beside its target that no one else has open.
    pub(super) fn beside(target: &Path) -> Result<Self> {
        let name = target
            .file_name()
            .ok_or_else(|| Error::io("the output has no file name").in_file(target.display()))?;
        for attempt in 0..ATTEMPTS {
            let beside = target.with_file_name(named(name, &format!("{}-{attempt}", std::process::id())));
            let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&beside) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(failed(target, "create", &error)),
            };
            unfinished().insert(beside.clone());
            let temporary = Self { beside, target: target.to_owned(), file };
            // Where a file system has no locks, a killed run leaves a file that nobody removes.
            let locked = temporary.file.try_lock();
            // Somebody may have taken it for what a dead process left, before it was locked.
            if locked.is_err() || temporary.beside.exists() {
                return Ok(temporary);
            }
        }
        Err(Error::io("cannot find a free temporary name").in_file(target.display()))
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Takes the place of the target.
    pub(super) fn rename(&self) -> Result<()> {
        fs::rename(&self.beside, &self.target).map_err(|error| failed(&self.target, "replace", &error))?;
        unfinished().remove(&self.beside);
        Ok(())
    }
}

/// A temporary file that never takes the place of its target.
#[derive(Debug)]
pub struct Scratch(pub(super) Temporary);

impl Read for Scratch {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.file().read(buffer)
    }
}

impl Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.file().flush()
    }
}

impl Seek for Scratch {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.0.file().seek(place)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if unfinished().remove(&self.beside) {
            // Nothing better can be done about a file that cannot be removed.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

fn named(target: &OsStr, middle: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(target);
    name.push(format!(".{middle}{ENDING}"));
    name
}

/// Removes the temporary files of a target whose processes are dead. Those of living ones are locked.
pub(super) fn remove_left_over(target: &Path) {
    let Some(name) = target.file_name() else { return };
    let Ok(entries) = fs::read_dir(super::folder_of(target)) else { return };
    for entry in entries.flatten() {
        if !is_temporary(&entry.file_name(), name) {
            continue;
        }
        // Whoever holds the lock is alive; who has just removed the file was faster.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a name is that of a temporary file of a target.
fn is_temporary(name: &OsStr, target: &OsStr) -> bool {
    let (name, target) = (name.to_string_lossy(), target.to_string_lossy());
    let middle = name
        .strip_prefix('.')
        .and_then(|name| name.strip_prefix(&*target)?.strip_prefix('.')?.strip_suffix(ENDING));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    middle.and_then(|middle| middle.split_once('-')).is_some_and(|(pid, n)| digits(pid) && digits(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_temporary_files_are_told_from_others() {
        let is = |name: &str| is_temporary(OsStr::new(name), OsStr::new("r.json"));
        assert!(is(".r.json.12-0.tmp") && is(&named(OsStr::new("r.json"), "7-99").to_string_lossy()));
        for other in [
            "r.json",
            ".r.json.tmp",
            ".r.json.x-0.tmp",
            ".r.json.12.tmp",
            "r.json.12-0.tmp",
            ".s.json.12-0.tmp",
        ] {
            assert!(!is(other), "{other}");
        }
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_what_a_living_one_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.json");
        let (dead, living) = (folder.path().join(".r.json.1-0.tmp"), folder.path().join(".r.json.2-0.tmp"));
        fs::write(&dead, "half").unwrap();
        let held = File::create(&living).unwrap();
        held.lock().unwrap();
        let ours = Temporary::beside(&target).unwrap();
        remove_left_over(&target);
        assert!(!dead.exists() && living.exists() && ours.beside.exists());
        drop((ours, held));
        remove_left_over(&target);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
