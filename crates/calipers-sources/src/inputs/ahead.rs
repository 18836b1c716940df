//! Files on servers that planning has looked into: kept open until they are measured, so that a small file
//! costs one request.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use calipers_core::Result;
use calipers_io::file::{InputFile, ReadAt};

use super::{Inputs, locked};
use crate::walk::Found;

/// Files up to this size are kept, as one request has fetched them whole.
const SMALL: u64 = 1 << 20;
/// How many bytes of such files are kept in all.
const KEPT: u64 = 64 << 20;

/// Open files, by their paths as they are shown.
#[derive(Debug, Default)]
pub(super) struct Ahead(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    files: BTreeMap<String, InputFile>,
    bytes: u64,
}

impl Ahead {
    fn keep(&self, shown: &str, file: InputFile) {
        let mut open = locked(&self.0);
        if file.size() <= SMALL && open.bytes + file.size() <= KEPT {
            open.bytes += file.size();
            open.files.insert(shown.to_owned(), file);
        }
    }

    /// One that stays kept.
    fn again(&self, shown: &str) -> Option<InputFile> {
        locked(&self.0).files.get(shown)?.again()
    }

    fn take(&self, shown: &str) -> Option<InputFile> {
        let mut open = locked(&self.0);
        let file = open.files.remove(shown)?;
        open.bytes -= file.size();
        Some(file)
    }
}

impl Inputs {
    /// How many workers look into files while units are found: several where they wait for a server.
    pub(crate) fn openers(&self, threads: usize) -> usize {
        if self.are_far() { self.workers(threads) } else { 1 }
    }

    /// Opens a file to see which units it holds. It is no input before it is measured.
    pub(crate) fn look_into(&self, found: &Found) -> Result<Arc<dyn ReadAt>> {
        if found.held.is_some() || !self.are_far() {
            return found.open();
        }
        if let Some(known) = self.ahead.again(&found.shown) {
            return found.decompressed(Arc::new(known));
        }
        let file = InputFile::open(&found.path)?;
        if let Some(again) = file.again() {
            self.ahead.keep(&found.shown, again);
        }
        found.decompressed(Arc::new(file))
    }

    /// Opens a file, or takes one that was looked into.
    pub(super) fn opened(&self, path: &Path, shown: &str) -> Result<InputFile> {
        let known = self.ahead.take(shown);
        known.map_or_else(|| InputFile::open(path), Ok).map_err(|error| error.in_file(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_are_kept_for_one_reader_and_large_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: u64| {
            let path = folder.path().join(name);
            std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
            InputFile::open(&path).unwrap()
        };
        let ahead = Ahead::default();
        ahead.keep("small", file("small", 5));
        ahead.keep("large", file("large", SMALL + 1));
        assert_eq!(ahead.take("small").map(|file| file.size()), Some(5));
        assert!(ahead.take("small").is_none() && ahead.take("large").is_none());
        (0..=KEPT / SMALL).for_each(|number| ahead.keep(&number.to_string(), file("full", SMALL)));
        assert!(ahead.take(&(KEPT / SMALL).to_string()).is_none(), "there is no more room");
        assert!(ahead.take("0").is_some());
    }
}
