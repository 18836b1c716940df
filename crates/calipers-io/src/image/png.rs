//! PNG label maps: the stored numbers, never the colours they stand for.

use std::io::{self, Cursor};

use ::png::{BitDepth, ColorType, DecodeOptions, Decoder, DecodingError, Limits, Transformations};
use calipers_core::{Error, Result};

use super::{Image, Mode, check_size, make_room, place};
use crate::file::empty;

/// Decodes a whole file into `image`: grey values and palette indices as they are stored, 16 bits
/// kept; an alpha channel must be opaque everywhere. The file is read to its end and every
/// checksum compared.
pub fn decode(bytes: &[u8], image: &mut Image) -> Result<()> {
    if bytes.is_empty() {
        return Err(empty());
    }
    no_empty_axis(bytes)?;
    let mut source = Cursor::new(bytes);
    let decoded = frame(&mut source, bytes.len(), image);
    decoded.map_err(|fault| match fault {
        Fault::Told(error) => error,
        Fault::Decoding(error) => damaged(&error, source.position()),
    })
}

/// The decoder refuses an image without pixels too, but does not say its size.
fn no_empty_axis(bytes: &[u8]) -> Result<()> {
    match bytes.as_chunks::<4>().0 {
        [[0x89, b'P', b'N', b'G'], _, _, [b'I', b'H', b'D', b'R'], width, height, ..]
            if [width, height].contains(&&[0; 4]) =>
        {
            check_size((u32::from_be_bytes(*width), u32::from_be_bytes(*height)), 8, bytes.len())
        }
        _ => Ok(()),
    }
}

/// A failure that is told already, or one of the decoder's.
enum Fault {
    Told(Error),
    Decoding(DecodingError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}

impl From<DecodingError> for Fault {
    fn from(error: DecodingError) -> Self {
        Self::Decoding(error)
    }
}

/// Memory for the rows and ancillary chunks that the decoder holds.
const DECODER_BYTES: usize = 64 << 20;

fn frame(source: &mut Cursor<&[u8]>, held: usize, image: &mut Image) -> std::result::Result<(), Fault> {
    let mut options = DecodeOptions::default();
    options.set_skip_ancillary_crc_failures(false);
    options.set_ignore_text_chunk(true);
    options.set_ignore_iccp_chunk(true);
    let mut decoder = Decoder::new_with_options(source, options);
    decoder.set_limits(Limits { bytes: DECODER_BYTES });
    decoder.set_transformations(Transformations::IDENTITY);
    let header = decoder.read_header_info()?;
    let size = (header.width, header.height);
    let (colour, depth) = (header.color_type, header.bit_depth);
    let samples = colour.samples();
    check_size(size, (samples * depth as usize) as u64, held)?;
    if depth == BitDepth::Sixteen && samples > 2 {
        return Err(Error::format("png: a colour image with 16 bits per channel is no label map")
            .found(mode_name(colour))
            .advice("save the ids as grey values")
            .into());
    }
    let mut reader = decoder.read_info()?;
    if reader.info().animation_control.is_some() {
        return Err(Error::format("png: an animation is no label map")
            .advice("save every frame as an image of its own")
            .into());
    }
    let length = reader.output_buffer_size().ok_or(DecodingError::LimitsExceeded)?;
    // Passes of an interlaced image set single bits, and never clear one.
    if reader.info().interlaced {
        image.bytes.clear();
    }
    make_room(&mut image.bytes, length)?;
    reader.next_frame(&mut image.bytes)?;
    reader.finish()?;
    let pixels = size.0 as usize * size.1 as usize;
    let mode = match (colour, depth) {
        (ColorType::Grayscale | ColorType::Indexed, BitDepth::Eight) => Mode::Bytes,
        (ColorType::Grayscale, BitDepth::Sixteen) => {
            widen::<2>(image, pixels)?;
            Mode::Words
        }
        (ColorType::Grayscale | ColorType::Indexed, _) => {
            unpack(image, size, depth as usize)?;
            Mode::Bytes
        }
        (ColorType::GrayscaleAlpha, BitDepth::Sixteen) => {
            opaque::<4>(&image.bytes, |pixel| pixel[2] == 255 && pixel[3] == 255, size.0)?;
            widen::<4>(image, pixels)?;
            Mode::Words
        }
        (ColorType::GrayscaleAlpha, _) => {
            opaque::<2>(&image.bytes, |pixel| pixel[1] == 255, size.0)?;
            keep_first::<2, 1>(&mut image.bytes);
            Mode::Bytes
        }
        (ColorType::Rgba, _) => {
            opaque::<4>(&image.bytes, |pixel| pixel[3] == 255, size.0)?;
            keep_first::<4, 3>(&mut image.bytes);
            Mode::Rgb
        }
        (ColorType::Rgb, _) => Mode::Rgb,
    };
    image.set(size, mode);
    Ok(())
}

/// The first two of every `N` bytes as a number, most significant byte first.
fn widen<const N: usize>(image: &mut Image, pixels: usize) -> Result<()> {
    make_room(&mut image.words, pixels)?;
    for (word, pixel) in image.words.iter_mut().zip(image.bytes.as_chunks::<N>().0) {
        *word = u16::from_be_bytes([pixel[0], pixel[1]]);
    }
    Ok(())
}

/// Pixels of 1, 2 or 4 bits, rows filled up to whole bytes, into one byte each.
fn unpack(image: &mut Image, (width, height): (u32, u32), bits: usize) -> Result<()> {
    let (width, height) = (width as usize, height as usize);
    let line = (width * bits).div_ceil(8);
    let packed = std::mem::take(&mut image.bytes);
    make_room(&mut image.bytes, width * height)?;
    let mask = (1u8 << bits) - 1;
    for (row, line) in image.bytes.chunks_mut(width).zip(packed.chunks(line)) {
        for (x, pixel) in row.iter_mut().enumerate() {
            let at = x * bits;
            *pixel = line[at / 8] >> (8 - bits - at % 8) & mask;
        }
    }
    Ok(())
}

fn opaque<const N: usize>(bytes: &[u8], is_opaque: impl Fn(&[u8; N]) -> bool, width: u32) -> Result<()> {
    match bytes.as_chunks::<N>().0.iter().position(|pixel| !is_opaque(pixel)) {
        None => Ok(()),
        Some(index) => Err(Error::format("png: a pixel is not opaque")
            .at(place(index, width))
            .found(format!("alpha {}", bytes[index * N + N - 1]))
            .allowed("alpha 255 everywhere")
            .advice("save the label map without an alpha channel")),
    }
}

/// Keeps the first `K` of every `N` bytes.
fn keep_first<const N: usize, const K: usize>(bytes: &mut Vec<u8>) {
    let pixels = bytes.len() / N;
    for index in 0..pixels {
        bytes.copy_within(index * N..index * N + K, index * K);
    }
    bytes.truncate(pixels * K);
}

fn mode_name(colour: ColorType) -> &'static str {
    match colour {
        ColorType::Grayscale => "grey",
        ColorType::GrayscaleAlpha => "grey with alpha",
        ColorType::Indexed => "palette",
        ColorType::Rgb => "RGB",
        ColorType::Rgba => "RGBA",
    }
}

fn damaged(error: &DecodingError, byte: u64) -> Error {
    let cut = matches!(error, DecodingError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof);
    let error = match error {
        _ if cut => Error::format("png: the file ends too early"),
        DecodingError::LimitsExceeded => Error::format("png: the file needs too much memory")
            .allowed(format!("at most {DECODER_BYTES} bytes for rows and chunks")),
        other => Error::format("png: the file is damaged, or no PNG").found(other),
    };
    error.at(format!("byte {byte}")).advice("copy or write the file again")
}
