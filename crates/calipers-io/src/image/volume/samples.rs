//! The elements of a volume as its file stores them, read into the smallest whole numbers that hold them.

use std::io::{ErrorKind, Read};

use calipers_core::{Error, Result};

use crate::image::{Image, Mode};

/// How far a scaled value may be from a whole number.
const NEARLY_WHOLE: f64 = 1e-3;
/// The first float beyond 64-bit integers.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;
/// Bytes that are read at once; a multiple of every element's size.
const BLOCK: usize = 64 << 10;

/// What an element is stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// How elements are stored.
pub(crate) struct Samples {
    pub(crate) sample: Sample,
    pub(crate) big_endian: bool,
    /// A slope and an intercept that make labels of what is stored.
    pub(crate) scale: Option<(f64, f64)>,
    /// The sizes of the axes: x, y and, of volumes, z.
    pub(crate) sizes: Vec<u64>,
}

impl Sample {
    /// How many bytes an element takes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// The numbers that were read so far, in the smallest type that holds them.
enum Numbers {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Wide(Vec<i64>),
}

impl Numbers {
    fn push(&mut self, number: i64) {
        match self {
            Self::Bytes(bytes) => match u8::try_from(number) {
                Ok(byte) => bytes.push(byte),
                Err(_) => {
                    let words = bytes.iter().map(|byte| u16::from(*byte)).collect();
                    *self = Self::Words(words);
                    self.push(number);
                }
            },
            Self::Words(words) => match u16::try_from(number) {
                Ok(word) => words.push(word),
                Err(_) => {
                    let wide = words.iter().map(|word| i64::from(*word)).collect();
                    *self = Self::Wide(wide);
                    self.push(number);
                }
            },
            Self::Wide(wide) => wide.push(number),
        }
    }
}

impl Samples {
    /// The number of bytes that the elements take.
    pub(crate) fn length(&self) -> u64 {
        self.sizes.iter().product::<u64>() * self.sample.bytes() as u64
    }

    /// Reads every element into the image. The caller has compared the length with that of the file.
    pub(crate) fn read(&self, source: &mut dyn Read, image: &mut Image) -> Result<()> {
        let mut left = self.length();
        let mut numbers = Numbers::Bytes(std::mem::take(&mut image.bytes));
        if let Numbers::Bytes(bytes) = &mut numbers {
            bytes.clear();
        }
        let mut block = vec![0; BLOCK];
        let mut at = 0;
        while left > 0 {
            let length = left.min(BLOCK as u64) as usize;
            let block = &mut block[..length];
            source.read_exact(block).map_err(|error| self.cut(&error, left))?;
            match (self.sample, self.scale, &mut numbers) {
                (Sample::U8, None, Numbers::Bytes(bytes)) => bytes.extend_from_slice(block),
                _ => {
                    for element in block.chunks_exact(self.sample.bytes()) {
                        numbers.push(self.number(element, at)?);
                        at += 1;
                    }
                }
            }
            left -= length as u64;
        }
        let mode = match numbers {
            Numbers::Bytes(bytes) => {
                image.bytes = bytes;
                Mode::Bytes
            }
            Numbers::Words(words) => {
                image.words = words;
                Mode::Words
            }
            Numbers::Wide(wide) => {
                image.wide = wide;
                Mode::Wide
            }
        };
        let size = |axis: usize| self.sizes.get(axis).map(|size| *size as u32);
        image.set((size(0).unwrap_or(1), size(1).unwrap_or(1)), mode);
        image.depth = size(2);
        Ok(())
    }

    fn number(&self, element: &[u8], at: u64) -> Result<i64> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..element.len()];
        bytes.copy_from_slice(element);
        if self.big_endian {
            bytes.reverse();
        }
        let low = bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let stored = match self.sample {
            Sample::U8 | Sample::U16 | Sample::U32 => low as i64,
            Sample::I8 => i64::from(low as i8),
            Sample::I16 => i64::from(low as i16),
            Sample::I32 => i64::from(low as i32),
            Sample::I64 => low as i64,
            Sample::U64 => i64::try_from(low)
                .map_err(|_| Error::value("a label beyond 64-bit integers").at(self.place(at)).found(low))?,
            Sample::F32 => return self.whole(f64::from(f32::from_bits(low as u32)), at),
            Sample::F64 => return self.whole(f64::from_bits(low), at),
        };
        if self.scale.is_some() { self.whole(stored as f64, at) } else { Ok(stored) }
    }

    /// The whole number that a float or a scaled number stands for.
    fn whole(&self, stored: f64, at: u64) -> Result<i64> {
        let (value, slack) = match self.scale {
            Some((slope, intercept)) => (slope * stored + intercept, NEARLY_WHOLE),
            None => (stored, 0.0),
        };
        let nearest = value.round();
        if (value - nearest).abs() <= slack && nearest.abs() < BEYOND {
            return Ok(nearest as i64);
        }
        let error = Error::value("a label is no whole number").at(self.place(at)).found(value);
        let advice = "labels are whole numbers: is this a probability map?";
        Err(error.allowed("whole numbers").advice(advice))
    }

    fn place(&self, at: u64) -> String {
        let [x, y, z] = [0, 1, 2].map(|axis| self.sizes.get(axis).copied().unwrap_or(1));
        format!("x = {}, y = {}, z = {}", at % x, at / x % y, at / x / y % z)
    }

    fn cut(&self, error: &std::io::Error, left: u64) -> Error {
        let needed = self.length();
        let what = if error.kind() == ErrorKind::UnexpectedEof {
            "the data is too short for the size"
        } else {
            "the compressed data is damaged"
        };
        Error::format(what)
            .at(format!("byte {} of the data", needed - left))
            .found(error)
            .allowed(format!("{needed} bytes"))
            .advice("copy or write the file again")
    }
}
