//! Array files as every family opens them.

use calipers_core::{Error, Result};
use calipers_io::array::{Array, ArrayFile, Arrays, FORMATS, Reader, Source};

/// What the ending of a file name says about the arrays in it.
pub fn reader(name: &str) -> Option<Reader> {
    FORMATS.by_name(name).map(|format| format.reader)
}

/// The sets of named arrays that a file of this name holds, from its bytes.
pub fn open(name: &str, source: Source) -> Result<Vec<Arrays>> {
    match reader(name) {
        Some(Reader::Named(open)) => Ok(vec![open(source)?]),
        Some(Reader::Sets(open)) => open(source),
        Some(Reader::One { .. }) | None => Err(Error::value("no file of named arrays by its ending")
            .found(name)
            .allowed(FORMATS.endings_where(Reader::has_names).join(" "))),
    }
}

/// The only array that a file holds, from its bytes. A name that does not say how it is stored means the
/// first format of single arrays.
pub fn open_one(name: &str, source: Source) -> Result<Box<dyn ArrayFile>> {
    let single = |reader: Reader| match reader {
        Reader::One { open, .. } => Some(open),
        Reader::Named(_) | Reader::Sets(_) => None,
    };
    let first = || FORMATS.iter().find_map(|format| single(format.reader));
    let open = reader(name).and_then(single).or_else(first);
    open.ok_or_else(|| Error::format("no format of single arrays is known"))?(source)
}

/// `stem#i`, zero-padded to the width of the largest number.
pub fn numbered(stem: &str, index: usize, count: usize) -> String {
    let width = count.saturating_sub(1).to_string().len();
    format!("{stem}#{index:0width$}")
}

/// A shape as people write it.
pub fn shape_text(shape: &[u64]) -> String {
    format!("[{}]", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}

/// The shape of an array as messages show it.
pub fn shape(array: &Array) -> String {
    let axes: Vec<String> = array.shape().iter().map(u64::to_string).collect();
    match axes.as_slice() {
        [only] => format!("shape ({only},)"),
        axes => format!("shape ({})", axes.join(", ")),
    }
}

/// An axis as a number of memory; only that of an empty array can be longer.
pub fn axis(length: u64) -> Result<usize> {
    usize::try_from(length).map_err(|_| Error::value("an axis is too long").found(length))
}
