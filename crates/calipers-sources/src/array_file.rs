//! Array files as every family opens them.

use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array::npy::NpyFile;
use calipers_io::array::{Array, Arrays, npz, pt, safetensors};
use calipers_io::compress::{Compression, inflate};
use calipers_io::file::ReadAt;
use calipers_io::limits;

use crate::walk::{Found, has_ending};

/// The containers of an array file, from its bytes.
pub fn open(found: &Found, source: Arc<dyn ReadAt>) -> Result<Vec<Arrays>> {
    let source = inflated(found, source)?;
    if has_ending(&found.name, ".safetensors") {
        Ok(vec![safetensors::open(source)?])
    } else if has_ending(&found.name, ".pt") {
        pt::open(source)
    } else {
        Ok(vec![npz::open(source)?])
    }
}

/// A single array, from an npy file.
pub fn open_npy(found: &Found, source: Arc<dyn ReadAt>) -> Result<NpyFile> {
    NpyFile::open(inflated(found, source)?)
}

fn inflated(found: &Found, source: Arc<dyn ReadAt>) -> Result<Arc<dyn ReadAt>> {
    if found.compression == Compression::None {
        return Ok(source);
    }
    let mut bytes = vec![0; source.size() as usize];
    source
        .read_exact_at(&mut bytes, 0)
        .map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
    Ok(Arc::new(inflate(&bytes, found.compression, limits::INFLATED)?))
}

/// `stem#i`, zero-padded to the width of the largest number.
pub fn numbered(stem: &str, index: usize, count: usize) -> String {
    let width = count.saturating_sub(1).to_string().len();
    format!("{stem}#{index:0width$}")
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
