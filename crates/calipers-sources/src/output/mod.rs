//! Output files: written beside their target and renamed, so that a reader sees the old file or
//! the new one, whole.
//!
//! ```text
//! temporary  a file beside its target    together  several outputs of one command
//! ```

mod temporary;
mod together;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use calipers_core::{Error, Result, stop};
use calipers_io::place;

pub use self::temporary::{Scratch, remove_temporaries};
use self::temporary::{Temporary, remove_left_over, renaming};
pub use self::together::Together;

/// How much is collected before it is handed to the system.
const BUFFER: usize = 1 << 16;

/// Fails where a path is an address.
pub fn is_local(path: &Path) -> Result<()> {
    match place::is_address(path) {
        true => Err(Error::usage("an output is an address: outputs are local")
            .found(place::shown(&path.display().to_string()))
            .advice("name a file on this machine, and copy it afterwards")),
        false => Ok(()),
    }
}

/// What a path leads to, however it is spelled: a file by its place on the disk, one that does not exist yet by its
/// folder and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// A file that is there: its device and number.
    There(u64, u64),
    /// A file that is there or not, where the system has no such numbers: its whole path.
    At(PathBuf),
}

impl Identity {
    /// What the path leads to; nothing for devices and pipes, which many may write to, and where there is no
    /// such folder.
    pub fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Self::of_file(path, &metadata),
            Ok(metadata) if metadata.is_dir() => path.canonicalize().ok().map(Self::At),
            Ok(_) => None,
            Err(_) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
                Some(Self::At(folder.join(path.file_name()?)))
            }
        }
    }

    #[cfg(unix)]
    fn of_file(_: &Path, metadata: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self::There(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn of_file(path: &Path, _: &fs::Metadata) -> Option<Self> {
        path.canonicalize().ok().map(Self::At)
    }
}

/// Fails early where writing to `path` cannot succeed: the folder is missing or cannot be written
/// to, or the target is a folder or a link. Call it before long work.
pub fn check(path: &Path) -> Result<()> {
    is_local(path)?;
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
    remove_left_over(path);
    Temporary::beside(path).map(drop)
}

/// Replaces `path` with `bytes`, all of them or none.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |out| out.write_all(bytes))
}

/// Replaces `path` with what `write` writes, all of it or nothing. What is made while the program ends means
/// nothing, and is not put there.
pub fn write_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut alone = Together::default();
    alone.write_with(0, path, write)?;
    alone.rename().map(drop)
}

/// Replaces `path` with bytes that were finished before the program was told to end.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = together::written(path, |out| out.write_all(bytes))?;
    let _renaming = renaming();
    temporary.rename()?;
    sync_folder(path);
    Ok(())
}

fn interrupted(path: &Path) -> Error {
    stop::interrupted().in_file(path.display())
}

fn to_stream(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let stream = OpenOptions::new().write(true).open(path);
    let mut stream = BufWriter::with_capacity(BUFFER, stream.map_err(|error| failed(path, "open", &error))?);
    let written = write(&mut stream).and_then(|()| stream.flush());
    written.map_err(|error| failed(path, "write", &error))
}

/// A file beside a target for what waits to be written into it. It is gone when it is dropped.
pub fn scratch(target: &Path) -> Result<Scratch> {
    Temporary::beside(target).map(Scratch)
}

/// Whether the path is a device or a pipe: these are written to and never replaced by a file, which
/// would be the end of `/dev/null` for everyone on the machine.
fn is_stream(path: &Path) -> bool {
    let kind = fs::symlink_metadata(path).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir() && !kind.is_symlink())
}

fn failed(path: &Path, step: &str, error: &io::Error) -> Error {
    // The number behind the reason is the system's.
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    Error::io(format!("cannot {step} the output: {reason}")).in_file(path.display())
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the rename itself durable where the platform can.
fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
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
