//! Features and class scores as a run has them in memory, shared by the pairs that need them.

use std::borrow::Cow;
use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Dtype, Element};
use calipers_metrics::robustness::{Cells, Matrix};
use half::{bf16, f16};

use crate::array_file::{axis, shape};

/// A line of numbers for each node. A clone shares the memory.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// What errors call them.
    name: Arc<str>,
    rows: usize,
    columns: usize,
    /// Where the numbers begin among the values.
    start: usize,
    values: Arc<Values>,
}

/// Values of one type, in C order.
#[derive(Debug)]
enum Values {
    /// As they were read; of a type that can be borrowed.
    Read(Array),
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Int(Vec<i64>),
}

impl Numbers {
    /// Numbers that were computed, node by node. Errors call them by `name`.
    pub fn computed(name: &str, rows: usize, columns: usize, values: Vec<f64>) -> Self {
        Self { name: name.into(), rows, columns, start: 0, values: Arc::new(Values::F64(values)) }
    }

    /// An array with an axis of nodes and one of columns. Errors call it by `name`.
    pub fn of(name: &str, array: Array) -> Result<Self> {
        Self::read(name, array).map_err(|error| error.at(name))
    }

    fn read(name: &str, array: Array) -> Result<Self> {
        let &[rows, columns] = array.shape() else {
            return Err(Error::value("the array must have two axes")
                .found(shape(&array))
                .allowed("(nodes, columns)")
                .advice(
                    "store one row for every node; several budgets in one array need `budgets` beside it",
                ));
        };
        let (rows, columns) = (axis(rows)?, axis(columns)?);
        if array.is_empty() {
            // Nothing else about an array without numbers is worth saying.
            Matrix::new(rows, columns, Cells::F64(&[]))?;
        }
        Ok(Self { name: name.into(), rows, columns, start: 0, values: Arc::new(Values::new(array)?) })
    }

    /// The slabs of an array with one more axis in front; `budgets` is how many there must be.
    pub(super) fn slabs(name: &str, array: Array, budgets: usize) -> Result<Vec<Self>> {
        Self::cut(name, array, budgets).map_err(|error| error.at(name))
    }

    fn cut(name: &str, array: Array, budgets: usize) -> Result<Vec<Self>> {
        let &[slabs, rows, columns] = array.shape() else {
            return Err(Error::value("with `budgets`, the array must have three axes")
                .found(shape(&array))
                .allowed("(budgets, nodes, columns)")
                .advice("store one array of nodes x columns for each budget"));
        };
        if slabs != budgets as u64 {
            return Err(Error::value("`attacked` and `budgets` differ in length")
                .found(format!("{}, {budgets} budgets", shape(&array)))
                .allowed("one slab for each budget")
                .advice("give as many `budgets` as `attacked` has slabs"));
        }
        let (rows, columns) = (axis(rows)?, axis(columns)?);
        let values = Arc::new(Values::new(array)?);
        let slab = |slab| {
            let name = format!("{name}, slab {slab}").into();
            Self { name, rows, columns, start: slab * rows * columns, values: Arc::clone(&values) }
        };
        Ok((0..budgets).map(slab).collect())
    }

    /// What errors call them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many nodes there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many numbers a node has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The numbers, checked.
    pub fn matrix(&self) -> Result<Matrix<'_>> {
        let count = self.rows * self.columns;
        let cells = self.values.cells(self.start, count);
        let matrix = cells.and_then(|cells| Matrix::new(self.rows, self.columns, cells));
        matrix.map_err(|error| error.at(&self.name))
    }
}

impl Values {
    fn new(array: Array) -> Result<Self> {
        Ok(match array.dtype() {
            Dtype::F16 => keep(array, Self::F16),
            Dtype::BF16 => keep(array, Self::BF16),
            Dtype::F32 => keep(array, Self::F32),
            Dtype::F64 => keep(array, Self::F64),
            Dtype::I64 => keep(array, Self::Int),
            dtype if dtype.is_integer() => Self::Int(array.to_i64s()?),
            dtype => {
                return Err(Error::value("the array must hold numbers")
                    .found(dtype.name())
                    .allowed("f16, bf16, f32, f64 or integers")
                    .advice("store it as numbers: nothing else is read, and nothing unpickled"));
            }
        })
    }

    /// So many values from a place; fewer where there are fewer.
    fn cells(&self, start: usize, count: usize) -> Result<Cells<'_>> {
        Ok(match self {
            Self::F16(values) => Cells::F16(part(values, start, count)),
            Self::BF16(values) => Cells::BF16(part(values, start, count)),
            Self::F32(values) => Cells::F32(part(values, start, count)),
            Self::F64(values) => Cells::F64(part(values, start, count)),
            Self::Int(values) => Cells::Int(part(values, start, count)),
            Self::Read(array) => match array.dtype() {
                Dtype::F16 => Cells::F16(part(borrowed(array)?, start, count)),
                Dtype::BF16 => Cells::BF16(part(borrowed(array)?, start, count)),
                Dtype::F32 => Cells::F32(part(borrowed(array)?, start, count)),
                Dtype::F64 => Cells::F64(part(borrowed(array)?, start, count)),
                _ => Cells::Int(part(borrowed(array)?, start, count)),
            },
        })
    }
}

fn part<T>(values: &[T], start: usize, count: usize) -> &[T] {
    let from = &values[start.min(values.len())..];
    &from[..count.min(from.len())]
}

/// Keeps an array as it is where its values can be borrowed, else a copy of them.
fn keep<T: Element>(array: Array, own: fn(Vec<T>) -> Values) -> Values {
    let copied = match array.elements::<T>() {
        Some(Cow::Owned(values)) => Some(values),
        _ => None,
    };
    copied.map_or(Values::Read(array), own)
}

fn borrowed<T: Element>(array: &Array) -> Result<&[T]> {
    match array.elements::<T>() {
        Some(Cow::Borrowed(values)) => Ok(values),
        _ => Err(Error::value("an array of another type").found(array.dtype().name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(dtype: Dtype, shape: &[u64], bytes: Vec<u8>) -> Array {
        Array::shared(dtype, shape.to_vec(), Arc::new(bytes)).unwrap()
    }

    fn floats(shape: &[u64], values: &[f32]) -> Array {
        array(Dtype::F32, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    #[test]
    fn slabs_are_the_matrices_one_behind_the_other() {
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];
        let slabs = Numbers::slabs("x", floats(&[3, 2, 2], &values), 3).unwrap();
        for (slab, numbers) in slabs.iter().enumerate() {
            let whole = Numbers::of("x", floats(&[2, 2], &values[4 * slab..][..4])).unwrap();
            assert_eq!(numbers.matrix().unwrap(), whole.matrix().unwrap());
        }
        let text = Numbers::slabs("x", floats(&[3, 2, 2], &values), 2).unwrap_err().to_string();
        assert!(text.contains("shape (3, 2, 2), 2 budgets"), "{text}");
        let text = Numbers::slabs("x", floats(&[6, 2], &values), 6).unwrap_err().to_string();
        assert!(text.contains("three axes") && text.contains("shape (6, 2)"), "{text}");
    }

    #[test]
    fn an_array_without_numbers_is_refused_before_anything_is_compared_with_it() {
        assert!(Numbers::of("key x", floats(&[0, 2], &[])).unwrap_err().to_string().contains("no nodes"));
        assert!(Numbers::of("key x", floats(&[2, 0], &[])).unwrap_err().to_string().contains("no columns"));
    }

    #[test]
    fn narrow_integers_are_numbers_and_truth_values_are_not() {
        let numbers = Numbers::of("key x", array(Dtype::I8, &[1, 2], vec![0xff, 7])).unwrap();
        assert_eq!(numbers.matrix().unwrap().data, Cells::Int(&[-1, 7]));
        assert!(
            Numbers::of("key x", array(Dtype::Bool, &[1, 1], vec![1]))
                .unwrap_err()
                .to_string()
                .contains("bool")
        );
        let text = Numbers::of("x", floats(&[3], &[0.0; 3])).unwrap_err().to_string();
        assert!(text.contains("shape (3,)") && text.contains("(nodes, columns)"), "{text}");
    }

    #[test]
    fn values_at_any_address_are_the_same() {
        for start in 0..4 {
            let mut bytes = vec![0; start];
            bytes.extend([1.5f32, -2.0].iter().flat_map(|value| value.to_le_bytes()));
            struct Tail(Vec<u8>, usize);
            impl AsRef<[u8]> for Tail {
                fn as_ref(&self) -> &[u8] {
                    &self.0[self.1..]
                }
            }
            let array = Array::shared(Dtype::F32, vec![2, 1], Arc::new(Tail(bytes, start))).unwrap();
            let numbers = Numbers::of("key x", array).unwrap();
            assert_eq!(numbers.matrix().unwrap().data, Cells::F32(&[1.5, -2.0]));
        }
    }
}
