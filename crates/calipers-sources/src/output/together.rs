//! Several outputs of one command: all are written, then all are renamed.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use calipers_core::{Error, ErrorKind, Result, stop};

use super::temporary::{Temporary, remove_left_over, renaming};
use super::{BUFFER, failed, is_stream, sync_folder, to_stream};

/// Outputs that appear together, as far as a file system allows: each is whole and on the disk beside its
/// target before the first is renamed.
#[derive(Debug, Default)]
pub struct Together {
    written: Vec<(usize, Temporary)>,
}

impl Together {
    /// Writes an output beside its target. They are renamed by `order`, whatever the order of writing.
    /// A device or a pipe is written to at once.
    pub fn write_with(
        &mut self,
        order: usize,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if is_stream(path) {
            return to_stream(path, write);
        }
        remove_left_over(path);
        let temporary = written(path, write)?;
        self.written.push((order, temporary));
        Ok(())
    }

    /// Puts all of them in the places of their targets; gives these in their order. What is made while the
    /// program ends means nothing, and is not put there.
    pub fn rename(mut self) -> Result<Vec<PathBuf>> {
        self.written.sort_by_key(|(order, _)| *order);
        let _renaming = renaming();
        if stop::is_ending() {
            let first = self.written.first().map(|(_, temporary)| temporary.target());
            return Err(first.map_or_else(stop::interrupted, super::interrupted));
        }
        let targets: Vec<PathBuf> =
            self.written.iter().map(|(_, temporary)| temporary.target().to_owned()).collect();
        for (done, (_, temporary)) in self.written.iter().enumerate() {
            temporary.rename().map_err(|error| partly(error, &targets[..done], &targets[done..]))?;
        }
        targets.iter().for_each(|path| sync_folder(path));
        Ok(targets)
    }
}

/// What stands in the message of a rename that failed after others.
fn partly(error: Error, done: &[PathBuf], missing: &[PathBuf]) -> Error {
    if done.is_empty() && missing.len() < 2 {
        return error;
    }
    let names = |paths: &[PathBuf]| {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    };
    let kind = match error.kind() {
        ErrorKind::Io => error,
        _ => Error::io(error.to_string()),
    };
    kind.found(format!("written: {}; not written: {}", names(done), names(missing)))
}

/// A temporary file with everything in it, on the disk.
pub(super) fn written(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Temporary> {
    let temporary = Temporary::beside(path)?;
    let mut file = BufWriter::with_capacity(BUFFER, temporary.file());
    let done = write(&mut file).and_then(|()| file.flush());
    drop(file);
    let done = done.and_then(|()| temporary.file().sync_all());
    done.map_err(|error| failed(path, "write", &error))?;
    Ok(temporary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(together: &mut Together, order: usize, path: &Path) {
        together.write_with(order, path, |out| out.write_all(b"new")).unwrap();
    }

    #[test]
    fn nothing_is_there_before_everything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&a, "old").unwrap();
        let mut together = Together::default();
        put(&mut together, 2, &a);
        put(&mut together, 1, &b);
        assert!(fs::read(&a).unwrap() == b"old" && !b.exists());
        assert_eq!(together.rename().unwrap(), [b.clone(), a.clone()]);
        assert!(fs::read(&a).unwrap() == b"new" && fs::read(&b).unwrap() == b"new");
        let mut given_up = Together::default();
        put(&mut given_up, 0, &folder.path().join("c"));
        drop(given_up);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no litter");
    }

    #[test]
    fn a_rename_that_fails_names_what_is_there_and_what_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        let mut together = Together::default();
        for (order, path) in [&a, &b, &c].into_iter().enumerate() {
            put(&mut together, order, path);
        }
        fs::create_dir(&b).unwrap();
        let error = together.rename().unwrap_err().to_string();
        let (written, missing) = error.split_once("not written: ").unwrap();
        assert!(written.contains(&*a.to_string_lossy()), "{error}");
        assert!(
            missing.contains(&*b.to_string_lossy()) && missing.contains(&*c.to_string_lossy()),
            "{error}"
        );
        assert!(a.is_file() && !c.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no litter");
    }
}
