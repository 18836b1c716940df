//! npy files: one array, read whole or one part of a row at a time.

use std::sync::Arc;

use calipers_core::{Error, Result};

use self::header::{Header, PREFIX};
use super::{
    Array, ArrayFile, Dtype, Matrix, buffer, dtype, element_count, empty_file, first_element, read_at,
    read_range,
};
use crate::file::ReadAt;

mod header;
mod slab;
mod write;

pub use write::write_to;
pub(super) use write::{written_elements, written_header};

/// An open npy file of which only the header has been read.
struct NpyFile {
    source: Arc<dyn ReadAt>,
    header: Header,
}

impl NpyFile {
    /// Reads elements that follow each other in the file, as little-endian bytes.
    fn read_stored(&self, element: u64, bytes: &mut [u8]) -> Result<()> {
        read_at(&*self.source, bytes, self.header.start + element * self.header.item as u64)?;
        if self.header.big_endian {
            dtype::swap_bytes(bytes, self.header.item);
        }
        Ok(())
    }
}

/// Opens a file, of which only the header is read.
pub fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn ArrayFile>> {
    let size = source.size();
    if size == 0 {
        return Err(empty_file());
    }
    let prefix = read_range(&*source, 0, size.min(PREFIX as u64))?;
    let (begin, end) = header::span(&prefix, size)?;
    let text = read_range(&*source, begin as u64, (end - begin) as u64)?;
    let header = Header::parse(&text, begin, size)?;
    Ok(Box::new(NpyFile { source, header }))
}

/// Bytes read at once: small enough for the cache, large enough for the disk.
const BLOCK: usize = 64 << 10;

impl Matrix for NpyFile {
    fn dtype(&self) -> Dtype {
        self.header.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.header.shape
    }

    fn read_row(&self, row: u64, start: u64, out: &mut [i64]) -> Result<()> {
        let first = first_element(&self.header.shape, row, start, out.len())?;
        dtype::whole_numbers(self.header.dtype)?;
        let Header { dtype, item, fortran, ref shape, .. } = self.header;
        // In Fortran order a column lies together: whole columns are read and one row of them kept.
        let stride = if fortran { shape[0] } else { 1 };
        let column = usize::try_from(stride).ok().and_then(|n| n.checked_mul(item));
        let Some(column) = column.filter(|column| *column <= BLOCK) else {
            return self.read_scattered(row, start, stride, out, first);
        };
        let (per_block, skip) = (BLOCK / column, if fortran { row as usize * item } else { 0 });
        let mut bytes = buffer(out.len().min(per_block) * column, 0)?;
        for (block, out) in out.chunks_mut(per_block).enumerate() {
            let done = (block * per_block) as u64;
            let bytes = &mut bytes[..out.len() * column];
            self.read_stored(if fortran { (start + done) * stride } else { first + done }, bytes)?;
            if column > item {
                for index in 0..out.len() {
                    bytes.copy_within(index * column + skip..index * column + skip + item, index * item);
                }
            }
            dtype::to_i64s(dtype, bytes, out, first + done)?;
        }
        Ok(())
    }
}

impl ArrayFile for NpyFile {
    fn read_all(&self) -> Result<Array> {
        let start = self.header.start;
        decode(&self.header, read_range(&*self.source, start, self.source.size() - start)?, 0)
    }

    fn read_slab(&self, index: u64) -> Result<Array> {
        slab::read(self, index)
    }
}

impl NpyFile {
    /// One row of a Fortran-order matrix whose columns are longer than a block.
    fn read_scattered(&self, row: u64, start: u64, stride: u64, out: &mut [i64], first: u64) -> Result<()> {
        let mut bytes = buffer(self.header.item, 0)?;
        for (index, slot) in out.iter_mut().enumerate() {
            let index = index as u64;
            self.read_stored((start + index) * stride + row, &mut bytes)?;
            dtype::to_i64s(self.header.dtype, &bytes, std::slice::from_mut(slot), first + index)?;
        }
        Ok(())
    }
}

/// Parses a whole npy file.
pub fn parse(bytes: &[u8]) -> Result<Array> {
    let header = header_in(bytes)?;
    decode(&header, bytes[header.start as usize..].to_vec(), 0)
}

/// Parses a whole npy file and keeps its bytes, so that nothing is copied.
pub fn parse_owned(bytes: Vec<u8>) -> Result<Array> {
    let header = header_in(&bytes)?;
    decode(&header, bytes, header.start as usize)
}

fn header_in(bytes: &[u8]) -> Result<Header> {
    if bytes.is_empty() {
        return Err(empty_file());
    }
    let size = bytes.len() as u64;
    let (begin, end) = header::span(&bytes[..bytes.len().min(PREFIX)], size)?;
    Header::parse(&bytes[begin..end], begin, size)
}

/// The array of a header from bytes that hold its elements from `start`.
fn decode(header: &Header, mut bytes: Vec<u8>, start: usize) -> Result<Array> {
    let reorder = header.fortran && header.shape.len() > 1 && element_count(&header.shape) != Some(0);
    if header.dtype == Dtype::Text {
        let mut texts = decode_texts(header, &bytes[start..])?;
        if reorder {
            texts = fortran_order(&header.shape).map(|index| texts[index].clone()).collect();
        }
        return Ok(Array::from_texts(header.shape.clone(), texts));
    }
    if header.big_endian {
        dtype::swap_bytes(&mut bytes[start..], header.item);
    }
    if reorder {
        let bytes = in_c_order(header.item, &bytes[start..], &header.shape)?;
        return Ok(Array::from_bytes(header.dtype, header.shape.clone(), bytes));
    }
    Ok(Array::from_tail(header.dtype, header.shape.clone(), bytes, start))
}

/// Elements of `item` bytes, stored in Fortran order, in C order.
fn in_c_order(item: usize, stored: &[u8], shape: &[u64]) -> Result<Vec<u8>> {
    match item {
        1 => gather::<1>(stored, shape),
        2 => gather::<2>(stored, shape),
        4 => gather::<4>(stored, shape),
        _ => gather::<8>(stored, shape),
    }
}

fn gather<const N: usize>(stored: &[u8], shape: &[u64]) -> Result<Vec<u8>> {
    let mut out = buffer(stored.len(), 0)?;
    let elements = stored.as_chunks::<N>().0;
    for (slot, index) in out.as_chunks_mut::<N>().0.iter_mut().zip(fortran_order(shape)) {
        *slot = elements[index];
    }
    Ok(out)
}

/// For each element in C order, its number in Fortran order. No axis may be empty.
fn fortran_order(shape: &[u64]) -> impl Iterator<Item = usize> {
    let strides: Vec<u64> = shape
        .iter()
        .scan(1, |stride, axis| {
            let own = *stride;
            *stride *= axis;
            Some(own)
        })
        .collect();
    let mut place = vec![0; shape.len()];
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let current: u64 = next?;
        let mut moved = current;
        next = None;
        for axis in (0..shape.len()).rev() {
            place[axis] += 1;
            moved += strides[axis];
            if place[axis] < shape[axis] {
                next = Some(moved);
                break;
            }
            moved -= strides[axis] * shape[axis];
            place[axis] = 0;
        }
        Some(current as usize)
    })
}

/// Fixed-width text, padded with NUL: 4 bytes per character, or UTF-8 when it was stored as bytes.
fn decode_texts(header: &Header, bytes: &[u8]) -> Result<Vec<String>> {
    let element = |(index, item): (usize, &[u8])| {
        let text = if header.wide_text { wide_text(item, header.big_endian) } else { narrow_text(item) };
        text.ok_or_else(|| Error::format("npy: the text is not valid Unicode").at(format!("element {index}")))
    };
    bytes.chunks_exact(header.item).enumerate().map(element).collect()
}

fn wide_text(item: &[u8], big_endian: bool) -> Option<String> {
    let code = |c: &[u8; 4]| if big_endian { u32::from_be_bytes(*c) } else { u32::from_le_bytes(*c) };
    let codes: Vec<u32> = item.as_chunks::<4>().0.iter().map(code).collect();
    let used = codes.iter().rposition(|c| *c != 0).map_or(0, |last| last + 1);
    codes[..used].iter().map(|c| char::from_u32(*c)).collect()
}

fn narrow_text(item: &[u8]) -> Option<String> {
    let used = item.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    String::from_utf8(item[..used].to_vec()).ok()
}
