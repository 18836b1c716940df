//! A tensor of a PyTorch file: a strided window onto a storage.

use calipers_core::{Error, Result};

use crate::array::{Array, Dtype, buffer, byte_count, dtype};
use crate::compress::HARMLESS;
use crate::pickle::{Node, Object, Pickle, Value};
use crate::{limits, memory};

/// Where the elements of a tensor lie, all of it checked by [`Tensor::check`].
#[derive(Debug)]
pub(super) struct Tensor {
    /// The name of the storage in the archive.
    pub(super) storage: String,
    dtype: Dtype,
    /// Elements in the storage, as the pickle says.
    elements: u64,
    offset: u64,
    shape: Vec<u64>,
    strides: Vec<u64>,
}

impl Tensor {
    /// Reads the arguments of the call that would have made the tensor.
    pub(super) fn parse(pickle: &Pickle<'_>, object: &Object) -> Result<Self> {
        let odd = || Error::format("pt: a tensor is not stored as torch.save stores it");
        let mut object = object;
        if object.class == "torch._utils._rebuild_parameter" {
            let inner = pickle.sequence(object.arguments).and_then(|arguments| arguments.first());
            object = inner.and_then(|inner| pickle.object(*inner)).ok_or_else(odd)?;
        }
        let arguments = pickle.sequence(object.arguments).ok_or_else(odd)?;
        let typed = match object.class {
            "torch._utils._rebuild_tensor_v2" => None,
            "torch._utils._rebuild_tensor_v3" => Some(*arguments.get(6).ok_or_else(odd)?),
            _ => return Err(odd()),
        };
        let &[storage, offset, shape, strides, ..] = arguments else { return Err(odd()) };
        let Some(Node::Persistent(storage)) = pickle.node(storage) else { return Err(odd()) };
        let Some(&[_, class, name, _location, count]) = pickle.sequence(*storage) else { return Err(odd()) };
        let name = pickle.text(name).ok_or_else(odd)?;
        let count = whole(count).ok_or_else(odd)?;
        let (dtype, elements) = match (pickle.node(class), typed.map(|typed| pickle.node(typed))) {
            (Some(Node::Global(class)), None) => (storage_dtype(class).ok_or_else(odd)?, count),
            // An untyped storage is counted in bytes.
            (Some(Node::Global("torch.storage.UntypedStorage")), Some(Some(Node::Global(typed)))) => {
                let dtype = typed_dtype(typed).ok_or_else(odd)?;
                (dtype, count / dtype.size() as u64)
            }
            _ => return Err(odd()),
        };
        let (shape, strides) = (axes(pickle, shape).ok_or_else(odd)?, axes(pickle, strides).ok_or_else(odd)?);
        if shape.len() != strides.len() || shape.len() > limits::RANK {
            return Err(odd().found(format!("shape {shape:?}, strides {strides:?}")));
        }
        let offset = whole(offset).ok_or_else(odd)?;
        Ok(Self { storage: name.to_string(), dtype, elements, offset, shape, strides })
    }

    /// Compares the tensor with the size of its storage, before anything is read or allocated.
    pub(super) fn check(&self, stored: Option<u64>) -> Result<()> {
        let stored = stored.ok_or_else(|| Error::format("pt: a storage is missing in the archive"))?;
        let size = self.dtype.size() as u64;
        if self.elements.checked_mul(size) != Some(stored) {
            return Err(Error::format("pt: a storage has another size than the pickle says")
                .found(format!("{stored} bytes"))
                .allowed(format!("{} elements of {size} bytes", self.elements)));
        }
        let bytes = byte_count(&self.shape, self.dtype.size());
        let outside = || {
            Error::format("pt: a tensor reaches outside its storage")
                .found(format!("shape {:?}, strides {:?} from {}", self.shape, self.strides, self.offset))
                .allowed(format!("{} elements", self.elements))
        };
        if bytes == Some(0) {
            return Ok(());
        }
        let reach =
            |last: u64, (axis, stride): (&u64, &u64)| last.checked_add((axis - 1).checked_mul(*stride)?);
        let last = self.shape.iter().zip(&self.strides).try_fold(self.offset, reach);
        if last.is_none_or(|last| last >= self.elements) {
            return Err(outside());
        }
        // A stride of 0 repeats elements: a few bytes could stand for any number of them.
        if bytes.is_none_or(|bytes| bytes > HARMLESS.max(stored.saturating_mul(limits::INFLATE_RATIO))) {
            return Err(outside().advice("call contiguous() before saving"));
        }
        memory::ask("the tensor", bytes.unwrap_or(u64::MAX))
    }

    /// The length of its first axis, and whether that is its only one.
    pub(super) fn rows(&self) -> Option<(u64, bool)> {
        Some((*self.shape.first()?, self.shape.len() == 1))
    }

    /// The elements in C order. The storage must have passed [`Tensor::check`].
    pub(super) fn gather(&self, storage: &[u8], big_endian: bool) -> Result<Array> {
        let mut bytes = match self.dtype.size() {
            1 => self.gather_sized::<1>(storage)?,
            2 => self.gather_sized::<2>(storage)?,
            4 => self.gather_sized::<4>(storage)?,
            _ => self.gather_sized::<8>(storage)?,
        };
        if big_endian {
            dtype::swap_bytes(&mut bytes, self.dtype.size());
        }
        Ok(Array::from_bytes(self.dtype, self.shape.clone(), bytes))
    }

    fn gather_sized<const N: usize>(&self, storage: &[u8]) -> Result<Vec<u8>> {
        let length = byte_count(&self.shape, N).unwrap_or(0) as usize;
        let mut bytes = buffer(length, 0)?;
        let (stored, out) = (storage.as_chunks::<N>().0, bytes.as_chunks_mut::<N>().0);
        if out.is_empty() {
            return Ok(bytes);
        }
        let row = self.shape.last().map_or(1, |axis| *axis as usize);
        let step = self.strides.last().map_or(1, |stride| *stride as usize);
        let mut place = vec![0; self.shape.len().saturating_sub(1)];
        let mut start = self.offset as usize;
        for row in out.chunks_mut(row) {
            for (index, slot) in row.iter_mut().enumerate() {
                *slot = stored[start + index * step];
            }
            for axis in (0..place.len()).rev() {
                place[axis] += 1;
                start += self.strides[axis] as usize;
                if place[axis] < self.shape[axis] {
                    break;
                }
                start -= (self.strides[axis] * self.shape[axis]) as usize;
                place[axis] = 0;
            }
        }
        Ok(bytes)
    }
}

fn whole(value: Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(number).ok(),
        _ => None,
    }
}

fn axes(pickle: &Pickle<'_>, value: Value) -> Option<Vec<u64>> {
    let axes = pickle.sequence(value)?;
    // Longer ones are refused by their length; there is no need to hold them.
    axes.iter().take(limits::RANK + 1).map(|axis| whole(*axis)).collect()
}

fn storage_dtype(class: &str) -> Option<Dtype> {
    Some(match class {
        "torch.FloatStorage" => Dtype::F32,
        "torch.DoubleStorage" => Dtype::F64,
        "torch.HalfStorage" => Dtype::F16,
        "torch.BFloat16Storage" => Dtype::BF16,
        "torch.LongStorage" => Dtype::I64,
        "torch.IntStorage" => Dtype::I32,
        "torch.ShortStorage" => Dtype::I16,
        "torch.CharStorage" => Dtype::I8,
        "torch.ByteStorage" => Dtype::U8,
        "torch.BoolStorage" => Dtype::Bool,
        _ => return None,
    })
}

fn typed_dtype(name: &str) -> Option<Dtype> {
    Some(match name {
        "torch.uint16" => Dtype::U16,
        "torch.uint32" => Dtype::U32,
        "torch.uint64" => Dtype::U64,
        _ => return None,
    })
}
