//! Which files a path on the command line stands for, and what the units in them are called.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calipers_core::{Error, Notes, Result};
use calipers_io::compress::{self, Compression, inflated};
use calipers_io::file::{InputFile, ReadAt, cannot_open};

use crate::inputs::role;

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
    /// What it is read as.
    pub notes: Notes,
}

impl Found {
    fn new(path: PathBuf, shown: String, relative: &str, notes: &Notes) -> Self {
        let compression = compress::FORMATS.by_name(relative);
        let name = compress::FORMATS.stem(relative).to_owned();
        Self { path, shown, name, compression, held: None, notes: Arc::clone(notes) }
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
        source
            .read_exact_at(&mut bytes, 0)
            .map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
        Ok(Arc::new(inflated(bytes.into(), self.compression)?.into_owned()))
    }
}

/// The file itself, or the files of a folder, searched through, whose names are wanted; in byte
/// order of their names. Hidden files are passed over. `word` says what they are read as.
pub fn files(given: &Path, word: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Found>> {
    let shown = text(given)?.replace(std::path::MAIN_SEPARATOR, "/");
    let metadata = fs::metadata(given).map_err(|error| cannot_open(&error).in_file(&shown))?;
    if !metadata.is_dir() {
        let name = text(Path::new(given.file_name().unwrap_or(given.as_os_str())))?.to_owned();
        return Ok(vec![Found::new(given.to_path_buf(), shown, &name, &role(word, None))]);
    }
    let root = shown.trim_end_matches('/');
    let notes = role(word, Some(given_folder(&shown)));
    let found = below(given, &|name| wanted(compress::FORMATS.stem(name)))?
        .into_iter()
        .map(|relative| Found::new(given.join(&relative), format!("{root}/{relative}"), &relative, &notes));
    Ok(found.collect())
}

/// A given folder as inputs note it: without a slash at the end, unless it is nothing else.
pub fn given_folder(shown: &str) -> &str {
    match shown.trim_end_matches('/') {
        "" => "/",
        folder => folder,
    }
}

/// The paths below a folder, with `/`, of the files in it whose names are wanted; in byte order.
/// Hidden files are passed over.
pub fn below(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>> {
    let mut found = Vec::new();
    search(folder, "", wanted, &mut found)?;
    found.sort_unstable();
    Ok(found)
}

fn search(folder: &Path, below: &str, wanted: &dyn Fn(&str) -> bool, found: &mut Vec<String>) -> Result<()> {
    let cannot = |error: std::io::Error| {
        Error::io(format!("cannot read the folder: {}", error.kind())).in_file(folder.display())
    };
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let file_name = entry.file_name();
        let name = text(Path::new(&file_name)).map_err(|error| error.in_file(folder.display()))?;
        if name.starts_with('.') {
            continue;
        }
        let relative = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        let kind = entry.file_type().map_err(cannot)?;
        if kind.is_dir() {
            search(&entry.path(), &relative, wanted, found)?;
        } else if wanted(name) {
            if kind.is_symlink() {
                return Err(Error::io("a symbolic link inside a folder is not followed")
                    .in_file(entry.path().display())
                    .advice("copy the file, or give its own folder"));
            }
            found.push(relative);
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::io("a file name is not UTF-8").in_file(path.display()).advice("rename the file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_no_part_of_a_name() {
        let name = "snap/facebook_0.edges.gr.BZ2";
        let found = Found::new(PathBuf::from(name), name.into(), name, &Notes::default());
        assert_eq!(found.name, "snap/facebook_0.edges.gr");
        assert_eq!(found.compression, compress::FORMATS.called("bzip2"));
    }

    #[test]
    fn a_folder_is_searched_through_in_byte_order_and_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        for name in ["b.npz", "a.npz.gz", "sub/c.npz", "readme.md", ".hidden.npz"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let wanted = |name: &str| name.contains(".npz");
        let names: Vec<String> =
            files(folder.path(), "input", &wanted).unwrap().into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["a.npz", "b.npz", "sub/c.npz"]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("b.npz", folder.path().join("z.npz")).unwrap();
            assert!(files(folder.path(), "input", &wanted).unwrap_err().to_string().contains("z.npz"));
        }
    }
}
