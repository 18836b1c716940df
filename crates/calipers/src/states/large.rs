//! States that are joined on the disk: together they may be larger than memory.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use calipers_core::state::join::{Joined, NewScratch};
use calipers_core::state::{Scratch, StateReader, StateWriter};
use calipers_core::{Error, ErrorKind, Result};
use calipers_io::file::{InputFile, ReadAt};

use crate::output::{self, Together};
use crate::registry;

/// How much of all states together is held while they are joined.
const HELD: usize = 64 << 20;
/// The most that is read of a state at once.
const PIECE: usize = 1 << 20;

/// How many bytes states have together.
pub fn size(states: &[PathBuf]) -> Result<u64> {
    states.iter().map(|path| Ok(InputFile::open(path)?.size())).sum()
}

/// Joins states on the disk and writes the state of all their rows, with the bytes that [`merge_all`] would
/// give. Gives what is said of each section; `None`, and writes nothing, where a state is of an older format
/// or has another number of sections than the others.
///
/// [`merge_all`]: super::merge_all
pub fn join(states: &[PathBuf], target: &Path) -> Result<Option<Vec<Joined>>> {
    let piece = (HELD / states.len().max(1)).min(PIECE);
    let readers = states.iter().map(|path| {
        let (shown, size) = (path.display().to_string(), InputFile::open(path)?.size());
        StateReader::new(Again { path: path.clone(), at: 0, size }, size, &shown, piece)
    });
    let mut readers: Vec<StateReader<'_>> = readers.collect::<Result<_>>()?;
    let count = readers.first().map_or(0, StateReader::sections);
    if !readers.iter().all(|reader| reader.is_current() && reader.sections() == count) {
        return Ok(None);
    }
    let mut scratch = || -> Result<Box<dyn Scratch>> { Ok(Box::new(output::scratch(target)?)) };
    let (mut joined, mut failed) = (Vec::new(), None);
    let mut together = Together::default();
    let written = together.write_with(0, target, |out| {
        let done = sections(&mut readers, &mut scratch, out).map(|done| joined = done);
        // The reason is told below: it is more than the system's.
        done.map_err(|error| {
            failed = Some(error);
            io::Error::other("not joined")
        })
    });
    failed.map_or(written, Err)?;
    readers.into_iter().try_for_each(StateReader::finish)?;
    together.rename()?;
    Ok(Some(joined))
}

fn sections(
    states: &mut [StateReader<'_>],
    scratch: &mut NewScratch<'_>,
    out: &mut dyn io::Write,
) -> Result<Vec<Joined>> {
    let unwritable = |error: io::Error| Error::io(format!("cannot write the state: {}", error.kind()));
    let count = states.first().map_or(0, StateReader::sections);
    let mut out = StateWriter::new(out, count).map_err(unwritable)?;
    let mut joined = Vec::new();
    for _ in 0..count {
        let one = section(states, scratch, &mut out);
        // What looks like two protocols or two different rows may be a state that is damaged.
        let damaged = |error| states.iter_mut().fold(error, |error, state| state.damage_or(error));
        joined.push(one.map_err(damaged)?);
    }
    out.finish().map_err(unwritable)?;
    Ok(joined)
}

/// Joins the next section of all states.
fn section(
    states: &mut [StateReader<'_>],
    scratch: &mut NewScratch<'_>,
    out: &mut StateWriter<'_>,
) -> Result<Joined> {
    let mut name: Option<String> = None;
    for state in states.iter_mut() {
        let theirs = state.begin()?;
        match &name {
            None => name = Some(theirs.to_owned()),
            Some(ours) if ours != theirs => return Err(other_protocols(ours, theirs)),
            Some(_) => {}
        }
    }
    (registry::family(&name.unwrap_or_default())?.join)(states, scratch, out)
}

fn other_protocols(ours: &str, theirs: &str) -> Error {
    Error::new(ErrorKind::ProtocolMismatch, "the states hold different protocols")
        .found(format!("{ours} and {theirs}"))
        .advice("merge states of one command, its protocols in the same order")
}

/// A file that is opened for each read: a thousand states need no thousand open files.
struct Again {
    path: PathBuf,
    at: u64,
    size: u64,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = InputFile::open(&self.path).map_err(|error| io::Error::other(error.to_string()))?;
        if file.size() != self.size {
            return Err(io::Error::other("the file was changed while it was read"));
        }
        let more = usize::try_from(self.size - self.at).unwrap_or(usize::MAX).min(buffer.len());
        file.read_exact_at(&mut buffer[..more], self.at)?;
        self.at += more as u64;
        Ok(more)
    }
}
