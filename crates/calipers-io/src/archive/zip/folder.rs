//! A zip archive as a folder: its members are the files in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use calipers_core::Result;

use super::Archive;
use crate::archive::{Members, member_path, twice};
use crate::file::ReadAt;

/// The names of members by the paths that they stand for.
struct Folder {
    archive: Archive,
    members: BTreeMap<String, String>,
}

/// Opens a zip archive as a folder.
pub fn folder(source: Arc<dyn ReadAt>) -> Result<Box<dyn Members>> {
    let archive = Archive::open(source, "zip")?;
    let mut members = BTreeMap::new();
    for name in archive.names() {
        let Some(path) = member_path("zip", name.as_bytes())? else { continue };
        if members.insert(path.clone(), name.to_owned()).is_some() {
            return Err(twice("zip", &path));
        }
    }
    Ok(Box::new(Folder { archive, members }))
}

impl Members for Folder {
    fn paths(&self) -> Vec<&str> {
        self.members.keys().map(String::as_str).collect()
    }

    fn size(&self, path: &str) -> Option<u64> {
        self.archive.size(self.members.get(path)?)
    }

    fn open(&self, path: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        let Some(name) = self.members.get(path) else { return Ok(None) };
        Ok(self.archive.read(name)?.map(|bytes| Arc::new(bytes) as Arc<dyn ReadAt>))
    }
}
