//! Archives as folders: their members by path, each read when it is asked for.
//!
//! A zip or tar is read once for its index, then its members at random. Nothing is unpacked to the disk,
//! and an archive inside an archive is a file like any other.

mod tar;
pub mod zip;

use std::borrow::Cow;
use std::sync::Arc;

use calipers_core::{Error, Result};

use crate::compress;
use crate::file::ReadAt;
use crate::format::{Formats, line};
use crate::limits;

/// An open archive.
pub trait Members: Send + Sync {
    /// The paths of its files, with `/`, in byte order.
    fn paths(&self) -> Vec<&str>;
    /// How long the file at a path is; `None` where there is none.
    fn size(&self, path: &str) -> Option<u64>;
    /// The bytes of the file at a path; `None` where there is none.
    fn open(&self, path: &str) -> Result<Option<Arc<dyn ReadAt>>>;
}

/// Reads the index of an archive.
pub type Reader = fn(Arc<dyn ReadAt>) -> Result<Box<dyn Members>>;

/// Every format of archives.
pub static FORMATS: Formats<Reader> = Formats(&[
    line("zip", &[".zip"], Some(|bytes| bytes.starts_with(b"PK")), zip::folder),
    line("tar", &[".tar"], Some(tar::begins), |source| Ok(Box::new(tar::Tar::open(source)?))),
    line("tar.gz", &[".tar.gz", ".tgz"], Some(|bytes| bytes.starts_with(b"\x1f\x8b")), compressed_tar),
]);

/// Opens an archive of this name, whose ending and first bytes must agree.
pub fn open(name: &str, source: Arc<dyn ReadAt>) -> Result<Box<dyn Members>> {
    let Some(format) = FORMATS.by_name(name) else {
        return Err(Error::value("no archive by its ending")
            .found(name)
            .allowed(FORMATS.endings().join(" ")));
    };
    let head = crate::array::read_range(&*source, 0, source.size().min(tar::BLOCK as u64))?;
    match FORMATS.by_content(&head) {
        Some(other) if other != format => Err(Error::format("the ending and the content disagree")
            .found(format!("{other} by the first bytes, {format} by the ending"))
            .advice("give the file the ending of what it is")),
        _ => (format.reader)(source),
    }
}

fn compressed_tar(source: Arc<dyn ReadAt>) -> Result<Box<dyn Members>> {
    let packed = crate::array::read_range(&*source, 0, source.size())?;
    let gzip = compress::FORMATS.called("gzip");
    let bytes = compress::inflated(Cow::Owned(packed), gzip)
        .map_err(|error| error.advice("gunzip it, or write a zip"))?;
    Ok(Box::new(tar::Tar::open(Arc::new(bytes.into_owned()))?))
}

/// The path of a member as a file of a folder; `None` for the entry of a folder. Nothing is written to a
/// disk, but a path that would leave the archive is a sign of harm.
pub(crate) fn member_path(format: &str, name: &[u8]) -> Result<Option<String>> {
    let refused = |why: &str| {
        let shown: String = String::from_utf8_lossy(name).chars().take(80).collect();
        Err(Error::format(format!("{format}: the path of a member is not allowed: {why}"))
            .at(format!("member {shown}"))
            .advice("write the archive again, from inside the folder"))
    };
    let Ok(text) = std::str::from_utf8(name) else { return refused("it is not UTF-8") };
    if text.len() > limits::NAME {
        return refused("it is too long");
    }
    let mut path = text;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    let (path, is_folder) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
    // The archive's own top: `./`, which the loop above took off, or `.`.
    if path.is_empty() && !text.is_empty() && !text.starts_with('/') || path == "." {
        return Ok(None);
    }
    match () {
        () if path.is_empty() => return refused("it is empty"),
        () if path.starts_with('/') => return refused("it is absolute"),
        () if path.contains('\\') || path.chars().any(char::is_control) => return refused("\\ or NUL in it"),
        () => {}
    }
    match path.split('/').find(|part| matches!(*part, "" | "." | "..")) {
        Some("..") => refused("it holds .."),
        Some(_) => refused("an empty part"),
        None => Ok((!is_folder).then(|| path.to_owned())),
    }
}

/// The error for two members of one path.
fn twice(format: &str, path: &str) -> Error {
    Error::format(format!("{format}: two members have one name"))
        .at(format!("member {path}"))
        .advice("write the archive again, each file once")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_members_stay_inside_the_archive() {
        let path = |name: &str| member_path("zip", name.as_bytes());
        assert_eq!(path("./a/b.png").unwrap().as_deref(), Some("a/b.png"));
        for folder in ["a/", "./", ".", "a/b/"] {
            assert_eq!(path(folder).unwrap(), None, "{folder}");
        }
        let long = "x".repeat(limits::NAME + 1);
        for (name, why) in [
            ("", "empty"),
            ("/etc/passwd", "absolute"),
            ("a/../../b", ".."),
            ("..", ".."),
            ("a//b", "empty part"),
            ("a\\b", "\\"),
            ("C:\\x", "\\"),
            ("a\0b", "NUL"),
            (&long, "too long"),
        ] {
            let error = path(name).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("member "), "{name}: {error}");
        }
        assert!(member_path("zip", b"\xff").is_err());
    }

    #[test]
    fn an_ending_that_disagrees_with_the_content_is_refused_naming_both() {
        let gzip: Arc<dyn ReadAt> = Arc::new(b"\x1f\x8b\x08 and so on".to_vec());
        let error = open("x.zip", gzip).map(drop).unwrap_err().to_string();
        assert!(error.contains("tar.gz by the first bytes, zip by the ending"), "{error}");
    }
}
