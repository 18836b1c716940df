//! Arrays of numbers, from npy, npz, safetensors and PyTorch files.
//!
//! Whatever order and byte order a file has, an [`Array`] is in C order and little-endian.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use calipers_core::{Error, Result};

use crate::file::{ReadAt, cannot_read, empty as empty_file};

mod any_elements;
mod dtype;
mod element;
mod format;
pub mod npy;
pub mod npz;
pub mod pt;
pub mod safetensors;

pub use any_elements::AnyElements;
pub use dtype::Dtype;
pub use element::Element;
pub(crate) use format::ENDINGS;
pub use format::{FORMATS, Reader, Source};

/// A whole array in memory.
#[derive(Clone, Debug)]
pub struct Array {
    dtype: Dtype,
    shape: Vec<u64>,
    data: Data,
}

/// Memory that another program owns, readable for as long as it is shared.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

#[derive(Clone)]
enum Data {
    /// Little-endian, C order, from a place in the bytes of the file that held them.
    Bytes(Vec<u8>, usize),
    /// The same, in memory that is not ours.
    Shared(SharedBytes),
    Texts(Vec<String>),
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes, start) => write!(f, "{} bytes", bytes.len() - start),
            Self::Shared(bytes) => write!(f, "{} shared bytes", (**bytes).as_ref().len()),
            Self::Texts(texts) => texts.fmt(f),
        }
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        let same = self.dtype == other.dtype && self.shape == other.shape;
        same && self.bytes() == other.bytes() && self.texts() == other.texts()
    }
}

impl Array {
    /// An array in memory of another owner: little-endian elements in C order, not copied.
    pub fn shared(dtype: Dtype, shape: Vec<u64>, bytes: SharedBytes) -> Result<Self> {
        let length = (*bytes).as_ref().len() as u64;
        if byte_count(&shape, dtype.size()) != Some(length) {
            return Err(Error::value("the memory is not as long as the shape says")
                .found(format!("{length} bytes for {} {shape:?}", dtype.name())));
        }
        Ok(Self { dtype, shape, data: Data::Shared(bytes) })
    }

    /// Little-endian elements in C order; their number must fit the shape.
    fn from_bytes(dtype: Dtype, shape: Vec<u64>, bytes: Vec<u8>) -> Self {
        Self::from_tail(dtype, shape, bytes, 0)
    }

    /// The same, where the elements begin at byte `start`.
    fn from_tail(dtype: Dtype, shape: Vec<u64>, bytes: Vec<u8>, start: usize) -> Self {
        debug_assert_eq!(byte_count(&shape, dtype.size()), Some((bytes.len() - start) as u64));
        Self { dtype, shape, data: Data::Bytes(bytes, start) }
    }

    fn from_texts(shape: Vec<u64>, texts: Vec<String>) -> Self {
        Self { dtype: Dtype::Text, shape, data: Data::Texts(texts) }
    }

    /// A single whole number.
    fn of_number(number: u64) -> Self {
        Self::from_bytes(Dtype::U64, Vec::new(), number.to_le_bytes().to_vec())
    }

    /// What lies in a range of an axis, which reaches no further than the axis.
    fn part(&self, axis: usize, range: std::ops::Range<u64>) -> Result<Self> {
        let mut shape = self.shape.clone();
        let length = std::mem::replace(&mut shape[axis], range.end - range.start);
        let (start, end) = (range.start as usize, range.end as usize);
        if let Data::Texts(texts) = &self.data {
            return match shape.len() {
                1 => Ok(Self::from_texts(shape, texts[start..end].to_vec())),
                _ => Err(Error::value("texts are cut along their only axis")),
            };
        }
        // All of them count elements that are in memory.
        let inner = shape[axis + 1..].iter().product::<u64>() as usize * self.dtype.size();
        let mut bytes = buffer(byte_count(&shape, self.dtype.size()).unwrap_or(0) as usize, 0)?;
        let (row, part) = (length as usize * inner, (end - start) * inner);
        if part > 0 {
            for (from, to) in self.bytes().chunks_exact(row).zip(bytes.chunks_exact_mut(part)) {
                to.copy_from_slice(&from[start * inner..end * inner]);
            }
        }
        Ok(Self::from_bytes(self.dtype, shape, bytes))
    }

    /// A single text.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self::from_texts(Vec::new(), vec![text.into()])
    }

    /// What the elements are.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The length of each axis; empty for a single value.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Texts(texts) => texts.len(),
            Data::Bytes(..) | Data::Shared(_) => self.bytes().len() / self.dtype.size(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as floats. Whole numbers that a float cannot hold exactly are an error.
    pub fn to_f64s(&self) -> Result<Vec<f64>> {
        let mut out = buffer(self.len(), 0.0)?;
        dtype::to_f64s(self.dtype, self.bytes(), &mut out, 0)?;
        Ok(out)
    }

    /// The elements of an integer or bool array.
    pub fn to_i64s(&self) -> Result<Vec<i64>> {
        let mut out = buffer(self.len(), 0)?;
        dtype::to_i64s(self.dtype, self.bytes(), &mut out, 0)?;
        Ok(out)
    }

    /// The elements of a text array.
    pub fn texts(&self) -> Option<&[String]> {
        match &self.data {
            Data::Texts(texts) => Some(texts),
            Data::Bytes(..) | Data::Shared(_) => None,
        }
    }

    /// The elements as they are kept: little-endian, in C order; empty for text.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Bytes(bytes, start) => &bytes[*start..],
            Data::Shared(bytes) => (**bytes).as_ref(),
            Data::Texts(_) => &[],
        }
    }
}

/// Integer data with two axes, read one part of a row at a time and never converted as a whole.
pub trait Matrix: Send + Sync {
    /// What the elements are.
    fn dtype(&self) -> Dtype;
    /// The length of each axis.
    fn shape(&self) -> &[u64];
    /// Fills `out` with the elements of a row from `start`. Fails when the data has other than two
    /// axes, the part is outside of it, or its elements are not whole numbers.
    fn read_row(&self, row: u64, start: u64, out: &mut [i64]) -> Result<()>;
}

impl Matrix for Array {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn read_row(&self, row: u64, start: u64, out: &mut [i64]) -> Result<()> {
        let first = first_element(&self.shape, row, start, out.len())?;
        let size = self.dtype.size();
        // The part is inside an array that is in memory, so that its numbers fit a usize.
        let bytes = self.bytes().get(first as usize * size..).unwrap_or_default();
        dtype::to_i64s(self.dtype, bytes, out, first)
    }
}

/// A file that holds one array, of which only the header has been read.
pub trait ArrayFile: Matrix {
    /// The whole array.
    fn read_all(&self) -> Result<Array>;
    /// The elements `[index, ..]`, as an array with one axis less.
    fn read_slab(&self, index: u64) -> Result<Array>;
}

/// The C-order number of element `[row, start]`, once the whole part is known to be inside.
fn first_element(shape: &[u64], row: u64, start: u64, length: usize) -> Result<u64> {
    let &[rows, columns] = shape else {
        return Err(Error::value("the array must have two axes").found(format!("shape {shape:?}")));
    };
    let end = start.checked_add(length as u64);
    if row >= rows || end.is_none_or(|end| end > columns) {
        return Err(Error::value("the piece lies outside the array")
            .found(format!("row {row}, {length} elements from {start}"))
            .allowed(format!("inside shape {shape:?}")));
    }
    Ok(row * columns + start)
}

/// The named arrays of one file, each decoded when it is asked for.
pub struct Arrays {
    stored: BTreeMap<String, Decode>,
    texts: BTreeMap<String, String>,
}

type Decode = Box<dyn Fn() -> Result<Array> + Send + Sync>;

impl Arrays {
    /// Arrays that are in memory already, by name.
    pub fn of(arrays: impl IntoIterator<Item = (String, Array)>) -> Self {
        let stored = arrays.into_iter().map(|(name, array)| {
            let decode: Decode = Box::new(move || Ok(array.clone()));
            (name, decode)
        });
        Self { stored: stored.collect(), texts: BTreeMap::new() }
    }

    /// The names, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.stored.keys().cloned().collect()
    }

    /// The text that the file has beside its arrays under a name.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str)
    }

    /// Decodes one array; `None` when there is no such name.
    pub fn get(&self, key: &str) -> Result<Option<Array>> {
        let decoded = self.stored.get(key).map(|decode| decode());
        decoded.transpose().map_err(|error| error.at(format!("key {key}")))
    }
}

impl fmt::Debug for Arrays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.stored.keys()).finish()
    }
}

/// The number of elements of a shape, unless it overflows.
fn element_count(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(1_u64, |n, axis| n.checked_mul(*axis)) }
}

fn byte_count(shape: &[u64], item: usize) -> Option<u64> {
    element_count(shape)?.checked_mul(item as u64)
}

/// A vector of `length` copies, or an error when the memory is not there.
fn buffer<T: Copy>(length: usize, value: T) -> Result<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(length).map_err(|_| out_of_memory(length as u64 * size_of::<T>() as u64))?;
    out.resize(length, value);
    Ok(out)
}

/// `length` bytes from `start`, which the caller knows to be inside the source.
pub(crate) fn read_range(source: &dyn ReadAt, start: u64, length: u64) -> Result<Vec<u8>> {
    let mut bytes = buffer(usize::try_from(length).map_err(|_| out_of_memory(length))?, 0)?;
    read_at(source, &mut bytes, start)?;
    Ok(bytes)
}

pub(crate) fn read_at(source: &dyn ReadAt, bytes: &mut [u8], start: u64) -> Result<()> {
    source.read_exact_at(bytes, start).map_err(|error| cannot_read(error).at(format!("byte {start}")))
}

pub(crate) fn out_of_memory(bytes: u64) -> Error {
    Error::io("not enough memory for the array").found(format!("{bytes} bytes"))
}
