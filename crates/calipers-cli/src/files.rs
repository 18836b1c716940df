//! The files that one command writes: all of them, or none.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use calipers::output::Together;
use calipers::{Error, Result};

use crate::emit::note;
use crate::options::is_stream;

/// What a file holds, in the order in which files appear. What is missing when a program is killed between
/// two of them can be made from the state; a new report says that everything is new.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    State,
    PerUnit,
    PerNode,
    Csv,
    Markdown,
    Latex,
    Table,
    Page,
    Json,
}

/// Writes an output.
type Writing<'w> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'w>;

/// Writes an output of a family, whichever worker does it.
pub(crate) type WritingBeside = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// A file that a family writes beside reports.
pub(crate) struct Beside {
    pub(crate) place: Place,
    pub(crate) path: PathBuf,
    pub(crate) write: WritingBeside,
}

/// Outputs that were written beside their targets, and what is printed when all of them are there.
pub(crate) struct Files<'w> {
    together: Together,
    printed: Vec<Writing<'w>>,
    quiet: bool,
}

impl<'w> Files<'w> {
    /// None so far; `quiet` says nothing of them.
    pub(crate) fn new(quiet: bool) -> Self {
        Self { together: Together::default(), printed: Vec::new(), quiet }
    }

    /// Adds text or bytes; `-` is standard output.
    pub(crate) fn put(&mut self, place: Place, path: &Path, contents: impl AsRef<[u8]> + 'w) -> Result<()> {
        self.put_with(place, path, move |out| out.write_all(contents.as_ref()))
    }

    /// The same with whoever writes them.
    pub(crate) fn put_with(
        &mut self,
        place: Place,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()> + 'w,
    ) -> Result<()> {
        if is_stream(path) {
            self.printed.push(Box::new(write));
            return Ok(());
        }
        self.together.write_with(place as usize, path, write)
    }

    /// Lets all files appear, says their names, and prints what is printed.
    pub(crate) fn done(self) -> Result<()> {
        self.together.rename()?.iter().for_each(|path| wrote(path, self.quiet));
        self.printed.into_iter().try_for_each(print)
    }
}

/// Says that a file was written.
pub(crate) fn wrote(path: &Path, quiet: bool) {
    if !quiet && !is_stream(path) {
        note(&format!("wrote {}", path.display()));
    }
}

/// Writes one file, whose name is said, or to standard output.
pub(crate) fn put(path: &Path, contents: impl AsRef<[u8]>, quiet: bool) -> Result<()> {
    let mut files = Files::new(quiet);
    files.put(Place::Json, path, contents)?;
    files.done()
}

/// Writes to standard output. A reader that has gone away, as `head` does, is no error.
fn print(write: Writing<'_>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
