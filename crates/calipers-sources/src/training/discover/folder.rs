//! One folder of the walk, and what is in it.

use std::fs;
use std::path::{Path, PathBuf};

use calipers_core::{Error, Result};
use calipers_io::history::FORMATS;

use super::{Place, joined, text, unread};

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

    /// The names of the files and of the folders in it, in byte order.
    pub(super) fn entries(&self) -> Result<(Vec<String>, Vec<String>)> {
        let cannot = |error: std::io::Error| {
            Error::io(format!("cannot read the folder: {}", error.kind())).in_file(&self.shown)
        };
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.path).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let name = entry.file_name();
            let name = text(Path::new(&name)).map_err(|error| error.in_file(&self.shown))?;
            let kind = entry.file_type().map_err(cannot)?;
            let hidden = name.starts_with('.') && !unread::is_known(name);
            if hidden || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() { &mut folders } else { &mut files }.push(name.to_owned());
        }
        files.sort_unstable();
        folders.sort_unstable();
        Ok((files, folders))
    }
}

/// Whether a folder holds the files of a run of W&B. The tables among its media are not histories of the run.
pub(super) fn is_of_wandb(folder: &Folder) -> bool {
    let log = |name: &String| FORMATS.by_name(name).is_some_and(|format| format.name == "wandb");
    let run = folder.path.parent().filter(|_| folder.path.ends_with("files"));
    let run = run.map(|run| Folder { path: run.into(), shown: String::new(), below: String::new() });
    run.and_then(|run| run.entries().ok()).is_some_and(|(files, _)| files.iter().any(log))
}

/// Every file below a folder, with its path below the run.
pub(super) fn below(folder: &Folder, path: &str, files: &mut Vec<(String, Place)>) -> Result<()> {
    let (names, folders) = folder.entries()?;
    files.extend(names.iter().map(|name| (format!("{path}/{name}"), folder.place(name))));
    folders.iter().try_for_each(|name| below(&folder.folder(name), &format!("{path}/{name}"), files))
}
