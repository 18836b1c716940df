//! An image of pixels, shared by all drawings that show it.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

/// The most colours of a palette.
const PALETTE: usize = 256;

/// Red, green and blue of each pixel, in rows from the top.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Image {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes for each pixel.
    #[serde(serialize_with = "as_base64")]
    pub pixels: Arc<[[u8; 3]]>,
}

fn as_base64<S: Serializer>(pixels: &Arc<[[u8; 3]]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(pixels.as_flattened()))
}

impl Image {
    /// The image as a PNG file: with a palette where it has few colours. Nothing without pixels.
    pub fn png(&self) -> Vec<u8> {
        self.encoded().unwrap_or_default()
    }

    fn encoded(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let data = match self.indexed() {
            Some((palette, indices)) => {
                encoder.set_color(png::ColorType::Indexed);
                encoder.set_palette(palette.concat());
                indices
            }
            None => {
                encoder.set_color(png::ColorType::Rgb);
                self.pixels.as_flattened().to_vec()
            }
        };
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&data)?;
        writer.finish()?;
        Ok(bytes)
    }

    /// The colours in the order in which they occur, and the colour of each pixel.
    fn indexed(&self) -> Option<(Vec<[u8; 3]>, Vec<u8>)> {
        let mut palette: Vec<[u8; 3]> = Vec::new();
        let mut indices = Vec::with_capacity(self.pixels.len());
        for colour in self.pixels.iter() {
            let known = palette.iter().position(|known| known == colour);
            let index = known.unwrap_or(palette.len());
            if known.is_none() {
                palette.push(*colour);
            }
            indices.push(u8::try_from(index).ok().filter(|_| palette.len() <= PALETTE)?);
        }
        Some((palette, indices))
    }

    /// The file as an address that needs no other file.
    pub(crate) fn address(&self) -> String {
        format!("data:image/png;base64,{}", STANDARD.encode(self.png()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(file: &[u8]) -> (png::ColorType, Vec<u8>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let kind = reader.info().color_type;
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        (kind, pixels)
    }

    #[test]
    fn few_colours_become_a_palette_and_many_stay_as_they_are() {
        for (colours, kind) in [(7, png::ColorType::Indexed), (300, png::ColorType::Rgb)] {
            let pixels: Arc<[[u8; 3]]> =
                (0..40 * 30).map(|i| i % colours).map(|i| [(i % 256) as u8, (i / 256) as u8, 9]).collect();
            let image = Image { width: 40, height: 30, pixels };
            assert_eq!(decoded(&image.png()), (kind, image.pixels.as_flattened().to_vec()));
        }
        assert!(Image { width: 0, height: 0, pixels: Arc::new([]) }.png().is_empty());
    }
}
