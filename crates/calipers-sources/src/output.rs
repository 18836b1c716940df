//! Output files: written beside their target and renamed, so that a reader sees the old file or
//! the new one, whole.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use calipers_core::{Error, Result, stop};

/// How much is collected before it is handed to the system.
const BUFFER: usize = 1 << 16;

/// The temporary files that this program has not yet renamed.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished(change: impl FnOnce(&mut BTreeSet<PathBuf>)) {
    change(&mut TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Removes what was not finished: call it where the program ends in the middle.
pub fn remove_temporaries() {
    unfinished(|files| {
        for file in std::mem::take(files) {
            // Nothing better can be done about a file that cannot be removed.
            let _ = fs::remove_file(file);
        }
    });
}

/// Removes a temporary file that is not wanted.
fn removed(beside: &Path) -> io::Result<()> {
    let done = fs::remove_file(beside);
    unfinished(|files| _ = files.remove(beside));
    done
}

/// Fails early where writing to `path` cannot succeed: the folder is missing or cannot be written
/// to, or the target is a folder or a link. Call it before long work.
pub fn check(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(Error::io("the output is a folder").in_file(path.display()).advice("name a file"));
        }
        Ok(metadata) if metadata.is_symlink() => {
            return Err(Error::io("the output is a symbolic link, which is not followed")
                .in_file(path.display())
                .advice("name the file itself"));
        }
        _ if is_stream(path) => return Ok(()),
        _ => {}
    }
    let (beside, file) = create_beside(path)?;
    drop(file);
    removed(&beside).map_err(|error| failed(path, "remove the temporary file", &error))
}

/// Replaces `path` with `bytes`, all of them or none.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |out| out.write_all(bytes))
}

/// Replaces `path` with what `write` writes, all of it or nothing. What is made while the program ends means
/// nothing, and is not put there.
pub fn write_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    put(path, write, || if stop::is_ending() { Err(interrupted(path)) } else { Ok(()) })
}

/// Replaces `path` with bytes that were finished before the program was told to end.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> Result<()> {
    put(path, |out| out.write_all(bytes), || Ok(()))
}

fn interrupted(path: &Path) -> Error {
    stop::interrupted().in_file(path.display())
}

fn put(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    still_wanted: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if is_stream(path) {
        let stream = OpenOptions::new().write(true).open(path);
        let mut stream =
            BufWriter::with_capacity(BUFFER, stream.map_err(|error| failed(path, "open", &error))?);
        let written = write(&mut stream).and_then(|()| stream.flush());
        return written.map_err(|error| failed(path, "write", &error));
    }
    let (beside, file) = create_beside(path)?;
    let mut file = BufWriter::with_capacity(BUFFER, file);
    let written = write(&mut file)
        .and_then(|()| file.flush())
        .and_then(|()| file.get_ref().sync_all())
        .map_err(|error| failed(path, "write", &error))
        .and_then(|()| still_wanted())
        .and_then(|()| fs::rename(&beside, path).map_err(|error| failed(path, "replace", &error)));
    if written.is_err() {
        // Nothing better can be done about a temporary file that cannot be removed either.
        let _ = removed(&beside);
        return written;
    }
    unfinished(|files| _ = files.remove(&beside));
    sync_folder(path);
    written
}

/// Whether the path is a device or a pipe: these are written to and never replaced by a file, which
/// would be the end of `/dev/null` for everyone on the machine.
fn is_stream(path: &Path) -> bool {
    let kind = fs::symlink_metadata(path).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir() && !kind.is_symlink())
}

/// A new file in the folder of `path` that no one else has open.
fn create_beside(path: &Path) -> Result<(PathBuf, File)> {
    let name =
        path.file_name().ok_or_else(|| Error::io("the output has no file name").in_file(path.display()))?;
    for attempt in 0..100u32 {
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let beside = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => {
                unfinished(|files| _ = files.insert(beside.clone()));
                return Ok((beside, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(path, "create", &error)),
        }
    }
    Err(Error::io("cannot find a free temporary name").in_file(path.display()))
}

fn failed(path: &Path, step: &str, error: &io::Error) -> Error {
    // The number behind the reason is the system's.
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    Error::io(format!("cannot {step} the output: {reason}")).in_file(path.display())
}

/// Makes the rename itself durable where the platform can.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        // Some file systems cannot sync a folder; the data itself is already safe.
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("report.json");
        write(&target, b"old").unwrap();
        write(&target, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(write(&folder.path().join("missing/report.json"), b"x").is_err());
        assert!(write(folder.path(), b"x").is_err());
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        check(&pipe).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write(&pipe, b"report").unwrap();
        assert_eq!(reader.join().unwrap(), b"report");
        assert!(is_stream(&pipe));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn impossible_targets_are_refused_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check(folder.path()).is_err());
        assert!(check(&folder.path().join("missing/x")).is_err());
        check(&folder.path().join("x")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
