//! Images and volumes of labels: one whole number per element, or a colour that stands for one.

mod format;
pub mod png;
pub mod tiff;
pub mod volume;

use calipers_core::{Error, Result};

use crate::{limits, memory};

pub use format::{Beside, FORMATS, Reader};
pub use volume::Geometry;

/// A decoded image. Decoding into one that was used before reuses its memory.
#[derive(Clone, Debug, Default)]
pub struct Image {
    width: u32,
    height: u32,
    /// The slices of a volume.
    depth: Option<u32>,
    geometry: Option<Geometry>,
    mode: Mode,
    bytes: Vec<u8>,
    words: Vec<u16>,
    wide: Vec<i64>,
}

/// Which of the buffers holds the pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Bytes,
    Words,
    Wide,
    Rgb,
}

/// The pixels of an image, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pixels<'a> {
    /// One byte per pixel.
    U8(&'a [u8]),
    /// Two bytes per pixel.
    U16(&'a [u16]),
    /// Larger or signed numbers.
    I64(&'a [i64]),
    /// Red, green, blue.
    Rgb(&'a [[u8; 3]]),
}

impl Image {
    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width as usize
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height as usize
    }

    /// The sizes of the axes of the array: slices of a volume, then rows and columns.
    pub fn shape(&self) -> Vec<usize> {
        let all = self.depth.into_iter().chain([self.height, self.width]);
        all.map(|length| length as usize).collect()
    }

    /// How the elements lie in space, where the file says it.
    pub fn geometry(&self) -> Option<&Geometry> {
        self.geometry.as_ref()
    }

    /// The pixels, row by row.
    pub fn pixels(&self) -> Pixels<'_> {
        match self.mode {
            Mode::Bytes => Pixels::U8(&self.bytes),
            Mode::Words => Pixels::U16(&self.words),
            Mode::Wide => Pixels::I64(&self.wide),
            Mode::Rgb => Pixels::Rgb(self.bytes.as_chunks().0),
        }
    }

    /// Says what the buffers hold now.
    fn set(&mut self, (width, height): (u32, u32), mode: Mode) {
        (self.width, self.height, self.mode) = (width, height, mode);
        (self.depth, self.geometry) = (None, None);
    }
}

/// Refuses sizes that cannot be: no pixels at all, more than the limit, or more than `held` bytes
/// could inflate to.
fn check_size((width, height): (u32, u32), bits: u64, held: usize) -> Result<()> {
    let pixels = u64::from(width) * u64::from(height);
    let found = format!("{width} x {height}");
    if pixels == 0 {
        return Err(Error::format("the image has no pixels").found(found));
    }
    if pixels > limits::PIXELS {
        let allowed = format!("at most {} pixels", limits::PIXELS);
        return Err(Error::format("the image is too large").found(found).allowed(allowed));
    }
    let most = (held as u64).saturating_mul(limits::INFLATE_RATIO);
    if pixels * bits / 8 > most {
        return Err(Error::format("the file is too short for its size")
            .found(format!("{found} in {held} bytes"))
            .advice("the file is cut or damaged: copy or write it again"));
    }
    // Once as stored, once as numbers of the widest kind that is kept.
    memory::ask("the image", pixels.saturating_mul(bits / 8 + 8))
}

/// Makes room for `length` elements, keeping what is there.
fn make_room<T: Copy + Default>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    let more = length.saturating_sub(buffer.len());
    buffer.try_reserve(more).map_err(|_| {
        Error::io("not enough memory for the image").found(format!("{} bytes", length * size_of::<T>()))
    })?;
    buffer.resize(length, T::default());
    Ok(())
}

/// Column and row of a pixel, as messages show it.
fn place(index: usize, width: u32) -> String {
    let width = width as usize;
    format!("x = {}, y = {}", index % width, index / width)
}
