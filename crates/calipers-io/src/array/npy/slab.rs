//! One slab of the leading axis of a large npy file, without the others.

use calipers_core::{Error, Result};

use super::{BLOCK, NpyFile, in_c_order};
use crate::array::{Array, Dtype, buffer, byte_count, element_count, out_of_memory};

/// The elements `[index, ..]` of a file. Only they are read in C order; in Fortran order they lie
/// apart and the whole file is passed over.
pub(super) fn read(file: &NpyFile, index: u64) -> Result<Array> {
    let header = &file.header;
    let Some((&slabs, shape)) = header.shape.split_first().filter(|(slabs, _)| index < **slabs) else {
        return Err(Error::value("the slab lies outside the array")
            .found(index)
            .allowed(format!("inside shape {:?}", header.shape)));
    };
    if header.dtype == Dtype::Text {
        return Err(Error::value("the array must hold numbers").found(header.dtype.name()));
    }
    let length = byte_count(shape, header.item).and_then(|bytes| usize::try_from(bytes).ok());
    let mut bytes = buffer(length.ok_or_else(|| out_of_memory(u64::MAX))?, 0)?;
    let elements = element_count(shape).unwrap_or(0);
    if !header.fortran || slabs == 1 {
        file.read_stored(index * elements, &mut bytes)?;
    } else {
        file.collect(index, slabs, &mut bytes)?;
    }
    if header.fortran && shape.len() > 1 && elements > 0 {
        bytes = in_c_order(header.item, &bytes, shape)?;
    }
    Ok(Array::from_bytes(header.dtype, shape.to_vec(), bytes))
}

impl NpyFile {
    /// Every `slabs`-th element from `index`: one slab of a file in Fortran order, in that order.
    fn collect(&self, index: u64, slabs: u64, out: &mut [u8]) -> Result<()> {
        let item = self.header.item;
        let group = usize::try_from(slabs).ok().and_then(|slabs| slabs.checked_mul(item));
        let Some(group) = group.filter(|group| *group <= BLOCK) else {
            for (number, element) in out.chunks_mut(item).enumerate() {
                self.read_stored(index + number as u64 * slabs, element)?;
            }
            return Ok(());
        };
        let (per_block, skip) = (BLOCK / group, index as usize * item);
        let mut block = buffer(per_block * group, 0)?;
        for (number, out) in out.chunks_mut(per_block * item).enumerate() {
            let block = &mut block[..out.len() / item * group];
            self.read_stored((number * per_block) as u64 * slabs, block)?;
            for (element, group) in out.chunks_mut(item).zip(block.chunks(group)) {
                element.copy_from_slice(&group[skip..skip + item]);
            }
        }
        Ok(())
    }
}
