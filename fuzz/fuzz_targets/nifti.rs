//! NIfTI volumes: as many elements as the sizes say, the same in a buffer that was used before.
//!
//! Covers: image/nifti.

#![no_main]

use calipers_io::image::volume::nifti;
use calipers_io::image::{Image, Pixels};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut image = Image::default();
    if nifti::decode(bytes, &mut image).is_err() {
        return;
    }
    let length = match image.pixels() {
        Pixels::U8(ids) => ids.len(),
        Pixels::U16(ids) => ids.len(),
        Pixels::I64(ids) => ids.len(),
        Pixels::Rgb(_) => panic!("a volume has no colours"),
    };
    assert_eq!(length, image.shape().iter().product::<usize>());
    let first = image.clone();
    nifti::decode(bytes, &mut image).expect("it was read once");
    assert_eq!(first.pixels(), image.pixels());
});
