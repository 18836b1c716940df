//! Which flips of a folder are finished, and the settings they were made with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use calipers::reproduce::settings::{Settings, same};
use calipers::{Error, Result, output};

const FILE: &str = "settings.json";

/// The settings of every file of flips in a folder.
pub(super) struct Finished {
    path: PathBuf,
    by_file: BTreeMap<String, Settings>,
}

impl Finished {
    /// Reads what a folder says about its flips.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let by_file = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Err(
                    Error::io(format!("cannot read the file: {}", error.kind())).in_file(path.display())
                );
            }
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                Error::format("not the settings of flips").in_file(path.display()).found(error)
            })?,
        };
        Ok(Self { path, by_file })
    }

    /// Whether a file is there and, resuming, made with these settings. A file that is there is refused
    /// otherwise.
    pub(super) fn has(&self, file: &Path, settings: &Settings, resume: bool) -> Result<bool> {
        if !file.is_file() {
            output::check(file)?;
            return Ok(false);
        }
        if !resume {
            return Err(Error::value("the output exists")
                .in_file(file.display())
                .advice("name another folder, or go on with what is there: --resume"));
        }
        match self.by_file.get(&name(file)) {
            Some(made) => same(file, made, settings).map(|()| true),
            None => Err(Error::value("the flips are there, but not the settings they were made with")
                .in_file(file.display())
                .advice("name another folder")),
        }
    }

    /// Writes down what a file is going to be made with.
    pub(super) fn announce(&mut self, file: &Path, settings: &Settings) -> Result<()> {
        self.by_file.insert(name(file), settings.clone());
        let text = serde_json::to_string_pretty(&self.by_file).map_err(|error| {
            Error::io(format!("cannot write the settings: {error}")).in_file(self.path.display())
        })?;
        output::write(&self.path, format!("{text}\n").as_bytes())
    }
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
