//! NIfTI-1 label volumes in one file, as they are or compressed with gzip.

use std::io::Read;

use calipers_core::{Error, Result};
use flate2::bufread::MultiGzDecoder;

use super::{Geometry, Sample, Samples, checked_sizes, length, unit_vectors};
use crate::compress;
use crate::file::empty;
use crate::image::Image;
use crate::limits;

const HEADER: usize = 348;
const HEADER_OF_2: i32 = 540;
/// The first byte at which data may begin: the header and four bytes that say whether more follows.
const FIRST_DATA: u64 = 352;
/// Bytes behind the data that are passed over.
const TAIL: u64 = 16 << 20;
/// How far the lengths of the axes may be from the spacing.
const NEARLY_EQUAL: f64 = 1e-3;

/// Decodes a whole file. Nothing but the header says how large the volume is, and that is compared with the
/// length of the file before memory is asked for.
pub fn decode(bytes: &[u8], image: &mut Image) -> Result<()> {
    if bytes.is_empty() {
        return Err(empty());
    }
    match compress::FORMATS.by_content(bytes) {
        Some(format) if format.name == "gzip" => {
            let held = (bytes.len() as u64).saturating_mul(limits::INFLATE_RATIO).max(compress::HARMLESS);
            decode_from(&mut MultiGzDecoder::new(bytes), held, image)
        }
        _ => decode_from(&mut { bytes }, bytes.len() as u64, image),
    }
}

/// Decodes what a reader gives, up to this many bytes.
fn decode_from(source: &mut dyn Read, held: u64, image: &mut Image) -> Result<()> {
    let mut bytes = [0; HEADER];
    source.read_exact(&mut bytes).map_err(|error| {
        Error::format("nifti: the header is too short, or damaged")
            .found(error)
            .allowed(format!("{HEADER} bytes"))
            .advice("copy or write the file again")
    })?;
    let header = Header::new(&bytes)?;
    let samples = header.samples()?;
    let first = header.first_data()?;
    let needed = first.saturating_add(samples.length());
    if needed > held {
        return Err(Error::format("nifti: the file is too short for its size")
            .found(format!("{held} bytes"))
            .allowed(format!("{needed} bytes"))
            .advice("the file is cut or damaged: copy or write it again"));
    }
    let geometry = header.geometry(&samples)?;
    let damaged = |error: std::io::Error| Error::format("nifti: the file is damaged").found(error);
    let passed_over = first - HEADER as u64;
    std::io::copy(&mut source.take(passed_over), &mut std::io::sink()).map_err(damaged)?;
    samples.read(source, image)?;
    // Read to its end, so that the checksum is looked at.
    let rest = std::io::copy(&mut source.take(TAIL + 1), &mut std::io::sink()).map_err(damaged)?;
    if rest > TAIL {
        return Err(Error::format("nifti: the file goes on after its data")
            .found(format!("more than {TAIL} bytes"))
            .allowed(format!("{needed} bytes, and at most {TAIL} that nobody reads")));
    }
    image.geometry = Some(geometry);
    Ok(())
}

struct Header<'a> {
    bytes: &'a [u8; HEADER],
    big_endian: bool,
}

impl<'a> Header<'a> {
    fn new(bytes: &'a [u8; HEADER]) -> Result<Self> {
        let size = |big_endian: bool| Self { bytes, big_endian }.i32(0);
        let sizes = [size(false), size(true)];
        if sizes.contains(&HEADER_OF_2) {
            let error = Error::format("nifti: NIfTI-2 is not read").at("sizeof_hdr").found(HEADER_OF_2);
            return Err(error.allowed(HEADER).advice("convert the file to NIfTI-1"));
        }
        let Some(order) = sizes.iter().position(|size| *size == HEADER as i32) else {
            let error = Error::format("nifti: not a NIfTI file").at("sizeof_hdr").found(sizes[0]);
            return Err(error.allowed(HEADER));
        };
        match &bytes[344..348] {
            b"n+1\0" => Ok(Self { bytes, big_endian: order == 1 }),
            b"ni1\0" => Err(Error::format("nifti: pairs of .hdr and .img are not read, convert to .nii")
                .at("magic")
                .found("ni1")
                .allowed("n+1")),
            other => Err(Error::format("nifti: not a NIfTI file")
                .at("magic")
                .found(other.escape_ascii())
                .allowed("n+1")),
        }
    }

    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.bytes[at..at + N]);
        if self.big_endian {
            field.reverse();
        }
        field
    }

    fn i16(&self, at: usize) -> i16 {
        i16::from_le_bytes(self.field(at))
    }

    fn i32(&self, at: usize) -> i32 {
        i32::from_le_bytes(self.field(at))
    }

    fn f32(&self, at: usize) -> f64 {
        f32::from_le_bytes(self.field(at)).into()
    }

    fn three(&self, at: usize) -> [f64; 3] {
        [0, 1, 2].map(|k| self.f32(at + 4 * k))
    }

    fn samples(&self) -> Result<Samples> {
        let dims: Vec<i16> = (0..8).map(|k| self.i16(40 + 2 * k)).collect();
        let refused = |what: &str, axis: usize| {
            Error::format(format!("nifti: {what}")).at(format!("dim[{axis}]")).found(dims[axis])
        };
        if !(2..=7).contains(&dims[0]) {
            return Err(refused("not a number of axes", 0).allowed("2 to 7"));
        }
        let axes = dims[0] as usize;
        if let Some(axis) = (1..=axes).find(|axis| dims[*axis] < 1) {
            return Err(refused("an axis without elements", axis).allowed("1 or more"));
        }
        if let Some(axis) = (4..=axes).find(|axis| dims[*axis] != 1) {
            let error = refused("a time axis or more than one value per element", axis);
            return Err(error.allowed("1").advice("save one volume of labels per file"));
        }
        let sizes: Vec<u64> = dims[1..=axes.min(3)].iter().map(|size| *size as u64).collect();
        checked_sizes(&sizes, "dim", limits::PIXELS)?;
        let (code, bits) = (self.i16(70), self.i16(72));
        let sample = match code {
            2 => Sample::U8,
            4 => Sample::I16,
            8 => Sample::I32,
            16 => Sample::F32,
            64 => Sample::F64,
            256 => Sample::I8,
            512 => Sample::U16,
            768 => Sample::U32,
            1024 => Sample::I64,
            1280 => Sample::U64,
            other => {
                return Err(Error::format("nifti: this datatype holds no labels")
                    .at("datatype")
                    .found(other)
                    .allowed("2, 4, 8, 256, 512, 768, 1024, 1280; 16 and 64 of whole numbers")
                    .advice("save the labels as whole numbers"));
            }
        };
        let needed = 8 * sample.bytes();
        if usize::try_from(bits).ok() != Some(needed) {
            let error = Error::format("nifti: bitpix does not fit the datatype").at("bitpix").found(bits);
            return Err(error.allowed(needed));
        }
        let (slope, intercept) = (self.f32(112), self.f32(116));
        let is_scaled = slope != 0.0 && slope.is_finite() && intercept.is_finite();
        let scale = (is_scaled && (slope, intercept) != (1.0, 0.0)).then_some((slope, intercept));
        Ok(Samples { sample, big_endian: self.big_endian, scale, sizes })
    }

    fn first_data(&self) -> Result<u64> {
        let offset = self.f32(108);
        if offset.fract() == 0.0 && offset >= FIRST_DATA as f64 && offset < 1e15 {
            return Ok(offset as u64);
        }
        let error = Error::format("nifti: not a place for data").at("vox_offset").found(offset);
        Err(error.allowed(format!("a whole number of bytes, {FIRST_DATA} or more")))
    }

    fn geometry(&self, samples: &Samples) -> Result<Geometry> {
        let axes = samples.sizes.len();
        let steps: Vec<f64> = (1..=axes).rev().map(|axis| self.f32(76 + 4 * axis)).collect();
        let affine = self.affine();
        let lengths = affine.filter(|(_, is_sform, _)| *is_sform).map(|(columns, ..)| columns.map(length));
        let off = |(axis, length): (usize, &f64)| {
            let step = self.f32(80 + 4 * axis);
            (length - step).abs() > NEARLY_EQUAL * step
        };
        let disagrees = lengths.is_some_and(|lengths| lengths.iter().take(axes).enumerate().any(off));
        let posterior = |[x, y, z]: [f64; 3]| [-x, -y, z];
        Ok(Geometry {
            spacing: Some(steps),
            directions: affine.and_then(|(columns, ..)| unit_vectors(columns.map(posterior))),
            origin: affine.map(|(.., origin)| posterior(origin)),
            in_other_unit: matches!(self.bytes[123] & 7, 1 | 3),
            disagrees,
        })
    }

    /// The vector of each axis towards right, anterior and superior, whether it is written out, and where the
    /// first element lies.
    fn affine(&self) -> Option<([[f64; 3]; 3], bool, [f64; 3])> {
        if self.i16(254) > 0 {
            let rows = [280, 296, 312].map(|at| self.three(at));
            let origin = [292, 308, 324].map(|at| self.f32(at));
            return Some(([0, 1, 2].map(|axis| rows.map(|row| row[axis])), true, origin));
        }
        if self.i16(252) <= 0 {
            return None;
        }
        let [mut b, mut c, mut d] = self.three(256);
        let rest = 1.0 - (b * b + c * c + d * d);
        let a = if rest < 1e-7 {
            let norm = (b * b + c * c + d * d).sqrt();
            [b, c, d] = [b / norm, c / norm, d / norm];
            0.0
        } else {
            rest.sqrt()
        };
        // The third axis may point the other way.
        let third = if self.f32(76) < 0.0 { -1.0 } else { 1.0 };
        let rows = [
            [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
            [2.0 * (b * c + a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d - a * b)],
            [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a + d * d - c * c - b * b],
        ];
        let column = |axis: usize| rows.map(|row| row[axis] * if axis == 2 { third } else { 1.0 });
        Some(([0, 1, 2].map(column), false, self.three(268)))
    }
}
