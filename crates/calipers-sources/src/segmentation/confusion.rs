//! Confusion matrices in place of maps: JSON lines, npz or safetensors, one matrix a unit.

use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays, npz, safetensors};
use calipers_io::compress::{Compression, inflate};
use calipers_io::limits;
use calipers_io::score::confusion::{self, Matrix, MatrixLine};

use super::shape_text;
use crate::inputs::{Inputs, role};
use crate::walk::has_ending;

/// A file of matrices.
pub struct Matrices {
    /// The path as given, with `/`.
    pub shown: String,
    content: Content,
}

enum Content {
    Arrays(Arrays),
    Lines(Vec<u8>),
}

/// One matrix, by name.
pub struct MatrixAt {
    /// The unit's name.
    pub name: String,
    line: Option<MatrixLine>,
}

impl Matrices {
    /// Opens a file and lists its units in byte order of their names.
    pub fn open(path: &Path, inputs: &Inputs) -> Result<(Self, Vec<MatrixAt>)> {
        let shown = path.display().to_string().replace(std::path::MAIN_SEPARATOR, "/");
        let opened = Self::content(path, &shown, inputs).map_err(|error| error.in_file(&shown))?;
        let (content, mut units) = opened;
        if units.is_empty() {
            return Err(Error::value("no confusion matrix in the file").in_file(&shown));
        }
        units.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok((Self { shown, content }, units))
    }

    fn content(path: &Path, shown: &str, inputs: &Inputs) -> Result<(Content, Vec<MatrixAt>)> {
        let open = if has_ending(shown, ".npz") {
            npz::open
        } else if has_ending(shown, ".safetensors") {
            safetensors::open
        } else {
            let (compression, plain) = Compression::of_name(shown);
            if !has_ending(plain, ".jsonl") {
                return Err(Error::value("the ending of the file says no format")
                    .allowed(".jsonl .npz .safetensors")
                    .advice("confusion matrices come as JSON lines or arrays"));
            }
            let mut bytes = inputs.read(path, shown, &role("confusion", None))?;
            if compression != Compression::None {
                bytes = inflate(&bytes, compression, limits::INFLATED)?;
            }
            let units = confusion::index(&bytes)?
                .into_iter()
                .map(|line| MatrixAt { name: line.unit.clone(), line: Some(line) })
                .collect();
            return Ok((Content::Lines(bytes), units));
        };
        let arrays = open(inputs.open(path, shown, &role("confusion", None))?)?;
        let units = arrays.keys().into_iter().map(|name| MatrixAt { name, line: None }).collect();
        Ok((Content::Arrays(arrays), units))
    }

    /// Reads one matrix.
    pub fn read(&self, unit: &MatrixAt) -> Result<Matrix> {
        let matrix = match (&self.content, &unit.line) {
            (Content::Lines(bytes), Some(line)) => confusion::matrix(&bytes[line.bytes.clone()], line.line),
            (Content::Lines(_), None) => Err(Error::format("the line is gone")),
            (Content::Arrays(arrays), _) => match arrays.get(&unit.name) {
                Ok(Some(array)) => from_array(&array),
                Ok(None) => Err(Error::format("the array is gone")),
                Err(error) => Err(error),
            },
        };
        matrix.map_err(|error| error.at(format!("unit {}", unit.name)).in_file(&self.shown))
    }
}

/// A matrix of whole numbers from an array.
pub(super) fn from_array(array: &Array) -> Result<Matrix> {
    let found = format!("{} {}", array.dtype().name(), shape_text(array.shape()));
    let (&[rows, columns] | &[1, rows, columns]) = array.shape() else {
        return Err(Error::value("a confusion matrix has two axes").found(found));
    };
    // The array is in memory, so that its axes fit.
    let (rows, columns) = (rows as usize, columns as usize);
    let counts: Result<Vec<u64>> = if array.dtype().is_float() {
        let values = array.to_f64s()?;
        let count = |(at, value): (usize, &f64)| cell(confusion::whole(*value), value, at, columns);
        values.iter().enumerate().map(count).collect()
    } else {
        let values = array.to_i64s()?;
        let count = |(at, value): (usize, &i64)| cell(u64::try_from(*value).ok(), value, at, columns);
        values.iter().enumerate().map(count).collect()
    };
    Ok(Matrix { rows, columns, counts: counts? })
}

fn cell(count: Option<u64>, value: &dyn std::fmt::Display, at: usize, columns: usize) -> Result<u64> {
    count.ok_or_else(|| {
        Error::value("a count must be a whole number, 0 or more")
            .at(format!("row {}, column {}", at / columns, at % columns))
            .found(value)
    })
}
