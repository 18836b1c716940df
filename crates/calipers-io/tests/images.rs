//! PNG and TIFF label maps: what other programs wrote, and damage.

use calipers_core::Result;
use calipers_io::image::{FORMATS, Image, Pixels, png};

const WIDTH: usize = 11;
const HEIGHT: usize = 6;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/images/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a fixture")
}

fn decode(name: &str, bytes: &[u8]) -> Result<Image> {
    let mut image = Image::default();
    let format = FORMATS.by_name(name).expect("a known ending");
    let mut beside = |name: &str| -> Result<Vec<u8>> { panic!("nothing lies beside a picture: {name}") };
    (format.reader)(bytes, &mut beside, &mut image).map(|()| image)
}

fn read(name: &str) -> Result<Image> {
    decode(name, &fixture(name))
}

/// What `make.py` put into every image.
fn values(bits: u32) -> Vec<i64> {
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
    pixels.map(|(x, y)| ((7 * x + 13 * y + x * y) % (1 << bits)) as i64).collect()
}

fn numbers(image: &Image) -> Vec<i64> {
    match image.pixels() {
        Pixels::U8(bytes) => bytes.iter().map(|v| i64::from(*v)).collect(),
        Pixels::U16(words) => words.iter().map(|v| i64::from(*v)).collect(),
        Pixels::I64(wide) => wide.to_vec(),
        Pixels::Rgb(colours) => {
            colours.iter().map(|[r, g, b]| i64::from(*r) << 16 | i64::from(*g) << 8 | i64::from(*b)).collect()
        }
    }
}

#[test]
fn every_bit_depth_gives_the_stored_numbers_interlaced_or_not() {
    let mut image = Image::default();
    for tail in ["", "_interlaced"] {
        for (kind, depths) in [("grey", &[1, 2, 4, 8, 16][..]), ("palette", &[1, 2, 4, 8])] {
            for &bits in depths {
                let name = format!("{kind}{bits}{tail}.png");
                png::decode(&fixture(&name), &mut image).unwrap();
                assert_eq!((image.width(), image.height()), (WIDTH, HEIGHT), "{name}");
                assert_eq!(numbers(&image), values(bits), "{name}");
            }
        }
    }
}

#[test]
fn an_opaque_alpha_channel_is_left_out_and_any_other_is_refused_by_pixel() {
    assert_eq!(numbers(&read("grey_alpha8.png").unwrap()), values(8));
    assert_eq!(numbers(&read("grey_alpha16.png").unwrap()), values(16));
    for (name, alpha) in [
        ("grey_alpha8_clear.png", "254"),
        ("grey_alpha16_clear.png", "alpha"),
        ("rgba8_clear.png", "alpha 0"),
    ] {
        let error = read(name).unwrap_err().to_string();
        assert!(error.contains("x = 4, y = 2") && error.contains(alpha), "{name}: {error}");
    }
}

#[test]
fn colours_are_kept_as_colours() {
    let colours: Vec<i64> = values(8).iter().map(|v| v << 16 | (v / 2) << 8 | 9).collect();
    for name in ["rgb8.png", "rgba8.png"] {
        assert_eq!(numbers(&read(name).unwrap()), colours, "{name}");
    }
    assert!(read("rgb16.png").unwrap_err().to_string().contains("16 bits"));
}

#[test]
fn gamma_and_text_change_nothing_and_an_animation_is_refused() {
    assert_eq!(numbers(&read("chunks.png").unwrap()), values(8));
    assert!(read("animated.png").unwrap_err().to_string().contains("animation"));
}

#[test]
fn a_cut_png_or_one_with_a_flipped_bit_is_never_read() {
    for name in ["grey8.png", "palette2_interlaced.png", "chunks.png", "grey_alpha16.png"] {
        let bytes = fixture(name);
        for end in 0..bytes.len() {
            let error = decode(name, &bytes[..end]).unwrap_err().to_string();
            assert!(end == 0 || error.contains("byte"), "{name} cut at {end}: {error}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(name, &damaged).is_err(), "{name} with bit {bit} flipped");
        }
    }
}

/// A grey PNG of a size that its data does not have.
fn claiming(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = fixture("grey8.png");
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

#[test]
fn a_size_that_cannot_be_is_refused_from_the_header() {
    for (width, height, word) in [
        (0, 6, "0 x 6"),
        (1 << 30, 1 << 30, "too large"),
        ((1 << 28) + 1, 1, "too large"),
        (16_384, 16_384, "too short"),
        (12, 6, "byte"),
    ] {
        let error = decode("a.png", &claiming(width, height)).unwrap_err().to_string();
        assert!(error.contains(word), "{width} x {height}: {error}");
    }
}

#[test]
fn every_integer_band_of_a_tiff_gives_the_stored_numbers() {
    for bits in [8, 16, 32] {
        assert_eq!(numbers(&read(&format!("u{bits}.tif")).unwrap()), values(bits));
        let signed = |v: i64| if v >> (bits - 1) == 1 { v - (1 << bits) } else { v };
        let signed: Vec<i64> = values(bits).into_iter().map(signed).collect();
        assert_eq!(numbers(&read(&format!("i{bits}.tif")).unwrap()), signed);
    }
    assert_eq!(numbers(&read("u16_big_endian.tif").unwrap()), values(16));
    assert_eq!(numbers(&read("u8_deflate.tif").unwrap()), values(8));
    assert_eq!(numbers(&read("u8_overview.tif").unwrap()), values(8));
}

#[test]
fn other_tiffs_are_refused_with_what_they_hold() {
    for (name, word) in [
        ("u8_pages.tif", "several"),
        ("u8_white.tif", "white"),
        ("u8_palette.tif", "palette"),
        ("rgb.tif", "RGB"),
        ("f32.tif", "float"),
    ] {
        let error = read(name).unwrap_err().to_string();
        assert!(error.contains(word), "{name}: {error}");
    }
}

#[test]
fn a_damaged_tiff_is_never_a_panic_and_a_cut_one_never_read() {
    for name in ["u8.tif", "u16_big_endian.tif", "u8_deflate.tif", "u8_overview.tif"] {
        let bytes = fixture(name);
        for end in 0..bytes.len() {
            assert!(decode(name, &bytes[..end]).is_err(), "{name} cut at {end}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            drop(decode(name, &damaged));
        }
    }
}

#[test]
fn an_empty_file_is_called_empty() {
    for name in ["a.png", "a.tif"] {
        assert!(decode(name, b"").unwrap_err().to_string().contains("empty file"));
    }
}
