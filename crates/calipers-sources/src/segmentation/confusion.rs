//! Confusion matrices in place of maps: JSON lines, npz or safetensors, one matrix per unit.

use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::array::{self, Array, Arrays, Reader};
use calipers_io::compress;
use calipers_io::score::CONFUSIONS;
use calipers_io::score::json::confusion::{self, Matrix, MatrixLine};

use crate::array_file;
use crate::array_file::shape_text;
use crate::inputs::{Inputs, role};

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
        let notes = role("confusion", None);
        if let Some(Reader::Named(open)) = array_file::reader(shown) {
            let arrays = open(inputs.open(path, shown, &notes)?)?;
            let units = arrays.keys().into_iter().map(|name| MatrixAt { name, line: None }).collect();
            return Ok((Content::Arrays(arrays), units));
        }
        let Some(format) = CONFUSIONS.by_name(compress::FORMATS.stem(shown)) else {
            let mut endings = CONFUSIONS.endings();
            endings.extend(array::FORMATS.endings_where(|reader| matches!(reader, Reader::Named(_))));
            return Err(Error::value("the ending of the file says no format")
                .allowed(endings.join(" "))
                .advice("confusion matrices come as JSON lines or arrays"));
        };
        let bytes = inputs.read(path, shown, &notes)?;
        let bytes = compress::inflated(bytes.into(), compress::FORMATS.by_name(shown))?.into_owned();
        let units = (format.reader)(&bytes)?;
        let units = units.into_iter().map(|line| MatrixAt { name: line.unit.clone(), line: Some(line) });
        let units = units.collect();
        Ok((Content::Lines(bytes), units))
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
