//! TIFF label maps: one band of whole numbers.

use std::io::Cursor;

use ::tiff::decoder::{Decoder, DecodingResult, Limits};
use ::tiff::tags::Tag;
use ::tiff::{ColorType, TiffError};
use calipers_core::{Error, Result};

use super::{Image, Mode, check_size, make_room};
use crate::file::empty;
use crate::limits;

/// Bit 0 of `NewSubfileType` marks a smaller copy, bit 2 a mask: neither is the image itself.
const ASIDE: u32 = 0b101;
/// `PhotometricInterpretation` of images whose 0 is white.
const WHITE_IS_ZERO: u32 = 0;

/// Decodes a whole file into `image`. One full-size image with one band of 8, 16 or 32 bits is
/// taken; the numbers are those that are stored.
pub fn decode(bytes: &[u8], image: &mut Image) -> Result<()> {
    if bytes.is_empty() {
        return Err(empty());
    }
    let mut decoder =
        Decoder::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?.with_limits(limits());
    let size = decoder.dimensions().map_err(|error| damaged(&error))?;
    let colour = decoder.colortype().map_err(|error| damaged(&error))?;
    let ColorType::Gray(bits @ (8 | 16 | 32)) = colour else {
        return Err(Error::format("tiff: not one band of whole numbers")
            .found(format!("{colour:?}"))
            .allowed("one band of 8, 16 or 32 bits")
            .advice("save the ids as grey values"));
    };
    check_size(size, bits.into(), bytes.len())?;
    if decoder.get_tag_u32(Tag::PhotometricInterpretation).ok() == Some(WHITE_IS_ZERO) {
        return Err(Error::format("tiff: in this file 0 is white, so that it may mean v or its complement")
            .found("PhotometricInterpretation 0")
            .allowed("1 (0 is black)")
            .advice("save the ids with 0 as black"));
    }
    let pixels = decoder.read_image().map_err(|error| damaged(&error))?;
    keep(pixels, size, image)?;
    while decoder.more_images() {
        decoder.next_image().map_err(|error| damaged(&error))?;
        let kind = decoder.find_tag_unsigned::<u32>(Tag::NewSubfileType).map_err(|error| damaged(&error))?;
        if kind.unwrap_or(0) & ASIDE == 0 {
            return Err(Error::format("tiff: the file holds several pictures")
                .allowed("one")
                .advice("save every picture as a file of its own"));
        }
    }
    Ok(())
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = 4 * limits::PIXELS as usize;
    limits.intermediate_buffer_size = 4 * limits::PIXELS as usize;
    limits
}

fn keep(pixels: DecodingResult, size: (u32, u32), image: &mut Image) -> Result<()> {
    match pixels {
        DecodingResult::U8(bytes) => {
            image.bytes = bytes;
            image.set(size, Mode::Bytes);
        }
        DecodingResult::U16(words) => {
            image.words = words;
            image.set(size, Mode::Words);
        }
        DecodingResult::U32(values) => widen(&values, size, image)?,
        DecodingResult::I8(values) => widen(&values, size, image)?,
        DecodingResult::I16(values) => widen(&values, size, image)?,
        DecodingResult::I32(values) => widen(&values, size, image)?,
        _ => {
            return Err(Error::format("tiff: the band holds no whole numbers")
                .found("floating-point numbers")
                .allowed("integers of 8, 16 or 32 bits"));
        }
    }
    Ok(())
}

fn widen<T: Copy + Into<i64>>(values: &[T], size: (u32, u32), image: &mut Image) -> Result<()> {
    make_room(&mut image.wide, values.len())?;
    for (slot, value) in image.wide.iter_mut().zip(values) {
        *slot = (*value).into();
    }
    image.set(size, Mode::Wide);
    Ok(())
}

fn damaged(error: &TiffError) -> Error {
    let what = match error {
        TiffError::UnsupportedError(_) => "tiff: this form of TIFF is not read",
        TiffError::LimitsExceeded => "tiff: the image is too large",
        _ => "tiff: the file is damaged, or no TIFF",
    };
    Error::format(what).found(error).advice("save one band of integers without a palette, or use PNG")
}
