//! Standard input in the place of a file: read once, as a whole, its format told by its content.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array;
use calipers_io::compress::{self, inflated};
use calipers_io::format::Formats;

use super::walk::Found;
use crate::inputs::role;

/// How standard input is written on the command line and in reports.
pub const SHOWN: &str = "-";

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == SHOWN
}

/// Standard input as a file called `stdin` with an ending of the format that its content is of, arrays or
/// one of these; without one when nothing is recognised. `word` says what it is read as.
pub fn found<R>(word: &str, formats: &Formats<R>) -> Result<Found> {
    read(word, &|bytes| {
        let arrays = array::FORMATS.by_content(bytes).map(|format| format.endings);
        let endings = arrays.or_else(|| formats.by_content(bytes).map(|format| format.endings))?;
        endings.first().copied()
    })
}

/// The same with an ending that its content gives.
pub fn read(word: &str, ending: &dyn Fn(&[u8]) -> Option<&'static str>) -> Result<Found> {
    let mut bytes = Vec::new();
    let mut stream = std::io::stdin().lock();
    if stream.is_terminal() {
        return Err(Error::usage("standard input is a terminal").advice("pipe a file into it"));
    }
    let read = stream.read_to_end(&mut bytes);
    read.map_err(|error| Error::io(format!("cannot read standard input: {}", error.kind())))?;
    held(bytes, word, ending).map_err(|error| error.in_file(SHOWN))
}

fn held(bytes: Vec<u8>, word: &str, ending: &dyn Fn(&[u8]) -> Option<&'static str>) -> Result<Found> {
    if bytes.is_empty() {
        return Err(Error::format("standard input is empty"));
    }
    let compression = compress::FORMATS.by_content(&bytes);
    let ending = ending(&inflated((&bytes[..]).into(), compression)?).unwrap_or_default();
    Ok(Found {
        path: SHOWN.into(),
        shown: SHOWN.into(),
        name: format!("stdin{ending}"),
        compression,
        held: Some(Arc::new(bytes)),
        column: None,
        notes: role(word, None),
    })
}
