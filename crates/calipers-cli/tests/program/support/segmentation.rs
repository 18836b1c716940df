//! Small pictures and score arrays for runs of `calipers segmentation`.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::support::npy;

/// A PNG file: colour type, bits, and the bytes of its rows.
pub fn picture(width: u32, height: u32, colour: png::ColorType, bits: png::BitDepth, rows: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(bits);
    if colour == png::ColorType::Indexed {
        encoder.set_palette(vec![0; 768]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(rows).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A grey PNG of 8 bits.
pub fn grey(width: u32, ids: &[u8]) -> Vec<u8> {
    let height = ids.len() as u32 / width;
    picture(width, height, png::ColorType::Grayscale, png::BitDepth::Eight, ids)
}

/// An npy file of single-precision numbers.
pub fn f32s(shape: &[usize], values: &[f32]) -> Vec<u8> {
    npy("<f4", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// An npy file of bytes.
pub fn u8s(shape: &[usize], values: &[u8]) -> Vec<u8> {
    npy("|u1", shape, values)
}

/// The value of a metric in a report, by its id without the family.
pub fn metric<'a>(report: &'a Json, id: &str) -> &'a Json {
    let full = format!("segmentation.{id}");
    report["metrics"].get(&full).unwrap_or_else(|| panic!("no {full} in the report"))
}

/// The folder of real data, where it exists beside the project.
pub fn real_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/segmentation");
    folder.is_dir().then(|| folder.canonicalize().unwrap())
}
