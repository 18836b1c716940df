//! NIfTI and MetaImage label volumes: what other programs write, and damage.

use std::io::Write;

use calipers_core::{Error, Result};
use calipers_io::image::{FORMATS, Geometry, Image, Pixels};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

/// x, y and z.
const SIZES: [usize; 3] = [4, 3, 2];

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/volumes/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a fixture")
}

fn decode(name: &str, bytes: &[u8]) -> Result<Image> {
    let mut image = Image::default();
    let mut beside = |name: &str| match name {
        "labels.raw" | "labels_zlib.zraw" => Ok(fixture(name)),
        _ => Err(Error::io("there is no such file").found(name)),
    };
    (FORMATS.by_name(name).expect("a known ending").reader)(bytes, &mut beside, &mut image).map(|()| image)
}

fn refusal(name: &str, bytes: &[u8]) -> String {
    decode(name, bytes).expect_err("damage").to_string()
}

fn numbers(image: &Image) -> Vec<i64> {
    match image.pixels() {
        Pixels::U8(bytes) => bytes.iter().map(|v| i64::from(*v)).collect(),
        Pixels::U16(words) => words.iter().map(|v| i64::from(*v)).collect(),
        Pixels::I64(wide) => wide.to_vec(),
        Pixels::Rgb(_) => panic!("colours"),
    }
}

/// What every fixture holds: 0, 1, 2, ..
fn labels() -> Vec<i64> {
    (0..SIZES.iter().product::<usize>() as i64).collect()
}

/// A NIfTI file with elements of 16 bits.
fn nifti(change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = vec![0; 352];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &348i32.to_le_bytes());
    for (k, size) in [3, 4, 3, 2, 1, 1, 1, 1i16].into_iter().enumerate() {
        put(40 + 2 * k, &size.to_le_bytes());
    }
    put(70, &4i16.to_le_bytes());
    put(72, &16i16.to_le_bytes());
    for (k, step) in [1.0, 0.5, 0.75, 2.5f32].into_iter().enumerate() {
        put(76 + 4 * k, &step.to_le_bytes());
    }
    put(108, &352f32.to_le_bytes());
    put(123, &[2]);
    put(254, &1i16.to_le_bytes());
    let rows = [[-0.5, 0.0, 0.0, 10.0], [0.0, -0.75, 0.0, 20.0], [0.0, 0.0, 2.5, 30.0f32]];
    for (k, value) in rows.as_flattened().iter().enumerate() {
        put(280 + 4 * k, &value.to_le_bytes());
    }
    put(344, b"n+1\0");
    for label in labels() {
        bytes.extend((label as i16).to_le_bytes());
    }
    change(&mut bytes);
    bytes
}

/// The same with one field changed.
fn with(at: usize, field: &[u8]) -> Vec<u8> {
    nifti(|bytes| bytes[at..at + field.len()].copy_from_slice(field))
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes all bytes");
    encoder.finish().expect("memory takes all bytes")
}

fn expect(image: &Image, spacing: [f64; 3]) {
    assert_eq!(image.shape(), [2, 3, 4]);
    assert_eq!(numbers(image), labels());
    let geometry = image.geometry().expect("a geometry");
    assert_eq!(geometry.spacing.as_deref(), Some(&spacing[..]));
}

#[test]
fn a_nifti_volume_gives_labels_spacing_and_direction() {
    for bytes in [nifti(|_| ()), gz(&nifti(|_| ()))] {
        let image = decode("a.nii.gz", &bytes).unwrap();
        expect(&image, [2.5, 0.75, 0.5]);
        let geometry = image.geometry().unwrap();
        assert_eq!(geometry.directions, Some([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]));
        assert_eq!(geometry.origin, Some([-10.0, -20.0, 30.0]));
        assert!(!geometry.in_other_unit && !geometry.disagrees);
    }
}

#[test]
fn volumes_of_other_programs_give_the_same_labels() {
    for name in ["nibabel_u8.nii", "nibabel_big_endian.nii", "nibabel_f32.nii.gz", "itk_i16.nii.gz"] {
        expect(&decode(name, &fixture(name)).unwrap(), [2.5, 0.75, 0.5]);
    }
    for name in ["itk.mha", "itk_zlib.mha", "labels.mhd", "labels_zlib.mhd"] {
        expect(&decode(name, &fixture(name)).unwrap(), [2.5, 0.75, 0.5]);
    }
    let directions =
        |name: &str| decode(name, &fixture(name)).unwrap().geometry().cloned().unwrap().directions;
    for name in ["itk_i16.nii.gz", "nibabel_u8.nii"] {
        let (Some(a), Some(b)) = (directions(name), directions("itk.mha")) else { panic!("{name}") };
        for (a, b) in a.as_flattened().iter().zip(b.as_flattened()) {
            assert!((a - b).abs() < 1e-6, "{name}");
        }
    }
}

#[test]
fn every_field_that_cannot_be_is_named_with_what_is_needed() {
    for (at, field, words) in [
        (0, &540i32.to_le_bytes()[..], &["NIfTI-2 is not read"][..]),
        (0, &7i32.to_le_bytes(), &["sizeof_hdr", "7", "348"]),
        (344, b"ni1\0", &["magic", "convert to .nii"]),
        (344, b"xxx\0", &["magic", "xxx"]),
        (40, &0i16.to_le_bytes(), &["dim[0]", "2 to 7"]),
        (42, &0i16.to_le_bytes(), &["dim[1]", "0"]),
        (48, &5i16.to_le_bytes(), &[]),
        (70, &1i16.to_le_bytes(), &["datatype", "1"]),
        (72, &8i16.to_le_bytes(), &["bitpix", "8", "16"]),
        (108, &100f32.to_le_bytes(), &["vox_offset", "100", "352"]),
        (42, &5i16.to_le_bytes(), &["bytes"]),
        (42, &32_000i16.to_le_bytes(), &["bytes"]),
    ] {
        let bytes = with(at, field);
        match words {
            [] => assert!(decode("a.nii", &bytes).is_ok(), "beyond the number of axes nothing is read"),
            words => {
                let text = refusal("a.nii", &bytes);
                words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
            }
        }
    }
    let time = nifti(|bytes| {
        bytes[40] = 4;
        bytes[48] = 5;
    });
    assert!(refusal("a.nii", &time).contains("dim[4]"));
}

#[test]
fn fractions_are_no_labels_and_say_where_they_are() {
    let scaled = nifti(|bytes| {
        bytes[112..116].copy_from_slice(&0.5f32.to_le_bytes());
    });
    let text = refusal("a.nii", &scaled);
    assert!(text.contains("x = 1, y = 0, z = 0") && text.contains("probability map"), "{text}");
    let doubled = nifti(|bytes| {
        bytes[112..116].copy_from_slice(&2f32.to_le_bytes());
    });
    let expected: Vec<i64> = labels().iter().map(|label| 2 * label).collect();
    assert_eq!(numbers(&decode("a.nii", &doubled).unwrap()), expected);
}

#[test]
fn units_and_axes_that_disagree_are_noticed() {
    let geometry =
        |bytes: &[u8]| -> Geometry { decode("a.nii", bytes).unwrap().geometry().cloned().unwrap() };
    assert!(geometry(&with(123, &[3])).in_other_unit);
    assert!(geometry(&with(80, &0.6f32.to_le_bytes())).disagrees);
    let without = geometry(&with(254, &0i16.to_le_bytes()));
    assert_eq!((without.directions, without.origin), (None, None));
}

#[test]
fn a_cut_volume_is_refused_and_a_flipped_bit_never_brings_it_down() {
    for (name, bytes) in [
        ("a.nii", nifti(|_| ())),
        ("a.nii.gz", gz(&nifti(|_| ()))),
        ("a.mha", fixture("itk.mha")),
        ("a.mha", fixture("itk_zlib.mha")),
    ] {
        for end in 0..bytes.len() {
            assert!(decode(name, &bytes[..end]).is_err(), "{name} cut at {end}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(image) = decode(name, &damaged) {
                assert_eq!(numbers(&image).len(), image.shape().iter().product::<usize>());
            }
        }
    }
}

#[test]
fn what_follows_the_data_is_passed_over_up_to_a_limit() {
    let behind = |length: usize| nifti(|bytes| bytes.extend(vec![0; length]));
    assert!(decode("a.nii", &behind(1000)).is_ok());
    assert!(refusal("a.nii", &behind((16 << 20) + 1)).contains("goes on"));
    let mut damaged = gz(&behind(1000));
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    assert!(decode("a.nii.gz", &damaged).is_err());
}

const HEADER: &str =
    "ObjectType = Image\nNDims = 3\nBinaryData = True\nDimSize = 4 3 2\nElementType = MET_UCHAR\n";

fn meta(header: &str, data: &[u8]) -> Vec<u8> {
    [header.as_bytes(), data].concat()
}

#[test]
fn metaimage_headers_say_what_is_wrong_with_them() {
    let data: Vec<u8> = (0..24).collect();
    let local = "ElementDataFile = LOCAL\n";
    assert!(decode("a.mha", &meta(&format!("{HEADER}{local}"), &data)).is_ok());
    for (more, words) in [
        ("ElementNumberOfChannels = 3\n", &["ElementNumberOfChannels", "3"][..]),
        ("BinaryData = False\n", &["twice"]),
        ("HeaderSize = 7\n", &["HeaderSize", "7"]),
        ("ElementSpacing = 1 2\n", &["ElementSpacing", "1 2", "3 numbers"]),
        ("TransformMatrix = 0 0 0 0 1 0 0 0 1\n", &["TransformMatrix"]),
        ("CompressedData = maybe\n", &["CompressedData", "maybe"]),
    ] {
        let text = refusal("a.mha", &meta(&format!("{HEADER}{more}{local}"), &data));
        words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
    }
    for (old, new, word) in [
        ("NDims = 3", "NDims = 4", "NDims"),
        ("DimSize = 4 3 2", "DimSize = 4 3", "DimSize"),
        ("DimSize = 4 3 2", "DimSize = 4 0 2", "no elements"),
        ("DimSize = 4 3 2\n", "", "DimSize"),
        ("MET_UCHAR", "MET_FLOATS", "MET_FLOATS"),
        ("DimSize = 4 3 2", "DimSize = 4 3 3", "36 bytes"),
        ("BinaryData = True", "BinaryData = False", "BinaryData"),
    ] {
        let text = refusal("a.mha", &meta(&format!("{}{local}", HEADER.replace(old, new)), &data));
        assert!(text.contains(word), "{word}: {text}");
    }
    for file in ["../labels.raw", "/etc/passwd", "LIST", "slice%03d.raw 1 9 1", ".hidden", ""] {
        let text = refusal("a.mhd", format!("{HEADER}ElementDataFile = {file}\n").as_bytes());
        assert!(text.contains("ElementDataFile"), "{text}");
    }
    assert!(
        refusal("a.mhd", format!("{HEADER}ElementDataFile = gone.raw\n").as_bytes()).contains("gone.raw")
    );
    assert!(refusal("a.mha", HEADER.as_bytes()).contains("ElementDataFile"));
}

#[test]
fn zlib_data_of_another_length_are_refused() {
    let packed = |length: u8| {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&(0..length).collect::<Vec<u8>>()).unwrap();
        encoder.finish().unwrap()
    };
    let header = format!("{HEADER}CompressedData = True\nElementDataFile = LOCAL\n");
    assert!(decode("a.mha", &meta(&header, &packed(24))).is_ok());
    for length in [23, 25] {
        let text = refusal("a.mha", &meta(&header, &packed(length)));
        assert!(text.contains("24 bytes"), "{text}");
    }
}
