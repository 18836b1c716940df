//! The table of image formats.

use calipers_core::Result;

use super::volume::{metaimage, nifti};
use super::{Image, png, tiff};
use crate::format::{Formats, line};

/// Gives the bytes of a file in the same folder, by its plain name.
pub type Beside<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>>;

/// Decodes a whole file into an image, whose memory is used again. A header without data asks for the file
/// that holds them.
pub type Reader = fn(&[u8], Beside<'_>, &mut Image) -> Result<()>;

/// Every format of label maps.
pub static FORMATS: Formats<Reader> = Formats(&[
    line("png", &[".png"], Some(|bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n")), |bytes, _, image| {
        png::decode(bytes, image)
    }),
    line("tiff", &[".tif", ".tiff"], Some(is_tiff), |bytes, _, image| tiff::decode(bytes, image)),
    line("nifti", &[".nii", ".nii.gz"], None, |bytes, _, image| nifti::decode(bytes, image)),
    line("metaimage", &[".mha", ".mhd"], None, metaimage::decode),
]);

/// Little-endian or big-endian, of 32 or 64 bits.
fn is_tiff(bytes: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| bytes.starts_with(*magic))
}
