//! Tensors of torch through DLPack's table of C functions: where a short tensor lies is said without an
//! object in between, which would take longer to make than its numbers to read.

use std::ffi::{c_int, c_void};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;

/// More axes than this are left to NumPy.
const AXES: usize = 4;

/// The device that is the memory of this process.
const CPU: i32 = 1;

/// The table that the type of a tensor carries, as DLPack 1 lays it out.
#[repr(C)]
struct Table {
    major: u32,
    _minor: u32,
    _older: *const c_void,
    /// Functions that allocate, export and import.
    _others: [*const c_void; 3],
    describe: Option<Describe>,
}

/// Fills in a description that is borrowed from the object; 0 is success, else an exception is set.
type Describe = unsafe extern "C" fn(*mut c_void, *mut Description) -> c_int;

/// A tensor as DLPack describes it.
#[repr(C)]
struct Description {
    data: *const u8,
    device: i32,
    _device_number: i32,
    axes: i32,
    kind: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    offset: u64,
}

/// What the elements of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Whole,
    Single,
    Double,
}

/// An element type of tensors.
pub(crate) trait Element {
    const KIND: Kind;
}

impl Element for i64 {
    const KIND: Kind = Kind::Whole;
}

impl Element for f32 {
    const KIND: Kind = Kind::Single;
}

impl Element for f64 {
    const KIND: Kind = Kind::Double;
}

/// The memory of a contiguous tensor. It is good for as long as the interpreter's lock is held and no
/// Python runs, which is why it does not leave the thread.
pub(crate) struct Lent {
    first: *const u8,
    shape: [usize; AXES],
    axes: usize,
    kind: Kind,
}

impl Lent {
    /// What an object of exactly the given type, that of torch's tensors, holds; `None` where there is
    /// more to it than contiguous memory of i64, f32 or f64.
    pub(crate) fn of(tensor_type: &Bound<'_, PyAny>, tensor: &Bound<'_, PyAny>) -> Option<Self> {
        let describe = table(tensor_type)?;
        let mut found = Description {
            data: std::ptr::null(),
            device: 0,
            _device_number: 0,
            axes: 0,
            kind: 0,
            bits: 0,
            lanes: 0,
            shape: std::ptr::null(),
            strides: std::ptr::null(),
            offset: 0,
        };
        // SAFETY: the object is alive and of the type that the table was found on, and the description has
        // the layout of the table's version.
        if unsafe { describe(tensor.as_ptr().cast(), &raw mut found) } != 0 {
            drop(PyErr::take(tensor.py()));
            return None;
        }
        let kind = match (found.kind, found.bits, found.lanes) {
            (0, 64, 1) => Kind::Whole,
            (2, 32, 1) => Kind::Single,
            (2, 64, 1) => Kind::Double,
            _ => return None,
        };
        let axes = usize::try_from(found.axes).ok().filter(|axes| *axes <= AXES)?;
        let lent = Self { first: found.data, shape: shape(&found, axes)?, axes, kind };
        let readable = found.device == CPU && found.offset == 0 && (lent.len() == 0 || !found.data.is_null());
        // A float may be marked as the negative of what lies in memory.
        let negated =
            || tensor.call_method0(intern!(tensor.py(), "is_neg")).and_then(|said| said.is_truthy());
        let as_stored = kind == Kind::Whole || matches!(negated(), Ok(false));
        (readable && as_stored).then_some(lent)
    }

    /// The lengths of the axes.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape[..self.axes]
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// The elements, if they are of this type.
    pub(crate) fn elements<T: Element>(&self) -> Option<&[T]> {
        if self.kind != T::KIND {
            return None;
        }
        if self.len() == 0 {
            return Some(&[]);
        }
        // SAFETY: `first` is where that many elements of this type lie one after the other, aligned as torch
        // aligns them, in a tensor that is alive; nothing can change it while the interpreter's lock is held
        // here.
        Some(unsafe { std::slice::from_raw_parts(self.first.cast(), self.len()) })
    }
}

/// The lengths of the axes of a contiguous tensor.
fn shape(found: &Description, axes: usize) -> Option<[usize; AXES]> {
    let mut shape = [0; AXES];
    let mut step = 1i64;
    for axis in (0..axes).rev() {
        // SAFETY: the description says that it has so many axes, each with a length.
        let length = unsafe { *found.shape.add(axis) };
        shape[axis] = usize::try_from(length).ok()?;
        if length != 1 && !found.strides.is_null() {
            // SAFETY: as above; strides are there for every axis or not at all.
            let stride = unsafe { *found.strides.add(axis) };
            if stride != step && !shape[axis..axes].contains(&0) {
                return None;
            }
        }
        step = step.checked_mul(length.max(1))?;
    }
    Some(shape)
}

/// The function that describes tensors, where the type carries a table of a version known here.
fn table(tensor_type: &Bound<'_, PyAny>) -> Option<Describe> {
    static DESCRIBE: PyOnceLock<Option<Describe>> = PyOnceLock::new();
    let py = tensor_type.py();
    *DESCRIBE.get_or_init(py, || {
        let capsule = tensor_type.getattr(intern!(py, "__dlpack_c_exchange_api__")).ok()?;
        let capsule = capsule.cast::<PyCapsule>().ok()?;
        let table = capsule.pointer_checked(Some(c"dlpack_exchange_api")).ok()?.cast::<Table>();
        // SAFETY: a capsule of that name holds a table that lives as long as the process and whose version
        // comes first, whatever follows it.
        let major = unsafe { (*table.as_ptr()).major };
        if major != 1 {
            return None;
        }
        // SAFETY: a table of version 1 has this layout.
        unsafe { (*table.as_ptr()).describe }
    })
}
