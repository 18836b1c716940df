//! MetaImage label volumes: a header of lines, and data behind it or in a file beside it.

use std::collections::BTreeMap;
use std::io::Read;

use calipers_core::{Error, Result};
use flate2::bufread::ZlibDecoder;

use super::{Geometry, Sample, Samples, checked_sizes, unit_vectors};
use crate::file::empty;
use crate::image::{Beside, Image};
use crate::limits;

/// The longest header.
const HEADER: usize = 64 << 10;
/// The key of the last line.
const DATA_FILE: &str = "ElementDataFile";
/// The name that stands for the bytes behind the header.
const LOCAL: &str = "LOCAL";

/// Decodes a whole file, with the file of its data where that is another one.
pub fn decode(bytes: &[u8], beside: Beside<'_>, image: &mut Image) -> Result<()> {
    if bytes.is_empty() {
        return Err(empty());
    }
    let (header, rest) = Header::new(bytes)?;
    let samples = header.samples()?;
    let geometry = header.geometry(samples.sizes.len())?;
    let file = header.text(DATA_FILE)?;
    let other;
    let data = if file == LOCAL {
        rest
    } else {
        other = beside(plain(file)?)?;
        &other
    };
    header.read(data, &samples, image)?;
    image.geometry = Some(geometry);
    Ok(())
}

/// A name of a file in the same folder.
fn plain(name: &str) -> Result<&str> {
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':', '%', '\0'])
        && !name.split_whitespace().any(|word| word == "LIST")
        && !name.contains(' ');
    if is_plain {
        return Ok(name);
    }
    Err(Error::format("metaimage: the data lie in several files or in another folder")
        .at(DATA_FILE)
        .found(format!("{name:?}"))
        .allowed("LOCAL, or the plain name of one file in the same folder"))
}

struct Header<'a> {
    lines: BTreeMap<&'a str, &'a str>,
}

impl<'a> Header<'a> {
    /// The header, and the bytes behind it.
    fn new(bytes: &'a [u8]) -> Result<(Self, &'a [u8])> {
        let mut lines = BTreeMap::new();
        let mut rest = bytes;
        loop {
            let used = bytes.len() - rest.len();
            let end = rest.iter().take(HEADER.saturating_sub(used)).position(|byte| *byte == b'\n');
            // A file of its own may end without a line break.
            let (line, after) = match end {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None if rest.len() + used <= HEADER && !rest.is_empty() => (rest, &rest[rest.len()..]),
                None => {
                    return Err(Error::format("metaimage: the header has no ElementDataFile")
                        .at(format!("byte {used}"))
                        .advice("the file is cut, or no MetaImage"));
                }
            };
            let text = std::str::from_utf8(line).ok().and_then(|line| line.split_once('='));
            let Some((key, value)) = text.map(|(key, value)| (key.trim(), value.trim())) else {
                return Err(Error::format("metaimage: not a line `Key = Value`")
                    .at(format!("line {}", lines.len() + 1))
                    .found(line.iter().take(40).copied().collect::<Vec<_>>().escape_ascii()));
            };
            if lines.insert(key, value).is_some() {
                let error = Error::format("metaimage: a key occurs twice").found(key);
                return Err(error.at(format!("line {}", lines.len() + 1)));
            }
            rest = after;
            if key == DATA_FILE {
                return Ok((Self { lines }, rest));
            }
        }
    }

    fn get(&self, keys: &[&str]) -> Option<&'a str> {
        keys.iter().find_map(|key| self.lines.get(key).copied())
    }

    fn text(&self, key: &str) -> Result<&'a str> {
        self.get(&[key]).ok_or_else(|| {
            Error::format("metaimage: a key is missing").at(key).allowed(format!("{key} = .."))
        })
    }

    fn flag(&self, keys: &[&str], default: bool) -> Result<bool> {
        match self.get(keys) {
            None => Ok(default),
            Some(word) if word.eq_ignore_ascii_case("true") => Ok(true),
            Some(word) if word.eq_ignore_ascii_case("false") => Ok(false),
            Some(word) => {
                let error = Error::format("metaimage: neither True nor False").at(keys[0]).found(word);
                Err(error.allowed("True or False"))
            }
        }
    }

    /// This many numbers, where one of the keys is there.
    fn numbers<T: std::str::FromStr>(&self, keys: &[&str], count: usize) -> Result<Option<Vec<T>>> {
        let Some(text) = self.get(keys) else { return Ok(None) };
        let numbers: Option<Vec<T>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.len() == count => Ok(Some(numbers)),
            _ => Err(Error::format("metaimage: not the numbers that are needed")
                .at(keys[0])
                .found(text)
                .allowed(format!("{count} numbers"))),
        }
    }

    fn samples(&self) -> Result<Samples> {
        let axes = self.numbers::<usize>(&["NDims"], 1)?.map(|axes| axes[0]);
        let Some(axes @ (2 | 3)) = axes else {
            let found = self.text("NDims")?;
            let error = Error::format("metaimage: not a number of axes").at("NDims").found(found);
            return Err(error.allowed("2 or 3"));
        };
        self.text("DimSize")?;
        let sizes: Vec<u64> = self.numbers(&["DimSize"], axes)?.unwrap_or_default();
        checked_sizes(&sizes, "DimSize", limits::PIXELS)?;
        if let Some(channels) = self.numbers::<u64>(&["ElementNumberOfChannels"], 1)?
            && channels[0] != 1
        {
            let error = Error::format("metaimage: more than one value per element");
            return Err(error.at("ElementNumberOfChannels").found(channels[0]).allowed("1"));
        }
        if !self.flag(&["BinaryData"], true)? {
            let error = Error::format("metaimage: data written as text are not read").at("BinaryData");
            return Err(error.found("False").allowed("True"));
        }
        let name = self.text("ElementType")?;
        let sample = match name {
            "MET_UCHAR" => Sample::U8,
            "MET_CHAR" => Sample::I8,
            "MET_USHORT" => Sample::U16,
            "MET_SHORT" => Sample::I16,
            "MET_UINT" | "MET_ULONG" => Sample::U32,
            "MET_INT" | "MET_LONG" => Sample::I32,
            "MET_ULONG_LONG" => Sample::U64,
            "MET_LONG_LONG" => Sample::I64,
            "MET_FLOAT" => Sample::F32,
            "MET_DOUBLE" => Sample::F64,
            other => {
                return Err(Error::format("metaimage: this type holds no labels")
                    .at("ElementType")
                    .found(other)
                    .allowed(
                        "MET_UCHAR, MET_CHAR, MET_USHORT, MET_SHORT, MET_UINT, MET_INT, MET_ULONG, MET_LONG, \
                              MET_ULONG_LONG, MET_LONG_LONG; MET_FLOAT and MET_DOUBLE of whole numbers",
                    ));
            }
        };
        let big_endian = self.flag(&["BinaryDataByteOrderMSB", "ElementByteOrderMSB"], false)?;
        Ok(Samples { sample, big_endian, scale: None, sizes })
    }

    fn geometry(&self, axes: usize) -> Result<Geometry> {
        let spacing = self.numbers::<f64>(&["ElementSpacing", "ElementSize"], axes)?;
        let matrix = self.numbers::<f64>(&["TransformMatrix"], axes * axes)?;
        let origin = self.numbers::<f64>(&["Offset", "Position", "Origin"], axes)?;
        let directions = match matrix {
            None => None,
            Some(matrix) => {
                let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                for (vector, row) in vectors.iter_mut().zip(matrix.chunks(axes)) {
                    vector[..axes].copy_from_slice(row);
                }
                let unit = unit_vectors(vectors);
                Some(unit.ok_or_else(|| {
                    let error = Error::format("metaimage: the axes have no direction").at("TransformMatrix");
                    error.found(self.get(&["TransformMatrix"]).unwrap_or_default())
                })?)
            }
        };
        let origin = origin.map(|origin| [0, 1, 2].map(|axis| origin.get(axis).copied().unwrap_or(0.0)));
        let spacing = spacing.map(|steps| steps.into_iter().rev().collect());
        Ok(Geometry { spacing, directions, origin, in_other_unit: false, disagrees: false })
    }

    fn read(&self, data: &[u8], samples: &Samples, image: &mut Image) -> Result<()> {
        let needed = samples.length();
        let wrong = |found: u64| {
            Error::format("metaimage: the data have another length than the size says")
                .at(DATA_FILE)
                .found(format!("{found} bytes"))
                .allowed(format!("{needed} bytes"))
                .advice("the file is cut or damaged: copy or write it again")
        };
        let header_size = self.numbers::<i64>(&["HeaderSize"], 1)?.map_or(0, |size| size[0]);
        if !matches!(header_size, -1 | 0) {
            let error = Error::format("metaimage: data that begin elsewhere are not read").at("HeaderSize");
            return Err(error.found(header_size).allowed("0, or -1 for the last bytes of the file"));
        }
        if self.flag(&["CompressedData"], false)? {
            let held = (data.len() as u64).saturating_mul(limits::INFLATE_RATIO);
            if needed > held {
                return Err(wrong(data.len() as u64));
            }
            let stored = self.numbers::<u64>(&["CompressedDataSize"], 1)?.map(|size| size[0]);
            let data = match stored.filter(|stored| *stored > 0) {
                None => data,
                Some(stored) if stored <= data.len() as u64 => &data[..stored as usize],
                Some(_) => return Err(wrong(data.len() as u64)),
            };
            let mut source = ZlibDecoder::new(data);
            samples.read(&mut source, image)?;
            let more = source.read(&mut [0]).map_err(|error| wrong(needed).found(error))?;
            return if more == 0 { Ok(()) } else { Err(wrong(needed + 1)) };
        }
        let held = data.len() as u64;
        let data = match header_size {
            -1 if held >= needed => &data[(held - needed) as usize..],
            _ if held == needed => data,
            _ => return Err(wrong(held)),
        };
        samples.read(&mut { data }, image)
    }
}
