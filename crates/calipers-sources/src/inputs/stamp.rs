//! How a later change of a file is noticed.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use calipers_io::file::{InputFile, ReadAt};

/// What changes with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) bytes: u64,
    /// When it was changed, in nanoseconds.
    pub(crate) modified: i64,
}

impl Stamp {
    pub(super) fn of(file: &InputFile) -> Option<Self> {
        Self::new(file.size(), file.modified()?)
    }

    /// That of the file at a path today; none where there is no such file.
    pub(crate) fn at(path: &str) -> Option<Self> {
        match std::fs::metadata(path) {
            Ok(metadata) => Self::new(metadata.len(), metadata.modified().ok()?),
            Err(_) => Self::of(&InputFile::open(Path::new(path)).ok()?),
        }
    }

    fn new(bytes: u64, modified: SystemTime) -> Option<Self> {
        let since = modified.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { bytes, modified: i64::try_from(since.as_nanos()).ok()? })
    }
}
