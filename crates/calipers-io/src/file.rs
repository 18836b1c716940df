//! Regular files, opened once and read at positions.
//!
//! Never memory-mapped: a file that is cut while it is mapped kills the process, a short read is
//! an error with a name.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use calipers_core::{Error, Result, stop};

use crate::{memory, place};

/// Bytes that can be read at any position, by several readers at once.
pub trait ReadAt: Send + Sync {
    /// How many bytes there are.
    fn size(&self) -> u64;
    /// Fills the buffer from `offset`, or fails.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).ok().filter(|start| *start <= self.len());
        let bytes = start.and_then(|start| self[start..].get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buffer, offset)
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(buffer, offset)
    }
}

/// How much is read before it is asked whether the work is still wanted.
pub const STRETCH: usize = 1 << 20;

/// A regular file that is open for reading: on the disk, or in an archive.
pub struct InputFile {
    origin: Origin,
    size: u64,
    modified: Option<SystemTime>,
}

/// Where the bytes of a file come from.
enum Origin {
    Disk(File),
    /// A member, and the archive that it is of; without one what a server gives, which compares each part
    /// with the first.
    Member(Arc<dyn ReadAt>, Option<Arc<InputFile>>),
}

impl fmt::Debug for InputFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a file of {} bytes", self.size)
    }
}

impl InputFile {
    /// Opens a regular file. Folders, pipes and devices are refused before anything is read.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = path.display();
        let cannot = |error: io::Error| cannot_open(&error).in_file(path.display());
        // A pipe would block inside `open`, so that its kind is asked for first and again after.
        let before = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return place::open(path)?.ok_or_else(|| cannot(error)),
        };
        regular(&before).map_err(|error| error.in_file(&shown))?;
        let file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        regular(&metadata).map_err(|error| error.in_file(&shown))?;
        Ok(Self { size: metadata.len(), modified: metadata.modified().ok(), origin: Origin::Disk(file) })
    }

    /// The same file once more, where that takes no opening: of an archive or a server.
    pub fn again(&self) -> Option<Self> {
        let Origin::Member(bytes, archive) = &self.origin else { return None };
        let origin = Origin::Member(Arc::clone(bytes), archive.clone());
        Some(Self { origin, size: self.size, modified: self.modified })
    }

    /// A member of an archive. It changes when the archive does.
    pub(crate) fn member(bytes: Arc<dyn ReadAt>, archive: &Arc<Self>) -> Self {
        let (size, modified) = (bytes.size(), archive.modified);
        Self { origin: Origin::Member(bytes, Some(Arc::clone(archive))), size, modified }
    }

    /// A file on a server; `stamp` is another one when the file has changed.
    #[cfg(feature = "remote")]
    pub(crate) fn served(bytes: Arc<dyn ReadAt>, stamp: SystemTime) -> Self {
        Self { size: bytes.size(), origin: Origin::Member(bytes, None), modified: Some(stamp) }
    }

    /// When it was changed, where the system says so.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// All bytes.
    pub fn read_all(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// All bytes, in place of what the buffer held.
    pub fn read_into(&self, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let length =
            usize::try_from(self.size).map_err(|_| Error::io("the file is too large for this machine"))?;
        memory::ask("the file", self.size)?;
        bytes
            .try_reserve_exact(length)
            .map_err(|_| Error::io("not enough memory for the file").found(format!("{length} bytes")))?;
        match &self.origin {
            Origin::Disk(file) => {
                let mut left = file.take(self.size);
                loop {
                    stop::wanted()?;
                    let read = left.by_ref().take(STRETCH as u64).read_to_end(bytes);
                    if read.map_err(cannot_read)? == 0 {
                        break;
                    }
                }
            }
            Origin::Member(member, _) => {
                stop::wanted()?;
                bytes.resize(length, 0);
                member.read_exact_at(bytes, 0).map_err(cannot_read)?;
            }
        }
        self.unchanged()?;
        if bytes.len() == length { Ok(()) } else { Err(changed()) }
    }

    /// Fails when the file was changed since it was opened.
    pub fn unchanged(&self) -> Result<()> {
        let file = match &self.origin {
            Origin::Disk(file) => file,
            Origin::Member(_, Some(archive)) => return archive.unchanged(),
            Origin::Member(_, None) => return Ok(()),
        };
        let metadata =
            file.metadata().map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
        if metadata.len() == self.size && metadata.modified().ok() == self.modified {
            Ok(())
        } else {
            Err(changed())
        }
    }

    /// Fails when the path leads to another file by now.
    pub fn is_at(&self, path: &Path) -> Result<()> {
        let cannot = |error: io::Error| cannot_open(&error);
        let Origin::Disk(file) = &self.origin else { return self.unchanged() };
        let there = std::fs::metadata(path).map_err(cannot)?;
        let here = file.metadata().map_err(cannot)?;
        if same(&there, &here) { Ok(()) } else { Err(changed()) }
    }
}

#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.len(), one.modified().ok()) == (other.len(), other.modified().ok())
}

/// The error for a path that cannot be opened.
pub fn cannot_open(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::io("cannot open: there is no such file or folder")
            .advice("check the path; it is taken from the folder the program was started in"),
        kind => Error::io(format!("cannot open the file: {kind}")).advice("check who may read it"),
    }
}

/// The error for bytes that cannot be read: that of a server, where one says more than the system does.
pub fn cannot_read(error: io::Error) -> Error {
    let kind = error.kind();
    let told = error.into_inner().and_then(|inner| inner.downcast::<Error>().ok());
    told.map_or_else(|| Error::io(format!("cannot read the file: {kind}")), |told| *told)
}

/// The error for a file without content.
pub fn empty() -> Error {
    Error::format("empty file").found("0 bytes").advice("write or copy the file again")
}

fn changed() -> Error {
    Error::io("the file changed while it was read").advice("wait until it is written, then run again")
}

fn regular(metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let found = if metadata.is_dir() { "a folder" } else { "a pipe, socket or device" };
    Err(Error::io("not a regular file").found(found).allowed("a file"))
}

impl ReadAt for InputFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        let file = match &self.origin {
            Origin::Disk(file) => file,
            Origin::Member(member, _) => {
                return member.read_exact_at(buffer, offset);
            }
        };
        for stretch in buffer.chunks_mut(STRETCH) {
            if stop::asked() {
                return Err(io::Error::other("interrupted"));
            }
            read_stretch(file, stretch, offset)?;
            offset += stretch.len() as u64;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn read_stretch(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_stretch(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[read..];
        offset += read as u64;
    }
    Ok(())
}
