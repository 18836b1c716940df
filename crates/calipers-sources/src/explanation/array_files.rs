//! Array files as records: npz, safetensors and PyTorch.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use calipers_io::array::{Arrays, Source};

use super::keys::{MASK_PTR, PTR, UNIT};
use super::record::{Record, Unit, is_outline, is_read, under};
use super::stored::Stored;
use crate::array_file;
use crate::walk::Found;

/// Everything in a file. Keys that nothing uses are noted, not decoded.
pub(super) fn read(found: &Found, source: Source) -> Result<Record> {
    let arrays = open(found, source)?;
    let mut stored = BTreeMap::new();
    for key in arrays.keys() {
        if is_read(&key) {
            let array = arrays.get(&key)?.ok_or_else(|| Error::format("an array is missing"))?;
            stored.insert(key.clone(), Stored::new(&array).map_err(under(&key))?);
        } else if !is_outline(&key) {
            stored.insert(key, Stored::nothing());
        }
    }
    Record::new(stored, unit(&arrays)?)
}

/// The names and boundaries of the units alone.
pub(super) fn outline(found: &Found, source: Source) -> Result<Record> {
    let arrays = open(found, source)?;
    let mut stored = BTreeMap::new();
    for key in [PTR, MASK_PTR] {
        if let Some(array) = arrays.get(key)? {
            stored.insert(key.to_owned(), Stored::new(&array).map_err(under(key))?);
        }
    }
    Record::new(stored, unit(&arrays)?)
}

fn open(found: &Found, source: Source) -> Result<Arrays> {
    let mut containers = array_file::open(&found.name, source)?;
    match (containers.pop(), containers.len()) {
        (Some(arrays), 0) => Ok(arrays),
        (_, more) => Err(Error::value("the file must hold one dict of tensors")
            .found(format!("a list of {}", more + usize::from(more > 0)))
            .advice("save each unit to a file of its own, or all of them as a batch with `mask_ptr`")),
    }
}

fn unit(arrays: &Arrays) -> Result<Unit> {
    let Some(array) = arrays.get(UNIT)? else { return Ok(Unit::Unnamed) };
    match (array.texts(), array.shape()) {
        (Some(names), [_]) => Ok(Unit::Several(names.to_vec())),
        _ => Err(Error::value("`unit` must be a list of names")
            .at("key unit")
            .found(format!("{} {:?}", array.dtype().name(), array.shape()))
            .allowed("text with one axis")),
    }
}
