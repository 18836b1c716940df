//! The table of array formats.

use std::sync::Arc;

use calipers_core::Result;

use super::{Array, ArrayFile, Arrays, npy, npz, pt, safetensors};
use crate::file::ReadAt;
use crate::format::{Format, Formats, ending_count, endings, line};

/// The bytes of a file, of which a reader may ask for parts.
pub type Source = Arc<dyn ReadAt>;

/// What a file of arrays holds, and how it is opened. Arrays are decoded when they are asked for.
#[derive(Clone, Copy)]
pub enum Reader {
    /// A single array without a name.
    One {
        /// Opens it for reading parts.
        open: fn(Source) -> Result<Box<dyn ArrayFile>>,
        /// Decodes it whole from bytes that are kept.
        decode: fn(Vec<u8>) -> Result<Array>,
    },
    /// Arrays by name.
    Named(fn(Source) -> Result<Arrays>),
    /// One set of arrays by name, or a list of such sets.
    Sets(fn(Source) -> Result<Vec<Arrays>>),
}

const LINES: [Format<Reader>; 4] = [
    line("npy", &[".npy"], Some(is_npy), Reader::One { open: npy::open, decode: npy::parse_owned }),
    line("npz", &[".npz"], Some(|bytes| is_archive(bytes) && !is_torch(bytes)), Reader::Named(npz::open)),
    line("safetensors", &[".safetensors"], Some(is_safetensors), Reader::Named(safetensors::open)),
    line("pt", &[".pt", ".pth"], Some(is_torch), Reader::Sets(pt::open)),
];

/// Every format of arrays.
pub static FORMATS: Formats<Reader> = Formats(&LINES);

/// The endings of all of them, for tables of data that arrays can hold too.
pub(crate) static ENDINGS: [&str; ending_count(&LINES)] = endings(&LINES);

impl Reader {
    /// Whether a file holds arrays by name.
    pub fn has_names(&self) -> bool {
        !matches!(self, Self::One { .. })
    }
}

fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x93NUMPY")
}

fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK")
}

/// An archive whose first member is no npy file; one without members is an empty npz file.
fn is_torch(bytes: &[u8]) -> bool {
    is_archive(bytes) && first_member(bytes).is_some_and(|name| !name.ends_with(b".npy"))
}

/// The name of the first member of a zip archive.
fn first_member(bytes: &[u8]) -> Option<&[u8]> {
    let length = u16::from_le_bytes(*bytes.get(26..)?.first_chunk()?);
    bytes.starts_with(b"PK\x03\x04").then(|| bytes.get(30..30 + usize::from(length)))?
}

/// The length of the header, then a header that fits into the file.
fn is_safetensors(bytes: &[u8]) -> bool {
    bytes.split_first_chunk().is_some_and(|(length, header)| {
        u64::from_le_bytes(*length) <= header.len() as u64 && header.starts_with(b"{")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_told_apart_by_their_first_member() {
        let archive = |name: &str| {
            let mut bytes = b"PK\x03\x04".to_vec();
            bytes.resize(26, 0);
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend([0; 2]);
            bytes.extend(name.as_bytes());
            bytes
        };
        let format = |bytes: &[u8]| FORMATS.by_content(bytes).map(|format| format.name);
        assert_eq!(format(&archive("edge_index.npy")), Some("npz"));
        assert_eq!(format(&archive("archive/data.pkl")), Some("pt"));
        assert_eq!(format(b"PK\x05\x06"), Some("npz"));
        assert_eq!(format(&archive("x.npy")[..32]), Some("npz"));
    }

    #[test]
    fn a_header_that_does_not_fit_is_no_safetensors_file() {
        let format = |bytes: &[u8]| FORMATS.by_content(bytes).map(|format| format.name);
        assert_eq!(format(b"\x02\0\0\0\0\0\0\0{}"), Some("safetensors"));
        assert_eq!(format(b"\xff\xff\xff\xff\xff\xff\xff\xff{"), None);
        assert_eq!(format(b"\x93NUMPY\x01\x00"), Some("npy"));
    }
}
