//! TIFF label maps: as many pixels as the size says, the same in a buffer that was used before.
//!
//! Covers: image/tiff.

#![no_main]

use calipers_io::image::{Image, Pixels, tiff};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut image = Image::default();
    if tiff::decode(bytes, &mut image).is_err() {
        return;
    }
    let length = match image.pixels() {
        Pixels::U8(ids) => ids.len(),
        Pixels::U16(ids) => ids.len(),
        Pixels::I64(ids) => ids.len(),
        Pixels::Rgb(colours) => colours.len(),
    };
    assert_eq!(length, image.width() * image.height());
    let first = image.clone();
    tiff::decode(bytes, &mut image).expect("it was read once");
    assert_eq!(first.pixels(), image.pixels());
});
