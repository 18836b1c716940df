//! The table of image formats.

use calipers_core::Result;

use super::{Image, png, tiff};
use crate::format::{Formats, line};

/// Decodes a whole file into an image, whose memory is used again.
pub type Reader = fn(&[u8], &mut Image) -> Result<()>;

/// Every format of label maps.
pub static FORMATS: Formats<Reader> = Formats(&[
    line("png", &[".png"], Some(|bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n")), png::decode),
    line("tiff", &[".tif", ".tiff"], Some(is_tiff), tiff::decode),
]);

/// Little-endian or big-endian, of 32 or 64 bits.
fn is_tiff(bytes: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| bytes.starts_with(*magic))
}
