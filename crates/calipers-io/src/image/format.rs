//! The table of image formats.

use calipers_core::Result;

use super::{Image, png, tiff};
use crate::format::{Format, Formats};

/// Decodes a whole file into an image, whose memory is used again.
pub type Reader = fn(&[u8], &mut Image) -> Result<()>;

/// Every format of label maps.
pub static FORMATS: Formats<Reader> = Formats(&[
    Format {
        name: "png",
        endings: &[".png"],
        magic: |bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        reader: png::decode,
    },
    Format {
        name: "tiff",
        endings: &[".tif", ".tiff"],
        magic: |bytes| bytes.starts_with(b"II*\0") || bytes.starts_with(b"MM\0*"),
        reader: tiff::decode,
    },
]);
