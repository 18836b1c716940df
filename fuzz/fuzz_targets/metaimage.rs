//! MetaImage volumes: as many elements as the sizes say; a file of data is asked for by a plain name alone.
//!
//! Covers: image/metaimage.

#![no_main]

use calipers_io::image::volume::metaimage;
use calipers_io::image::{Image, Pixels};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut image = Image::default();
    let mut beside = |name: &str| {
        assert!(!name.contains(['/', '\\']) && name != "..");
        Ok(vec![0; 24])
    };
    if metaimage::decode(bytes, &mut beside, &mut image).is_err() {
        return;
    }
    let length = match image.pixels() {
        Pixels::U8(ids) => ids.len(),
        Pixels::U16(ids) => ids.len(),
        Pixels::I64(ids) => ids.len(),
        Pixels::Rgb(_) => panic!("a volume has no colours"),
    };
    assert_eq!(length, image.shape().iter().product::<usize>());
});
