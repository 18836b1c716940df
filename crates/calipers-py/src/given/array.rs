//! Arrays from Python: NumPy memory is borrowed as it is, everything else becomes NumPy first.

use std::sync::Arc;

use calipers::core::Error;
use calipers::io::array::{Array, Arrays, Dtype};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::failure::wrong_type;

/// The memory of a NumPy array, kept alive by a reference to it.
struct Borrowed {
    #[expect(dead_code, reason = "holds the array whose memory this is")]
    owner: Py<PyUntypedArray>,
    first: *const u8,
    length: usize,
}

// SAFETY: the memory belongs to the array that `owner` keeps alive, is only read here, and does not
// move: NumPy refuses to resize an array that is referred to.
unsafe impl Send for Borrowed {}
// SAFETY: as above; nothing here has inner state.
unsafe impl Sync for Borrowed {}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `first` is the start of `length` bytes of one C-contiguous array, which is alive. The
        // package says that arrays must not be written to while a call reads them.
        unsafe { std::slice::from_raw_parts(self.first, self.length) }
    }
}

/// The array behind a Python object; `key` names it in messages.
pub(crate) fn read(object: &Bound<'_, PyAny>, key: &str) -> PyResult<Array> {
    // A subclass may mean something else by its memory: the package decides.
    if let Ok(array) = object.cast_exact::<PyUntypedArray>()
        && let Some(shared) = borrowed(array, None)
    {
        return shared.map_err(|error| crate::failure::raised(object.py(), &error));
    }
    // Lists, tensors, DLPack, strides, foreign byte orders: the package makes them plain arrays.
    static PLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let plain = PLAIN.get_or_try_init(py, || {
        PyResult::Ok(py.import("calipers._inputs.arrays")?.getattr("plain")?.unbind())
    })?;
    let (array, bfloat16): (Bound<'_, PyUntypedArray>, bool) = plain.call1(py, (object, key))?.extract(py)?;
    let dtype = bfloat16.then_some(Dtype::BF16);
    match borrowed(&array, dtype) {
        Some(shared) => shared.map_err(|error| crate::failure::raised(py, &error)),
        None => Err(wrong_type(
            py,
            &Error::value(format!("'{key}' has a type that is not read"))
                .at(format!("key {key}"))
                .found(array.dtype().str()?)
                .allowed("bool, integers of 8 to 64 bits, f16, bf16, f32, f64"),
        )),
    }
}

/// One array per unit: a list of arrays, or the parts of one along its first axis.
pub(crate) fn along(object: &Bound<'_, PyAny>, key: &str, count: usize) -> PyResult<Vec<Array>> {
    let py = object.py();
    let given = |found: usize| {
        let what = Error::value("there is an array for each name");
        crate::failure::raised(py, &what.at(key).found(format!("names has {count}, {key} {found}")))
    };
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let arrays = object.try_iter()?.map(|one| read(&one?, key)).collect::<PyResult<Vec<_>>>()?;
        return if arrays.len() == count { Ok(arrays) } else { Err(given(arrays.len())) };
    }
    let whole = read(object, key)?;
    let [first, rest @ ..] = whole.shape() else { return Err(given(0)) };
    if *first != count as u64 {
        return Err(given(*first as usize));
    }
    let length = whole.bytes().len().checked_div(count).unwrap_or_default();
    let part = |at: usize| {
        let part = Part { whole: whole.clone(), start: at * length, length };
        Array::shared(whole.dtype(), rest.to_vec(), Arc::new(part))
    };
    let parts = (0..count).map(part).collect::<calipers::Result<Vec<_>>>();
    parts.map_err(|error| crate::failure::raised(py, &error))
}

/// A part of an array.
struct Part {
    whole: Array,
    start: usize,
    length: usize,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.whole.bytes()[self.start..self.start + self.length]
    }
}

/// The arrays of a dictionary by name; what is `None` is left out.
pub(crate) fn read_all(arrays: &Bound<'_, PyDict>) -> PyResult<Arrays> {
    entries(arrays, read).map(Arrays::of)
}

/// The entries of a dictionary by name, each as `read` makes it; what is `None` is left out.
pub(crate) fn entries<T>(
    given: &Bound<'_, PyDict>,
    read: impl Fn(&Bound<'_, PyAny>, &str) -> PyResult<T>,
) -> PyResult<Vec<(String, T)>> {
    let entries = given.iter().filter(|(_, object)| !object.is_none()).map(|(name, object)| {
        let name: String = name.extract()?;
        let entry = read(&object, &name)?;
        Ok((name, entry))
    });
    entries.collect()
}

/// The array as it lies in memory; `None` when it is not contiguous, of another byte order or of a
/// type that is not read.
fn borrowed(array: &Bound<'_, PyUntypedArray>, dtype: Option<Dtype>) -> Option<calipers::Result<Array>> {
    let found = dtype_of(array)?;
    if !array.is_c_contiguous() || cfg!(target_endian = "big") {
        return None;
    }
    let shape: Vec<u64> = array.shape().iter().map(|axis| *axis as u64).collect();
    let length = array.len() * found.size();
    // SAFETY: the pointer to a NumPy array object is valid while it is borrowed.
    let first = unsafe { (*array.as_array_ptr()).fields.data } as *const u8;
    let memory = Borrowed { owner: array.clone().unbind(), first, length };
    Some(Array::shared(dtype.unwrap_or(found), shape, Arc::new(memory)))
}

fn dtype_of(array: &Bound<'_, PyUntypedArray>) -> Option<Dtype> {
    use numpy::PyArrayDescrMethods;
    let dtype = array.dtype();
    if dtype.byteorder() == b'>' {
        return None;
    }
    match (dtype.kind(), dtype.itemsize()) {
        (b'b', 1) => Some(Dtype::Bool),
        (b'u', 1) => Some(Dtype::U8),
        (b'u', 2) => Some(Dtype::U16),
        (b'u', 4) => Some(Dtype::U32),
        (b'u', 8) => Some(Dtype::U64),
        (b'i', 1) => Some(Dtype::I8),
        (b'i', 2) => Some(Dtype::I16),
        (b'i', 4) => Some(Dtype::I32),
        (b'i', 8) => Some(Dtype::I64),
        (b'f', 2) => Some(Dtype::F16),
        (b'f', 4) => Some(Dtype::F32),
        (b'f', 8) => Some(Dtype::F64),
        _ => None,
    }
}

/// Where the elements of an array lie once they have been taken over.
#[pyfunction]
pub(crate) fn address(array: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(read(array, "array")?.bytes().as_ptr() as usize)
}
