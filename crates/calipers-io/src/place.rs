//! Where a path leads: to the disk, to a server, or into an archive that lies on either.
//!
//! `gt.zip` is a folder, and `gt.zip/val/1.png` is a file in it. What really lies on the disk under a name
//! comes first: a folder called `x.zip` is that folder. What has a scheme is an address: `s3://`, `gs://`,
//! `az://`, `http://` or `https://`.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use calipers_core::{Error, Result};

use crate::archive::{self, FORMATS, Members};
use crate::file::{InputFile, ReadAt, cannot_open};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One file.
    File,
    /// A folder, or what is read as one.
    Folder,
}

/// How many archives stay open.
const OPEN: usize = 16;
/// How long the index of an archive on a server is taken for that of the archive.
const FRESH: Duration = Duration::from_secs(600);

/// An archive that was opened.
struct Archive {
    path: PathBuf,
    file: Arc<InputFile>,
    members: Box<dyn Members>,
    opened: Instant,
}

/// The archives that were opened last, so that the index of each is read once and not with every member.
static ARCHIVES: Mutex<Vec<Arc<Archive>>> = Mutex::new(Vec::new());

/// Whether a path is an address.
pub fn is_address(path: &Path) -> bool {
    path.to_str().and_then(scheme).is_some()
}

/// Whether a path is the address of something on a web server.
pub(crate) fn is_web(path: &Path) -> bool {
    matches!(path.to_str().and_then(scheme), Some("http" | "https"))
}

/// The scheme of an address.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (!scheme.is_empty() && scheme.bytes().all(is_plain)).then_some(scheme)
}

/// A path as it is shown: with `/`, and an address without user, password, parameters and fragment.
pub fn shown(path: &str) -> String {
    let Some(scheme) = scheme(path) else { return path.replace(std::path::MAIN_SEPARATOR, "/") };
    let plain = path.split(['?', '#']).next().unwrap_or_default();
    let rest = plain.get(scheme.len() + 3..).unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
}

/// A folder that was shown, as it is given: that of a web server ends with a slash.
pub fn shown_folder(shown: &str) -> String {
    match scheme(shown) {
        Some("http" | "https") => format!("{}/", shown.trim_end_matches('/')),
        _ => shown.to_owned(),
    }
}

/// A path that a file of a folder names: an address stays what it is.
pub fn below(folder: &Path, path: &Path) -> PathBuf {
    if is_address(path) { path.to_path_buf() } else { folder.join(path) }
}

/// What a path leads to; the error says why it leads to nothing.
pub fn kind(path: &Path) -> Result<Kind> {
    if is_address(path) {
        return match inside(path)? {
            Some((archive, inner)) => archive.kind(&inner),
            None => server::kind(path),
        };
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(Kind::Folder),
        Ok(metadata) if metadata.is_file() && is_archive(path) => Ok(Kind::Folder),
        Ok(_) => Ok(Kind::File),
        Err(error) => match inside(path)? {
            Some((archive, inner)) => archive.kind(&inner),
            None => Err(cannot_open(&error).in_file(path.display())),
        },
    }
}

/// Whether a path leads to a folder.
pub fn is_folder(path: &Path) -> bool {
    kind(path).is_ok_and(|kind| kind == Kind::Folder)
}

/// Whether a path leads to a file.
pub fn is_file(path: &Path) -> bool {
    kind(path).is_ok_and(|kind| kind == Kind::File)
}

/// The paths of all files below a folder that is none on the disk, in byte order.
pub fn listing(folder: &Path) -> Result<Option<Vec<String>>> {
    if fs::metadata(folder).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(None);
    }
    let Some((archive, inner)) = inside(folder)? else {
        return if is_address(folder) { server::listing(folder).map(Some) } else { Ok(None) };
    };
    let below = |path: &str| match &*inner {
        "" => Some(path.to_owned()),
        inner => path.strip_prefix(inner)?.strip_prefix('/').map(str::to_owned),
    };
    Ok(Some(archive.members.paths().into_iter().filter_map(below).collect()))
}

/// Opens a file that is none on the disk; `None` where the path leads into no archive.
pub(crate) fn open(path: &Path) -> Result<Option<InputFile>> {
    let Some((archive, inner)) = inside(path)? else {
        return if is_address(path) { server::open(path).map(Some) } else { Ok(None) };
    };
    match archive.members.open(&inner).map_err(|error| error.in_file(path.display()))? {
        Some(member) => Ok(Some(InputFile::member(member, &archive.file))),
        None if archive.kind(&inner)? == Kind::Folder => {
            Err(Error::io("not a regular file").in_file(path.display()).found("a folder").allowed("a file"))
        }
        None => Err(archive.nothing_at(&inner)),
    }
}

impl Archive {
    fn open(path: &Path) -> Result<Self> {
        // The file itself: what it is read as is the folder.
        let file = Arc::new(if is_address(path) { server::open(path)? } else { InputFile::open(path)? });
        let name = archive_name(path);
        let members = archive::open(&name, Arc::clone(&file) as Arc<dyn ReadAt>);
        let members = members.map_err(|error| error.in_file(shown(&path.display().to_string())))?;
        Ok(Self { path: path.to_path_buf(), file, members, opened: Instant::now() })
    }

    fn kind(&self, inner: &str) -> Result<Kind> {
        if self.members.size(inner).is_some() {
            return Ok(Kind::File);
        }
        let holds = |path: &&str| path.strip_prefix(inner).is_some_and(|rest| rest.starts_with('/'));
        if inner.is_empty() || self.members.paths().iter().any(holds) {
            return Ok(Kind::Folder);
        }
        Err(self.nothing_at(inner))
    }

    /// The error for a path that no member has.
    fn nothing_at(&self, inner: &str) -> Error {
        let paths = self.members.paths();
        let mut top: Vec<&str> = paths.iter().filter_map(|path| path.split('/').next()).collect();
        // In byte order of paths, `gt.txt` stands before `gt/1`.
        top.sort_unstable();
        top.dedup();
        let others = if top.len() > 5 { format!(" and {} more", top.len() - 5) } else { String::new() };
        Error::io("the archive holds no such file or folder")
            .in_file(format!("{}/{inner}", shown(&self.path.display().to_string())))
            .allowed(format!("what begins with {}{others}", top[..top.len().min(5)].join(", ")))
            .advice("check the path behind the archive's name")
    }
}

/// The archive that a path leads into, and the path in it.
fn inside(path: &Path) -> Result<Option<(Arc<Archive>, String)>> {
    for outer in path.ancestors().filter(|outer| is_archive(outer)) {
        if is_address(outer) {
            let inner = path.strip_prefix(outer).unwrap_or(Path::new("")).to_string_lossy();
            return Ok(Some((on_server(outer)?, inner.trim_matches('/').to_owned())));
        }
        let Ok(metadata) = fs::metadata(outer).map(|metadata| metadata.is_file().then_some(metadata)) else {
            continue;
        };
        let Some(metadata) = metadata else { continue };
        let inner = path.strip_prefix(outer).unwrap_or(Path::new("")).to_string_lossy();
        let inner = inner.replace(std::path::MAIN_SEPARATOR, "/");
        return Ok(Some((opened(outer, &metadata)?, inner.trim_end_matches('/').to_owned())));
    }
    Ok(None)
}

fn is_archive(path: &Path) -> bool {
    FORMATS.by_name(&archive_name(path)).is_some()
}

/// The last part of a path, of an address without its parameters.
fn archive_name(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if is_address(path) { shown_name(name) } else { name.to_owned() }
}

fn shown_name(name: &str) -> String {
    name.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// The archive at an address. Its index is read once in a while: whatever is read of it later must be of the
/// same object, or is an error.
fn on_server(address: &Path) -> Result<Arc<Archive>> {
    let mut archives = ARCHIVES.lock().unwrap_or_else(PoisonError::into_inner);
    let fresh = |archive: &Arc<Archive>| archive.path == address && archive.opened.elapsed() < FRESH;
    if let Some(known) = archives.iter().rposition(fresh) {
        return Ok(Arc::clone(&archives[known]));
    }
    let archive = Arc::new(Archive::open(address)?);
    archives.retain(|archive| archive.path != address);
    if archives.len() == OPEN {
        archives.remove(0);
    }
    archives.push(Arc::clone(&archive));
    Ok(archive)
}

/// Files and folders on servers.
#[cfg(feature = "remote")]
mod server {
    use super::{InputFile, Kind, Path, Result, shown};
    use crate::remote::files::{self, Address};

    fn address(path: &Path) -> Result<(Address, &str)> {
        let text = path.to_str().unwrap_or_default();
        Ok((Address::parse(text)?, text))
    }

    pub(super) fn kind(path: &Path) -> Result<Kind> {
        let (address, text) = address(path)?;
        files::kind(&address, text)
    }

    pub(super) fn listing(path: &Path) -> Result<Vec<String>> {
        files::listing(&address(path)?.0)
    }

    pub(super) fn open(path: &Path) -> Result<InputFile> {
        let (address, text) = address(path)?;
        let (bytes, stamp) = files::open(&address).map_err(|error| error.in_file(shown(text)))?;
        Ok(InputFile::served(bytes, stamp))
    }
}

/// Without the feature no address is read.
#[cfg(not(feature = "remote"))]
mod server {
    use super::{Error, InputFile, Kind, Path, Result, shown};

    fn refused(path: &Path) -> Error {
        Error::usage("built without remote: addresses are not read")
            .found(shown(&path.display().to_string()))
            .advice("build with the feature remote, or download the files")
    }

    pub(super) fn kind(path: &Path) -> Result<Kind> {
        Err(refused(path))
    }

    pub(super) fn listing(path: &Path) -> Result<Vec<String>> {
        Err(refused(path))
    }

    pub(super) fn open(path: &Path) -> Result<InputFile> {
        Err(refused(path))
    }
}

/// The archive at a path, with its index. One that was opened before and has not changed is the same.
fn opened(path: &Path, now: &Metadata) -> Result<Arc<Archive>> {
    let mut archives = ARCHIVES.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |archive: &Arc<Archive>| {
        archive.path == path
            && (archive.file.size(), archive.file.modified()) == (now.len(), now.modified().ok())
    };
    if let Some(known) = archives.iter().rposition(same) {
        return Ok(Arc::clone(&archives[known]));
    }
    let archive = Arc::new(Archive::open(path)?);
    archives.retain(|archive| archive.path != path);
    if archives.len() == OPEN {
        archives.remove(0);
    }
    archives.push(Arc::clone(&archive));
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn zip(path: &Path, members: &[(&str, &str)]) {
        let mut out = Vec::new();
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(&mut out));
        for (name, content) in members {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(content.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        fs::write(path, out).unwrap();
    }

    #[test]
    fn a_path_may_lead_into_an_archive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.ZIP");
        zip(&path, &[("gt/val/1.txt", "one"), ("gt/2.txt", "two"), ("gt.txt", "three"), ("in.zip", "PK")]);
        assert_eq!(kind(&path).unwrap(), Kind::Folder);
        for (inner, expected) in [("gt", Kind::Folder), ("gt/val", Kind::Folder), ("gt/2.txt", Kind::File)] {
            assert_eq!(kind(&path.join(inner)).unwrap(), expected, "{inner}");
        }
        assert_eq!(listing(&path.join("gt/")).unwrap().unwrap(), ["2.txt", "val/1.txt"]);
        assert_eq!(listing(folder.path()).unwrap(), None);
        assert_eq!(InputFile::open(&path.join("gt/val/1.txt")).unwrap().read_all().unwrap(), b"one");
        let error = InputFile::open(&path.join("pred/1.txt")).unwrap_err().to_string();
        assert!(error.contains("begins with gt, gt.txt, in.zip"), "{error}");
        assert!(InputFile::open(&path.join("gt")).unwrap_err().to_string().contains("a folder"));
        assert!(InputFile::open(&path.join("in.zip/a")).is_err(), "an archive inside one is no folder");
    }

    #[test]
    fn a_folder_that_is_called_like_an_archive_is_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("a"), "1").unwrap();
        assert_eq!((kind(&path).unwrap(), kind(&path.join("a")).unwrap()), (Kind::Folder, Kind::File));
        assert_eq!(listing(&path).unwrap(), None);
    }

    #[test]
    fn an_archive_that_was_written_again_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        zip(&path, &[("a", "old")]);
        let open = InputFile::open(&path.join("a")).unwrap();
        zip(&path, &[("a", "newer"), ("b", "")]);
        assert_eq!(InputFile::open(&path.join("a")).unwrap().read_all().unwrap(), b"newer");
        assert!(open.unchanged().is_err());
    }
}
