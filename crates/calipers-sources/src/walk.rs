//! Which files a path on the command line stands for, and what the units in them are called.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use calipers_core::{Error, Notes, Result};
use calipers_io::column;
use calipers_io::compress::{self, Compression, inflated};
use calipers_io::file::{InputFile, ReadAt, cannot_read};
use calipers_io::place::{self, Kind};

use crate::inputs::{Inputs, role, role_of_column};
use crate::tree::Tree;

/// One file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// Its path as given on the command line, with `/`.
    pub shown: String,
    /// Its path below the given folder, or its file name; without `.gz` and `.bz2`.
    pub name: String,
    /// How it is compressed.
    pub compression: Compression,
    /// Its bytes, where it is no file on the disk.
    pub held: Option<Arc<Vec<u8>>>,
    /// The column whose rows are units, where one was named.
    pub column: Option<String>,
    /// What it is read as.
    pub notes: Notes,
}

impl Found {
    fn new(path: PathBuf, shown: String, relative: &str, notes: &Notes) -> Self {
        let compression = compress::FORMATS.by_name(relative);
        let name = compress::FORMATS.stem(relative).to_owned();
        Self { path, shown, name, compression, held: None, column: None, notes: Arc::clone(notes) }
    }

    /// A file of the same folder and compression whose name is `stem` and an ending.
    pub fn beside(&self, stem: &str, ending: &str) -> Option<Self> {
        let held = self.held.is_some();
        let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let compressed = last(&self.shown).strip_prefix(&last(&self.name)).unwrap_or_default().to_owned();
        let file = format!("{}{ending}{compressed}", last(stem));
        let folder = self.shown.rfind('/').map_or("", |slash| &self.shown[..=slash]);
        let (path, shown) = (self.path.with_file_name(&file), format!("{folder}{file}"));
        (!held).then(|| Self { path, shown, name: format!("{stem}{ending}"), held: None, ..self.clone() })
    }

    /// Opens it for positioned reads of what it holds.
    pub fn open(&self) -> Result<Arc<dyn ReadAt>> {
        match &self.held {
            Some(bytes) => self.decompressed(Arc::<Vec<u8>>::clone(bytes)),
            None => self.decompressed(Arc::new(InputFile::open(&self.path)?)),
        }
    }

    /// The bytes of the open file without their compression, which takes them into memory.
    pub fn decompressed(&self, source: Arc<dyn ReadAt>) -> Result<Arc<dyn ReadAt>> {
        if self.compression.is_none() {
            return Ok(source);
        }
        let mut bytes = vec![0; source.size() as usize];
        source.read_exact_at(&mut bytes, 0).map_err(cannot_read)?;
        Ok(Arc::new(inflated(bytes.into(), self.compression)?.into_owned()))
    }
}

/// The file itself, or the files of a folder, searched through, whose names are wanted; in byte
/// order of their names. `word` says what they are read as; what is passed over is counted in `inputs`.
pub fn files(given: &Path, word: &str, inputs: &Inputs, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Found>> {
    let shown = place::shown(text(given)?);
    inputs.come_from(given);
    if let Some((file, column)) = column::address(given) {
        let shown = place::shown(text(&file)?);
        let name = shown.rsplit('/').next().unwrap_or_default().to_owned();
        let found = Found::new(file, shown, &name, &role_of_column(word, &column));
        return Ok(vec![Found { column: Some(column), ..found }]);
    }
    if place::kind(given).map_err(|error| error.in_file(&shown))? == Kind::File {
        let name = match place::is_address(given) {
            // Without parameters, which are no part of a name.
            true => shown.rsplit('/').next().unwrap_or_default().to_owned(),
            false => text(Path::new(given.file_name().unwrap_or(given.as_os_str())))?.to_owned(),
        };
        return Ok(vec![Found::new(given.to_path_buf(), shown, &name, &role(word, None))]);
    }
    let root = shown.trim_end_matches('/');
    let notes = role(word, Some(given_folder(&shown)));
    let found = below(given, inputs, &|name| wanted(compress::FORMATS.stem(name)))?
        .into_iter()
        .map(|relative| Found::new(given.join(&relative), format!("{root}/{relative}"), &relative, &notes));
    // What was not measured is not even opened when a report is verified.
    Ok(found.filter(|found| inputs.may_read(&found.shown)).collect())
}

/// A given folder as inputs note it: without a slash at the end, unless it is nothing else.
pub fn given_folder(shown: &str) -> &str {
    match shown.trim_end_matches('/') {
        "" => "/",
        folder => folder,
    }
}

/// The paths below a folder, with `/`, of the files in it whose names are wanted; in byte order. What is
/// passed over is counted in `inputs`.
pub fn below(folder: &Path, inputs: &Inputs, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>> {
    let tree = Tree::read(folder, inputs)?;
    let (found, others): (Vec<String>, Vec<String>) =
        tree.files().partition(|path| wanted(path.rsplit('/').next().unwrap_or(path)));
    tree.pass_over(others.iter().map(String::as_str), inputs);
    Ok(found)
}

/// A path as text.
pub(crate) fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::io("a file name is not UTF-8").in_file(path.display()).advice("rename the file")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn compression_is_no_part_of_a_name() {
        let name = "snap/facebook_0.edges.gr.BZ2";
        let found = Found::new(PathBuf::from(name), name.into(), name, &Notes::default());
        assert_eq!(found.name, "snap/facebook_0.edges.gr");
        assert_eq!(found.compression, compress::FORMATS.called("bzip2"));
    }

    #[test]
    fn a_folder_is_searched_through_in_byte_order_and_what_is_passed_over_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        for name in ["b.npz", "a.npz.gz", "sub/c.npz", "readme.md", "notes.md", "LICENSE", ".hidden.npz"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let (inputs, wanted) = (Inputs::default(), |name: &str| name.contains(".npz"));
        let found = files(folder.path(), "input", &inputs, &wanted).unwrap();
        let names: Vec<String> = found.into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["a.npz", "b.npz", "sub/c.npz"]);
        assert_eq!(inputs.passed_over(), ["passed over: 1 hidden, 2 .md, 1 without an ending"]);
    }
}
