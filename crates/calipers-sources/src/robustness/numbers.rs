//! Features and class scores as a run has them in memory, shared by the pairs that need them.

use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array::{AnyElements, Array};
use calipers_metrics::robustness::{Matrix, NumberSlice};

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
    Copied(AnyElements<'static>),
}

impl Numbers {
    /// Numbers that were computed, node by node. Errors call them by `name`.
    pub fn computed(name: &str, rows: usize, columns: usize, values: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            rows,
            columns,
            start: 0,
            values: Arc::new(Values::Copied(AnyElements::F64(values.into()))),
        }
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
            Matrix::new(rows, columns, NumberSlice::F64(&[]))?;
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
        let part = self.values.part(self.start, count);
        let matrix = part.and_then(|part| Matrix::new(self.rows, self.columns, part));
        matrix.map_err(|error| error.at(&self.name))
    }
}

impl Values {
    fn new(array: Array) -> Result<Self> {
        let dtype = array.dtype();
        if !dtype.is_float() && !dtype.is_integer() {
            return Err(Error::value("the array must hold numbers")
                .found(dtype.name())
                .allowed("f16, bf16, f32, f64 or integers")
                .advice("store it as numbers: nothing else is read, and nothing unpickled"));
        }
        let elements = array.any_elements()?;
        let copied = elements.borrowed().is_none().then(|| elements.into_owned());
        Ok(copied.map_or(Self::Read(array), Self::Copied))
    }

    /// So many values from a place; fewer where there are fewer.
    fn part(&self, start: usize, count: usize) -> Result<NumberSlice<'_>> {
        let all = match self {
            Self::Copied(values) => values.view(),
            Self::Read(array) => {
                array.any_elements()?.borrowed().ok_or_else(|| Error::value("an array that moved"))?
            }
        };
        let start = start.min(all.len());
        Ok(all.part(start..all.len().min(start + count)))
    }
}

#[cfg(test)]
mod tests {
    use calipers_io::array::Dtype;

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
        assert_eq!(numbers.matrix().unwrap().data, NumberSlice::Int(&[-1, 7]));
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
            assert_eq!(numbers.matrix().unwrap().data, NumberSlice::F32(&[1.5, -2.0]));
        }
    }
}
