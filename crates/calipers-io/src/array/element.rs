//! Elements borrowed from an array's bytes, and arrays made of elements.

use std::borrow::Cow;

use calipers_core::{Error, Result};
use half::{bf16, f16};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{Array, Dtype, byte_count};

/// A Rust type whose little-endian bytes are the elements of arrays of one [`Dtype`].
pub trait Element: Copy + FromBytes + IntoBytes + Immutable + KnownLayout + 'static {
    /// The type of the arrays.
    const DTYPE: Dtype;
    /// The value that these bytes stand for when they are little-endian.
    fn swapped_to_native(self) -> Self;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident, $swap:expr;)*) => {$(
        impl Element for $rust {
            const DTYPE: Dtype = Dtype::$dtype;
            fn swapped_to_native(self) -> Self {
                $swap(self)
            }
        }
    )*};
}

elements! {
    u8 => U8, |value| value;
    u16 => U16, u16::from_le;
    i64 => I64, i64::from_le;
    f16 => F16, |value: f16| f16::from_bits(u16::from_le(value.to_bits()));
    bf16 => BF16, |value: bf16| bf16::from_bits(u16::from_le(value.to_bits()));
    f32 => F32, |value: f32| f32::from_bits(u32::from_le(value.to_bits()));
    f64 => F64, |value: f64| f64::from_bits(u64::from_le(value.to_bits()));
}

impl Array {
    /// An array of these elements in C order; their number must fit the shape.
    pub fn of_elements<T: Element>(shape: &[usize], elements: &[T]) -> Result<Self> {
        let shape: Vec<u64> = shape.iter().map(|axis| *axis as u64).collect();
        let mut bytes = elements.as_bytes().to_vec();
        if cfg!(target_endian = "big") {
            super::dtype::swap_bytes(&mut bytes, size_of::<T>());
        }
        if byte_count(&shape, size_of::<T>()) != Some(bytes.len() as u64) {
            return Err(Error::value("the elements are not as many as the shape says")
                .found(format!("{} for {shape:?}", elements.len())));
        }
        Ok(Self::from_bytes(T::DTYPE, shape, bytes))
    }

    /// The elements, borrowed wherever memory has them as the machine wants them; `None` when they
    /// are of another type.
    pub fn elements<T: Element>(&self) -> Option<Cow<'_, [T]>> {
        if self.dtype() != T::DTYPE {
            return None;
        }
        let bytes = self.bytes();
        if cfg!(target_endian = "little")
            && let Ok(elements) = <[T]>::ref_from_bytes(bytes)
        {
            return Some(Cow::Borrowed(elements));
        }
        let read = |element: &[u8]| T::read_from_bytes(element).ok().map(T::swapped_to_native);
        bytes.chunks_exact(size_of::<T>()).map(read).collect::<Option<Vec<T>>>().map(Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_borrowed_where_they_are_aligned_and_copied_where_not() {
        let values = [1.5f32, -2.0, 3.25];
        for start in 0..8 {
            let mut bytes = vec![0; start];
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            let array = Array::from_tail(Dtype::F32, vec![3], bytes, start);
            let elements = array.elements::<f32>().expect("the type is right");
            assert_eq!(elements.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), values.map(f32::to_bits));
            assert!(array.elements::<f64>().is_none() && array.elements::<u16>().is_none());
        }
    }
}
