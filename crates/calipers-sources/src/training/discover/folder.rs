//! One folder of the walk.

use std::fs;
use std::path::PathBuf;

use calipers_io::history::FORMATS;
use calipers_io::place;

use super::{Place, joined};

/// One folder of the walk.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) shown: String,
    /// Its path below the given one.
    pub(super) below: String,
}

impl Folder {
    pub(super) fn place(&self, name: &str) -> Place {
        Place { path: self.path.join(name), shown: format!("{}/{name}", self.shown) }
    }

    pub(super) fn folder(&self, name: &str) -> Self {
        let place = self.place(name);
        Self { path: place.path, shown: place.shown, below: joined(&self.below, name) }
    }
}

/// Whether a folder holds the files of a run of W&B. The tables among its media are not histories of the run.
pub(super) fn is_of_wandb(folder: &Folder) -> bool {
    let is_log = |name: &str| FORMATS.by_name(name).is_some_and(|format| format.name == "wandb");
    let Some(run) = folder.path.parent().filter(|_| folder.path.ends_with("files")) else { return false };
    if let Ok(Some(files)) = place::listing(run) {
        return files.iter().any(|file| !file.contains('/') && is_log(file));
    }
    let entries = fs::read_dir(run);
    entries.is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_str().is_some_and(is_log)))
}
