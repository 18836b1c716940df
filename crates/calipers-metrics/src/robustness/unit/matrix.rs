//! Features and class scores: numbers of a file's own type, one line per node.

use calipers_core::{Error, NumberSlice, Result, on_numbers};
use half::{bf16, f16};

/// The largest size of a feature: the sum of squares of any matrix of them is finite.
const LARGEST: f64 = 1e145;

/// A checked array of numbers: at least one node and one column, every number finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix<'a> {
    /// How many nodes there are.
    pub rows: usize,
    /// How many numbers a node has.
    pub columns: usize,
    /// The numbers, node by node.
    pub data: NumberSlice<'a>,
}

impl<'a> Matrix<'a> {
    /// Checks the numbers; the caller adds file and key.
    pub fn new(rows: usize, columns: usize, data: NumberSlice<'a>) -> Result<Self> {
        if rows == 0 || columns == 0 {
            return Err(Error::value(if rows == 0 { "no nodes" } else { "no columns" })
                .found(format!("shape ({rows}, {columns})"))
                .allowed("at least one node and one column")
                .advice("write the features of every node, a row each"));
        }
        if rows.checked_mul(columns) != Some(data.len()) {
            return Err(Error::value("the shape does not fit the number of values")
                .found(format!("shape ({rows}, {columns}), {} values", data.len())));
        }
        let matrix = Self { rows, columns, data };
        if on_numbers!(data, values => good(values)) { Ok(matrix) } else { Err(matrix.refusal()) }
    }

    /// Refuses a matrix that is not of the same shape as the clean one.
    pub fn same_shape_as(&self, clean: &Matrix<'_>) -> Result<()> {
        if (self.rows, self.columns) == (clean.rows, clean.columns) {
            return Ok(());
        }
        Err(Error::value("the attacked features have another shape than the clean ones")
            .found(format!("shape ({}, {})", self.rows, self.columns))
            .allowed(format!("shape ({}, {})", clean.rows, clean.columns))
            .advice("clean and attacked features come from one model on one set of nodes"))
    }

    /// The place of a number as messages name it.
    pub(crate) fn place(&self, position: usize) -> String {
        format!("[{}, {}]", position / self.columns, position % self.columns)
    }

    /// The number of a node in a column.
    #[inline(always)]
    pub(crate) fn get(&self, node: usize, column: usize) -> f64 {
        self.data.get(node * self.columns + column)
    }

    fn refusal(&self) -> Error {
        let finite = |position: &usize| self.data.get(*position).is_finite();
        let mut bad = (0..self.data.len()).filter(|position| !finite(position));
        if let Some(first) = bad.next() {
            let more = bad.count();
            return Error::value("a value is not finite")
                .at(self.place(first))
                .found(format!("{}, and {} such values in all", self.data.shown(first), more + 1))
                .allowed("finite numbers")
                .advice("the model diverged or a division by zero crept in: write the features again");
        }
        let whole = matches!(self.data, NumberSlice::Int(_));
        let first = on_numbers!(self.data, values => values.iter().position(|value| !value.good()));
        let first = first.unwrap_or_default();
        let error = Error::value("a value is too large").at(self.place(first)).found(self.data.shown(first));
        if whole {
            error.allowed("whole numbers up to 2^53 in size").advice("store such features as floats")
        } else {
            error.allowed("up to 1e145 in size").advice("squares of larger numbers would overflow")
        }
    }
}

/// Whether all values are finite and not too large, without a jump in the loop.
fn good<T: Good>(values: &[T]) -> bool {
    values.chunks(4096).all(|chunk| chunk.iter().fold(true, |all, value| all & value.good()))
}

trait Good: Copy {
    fn good(self) -> bool;
}

macro_rules! good_where_finite {
    ($($float:ty),*) => {
        $(impl Good for $float {
            fn good(self) -> bool {
                self.is_finite()
            }
        })*
    };
}
good_where_finite!(f16, bf16, f32);

/// Truth values are numbers where they are features: 0 and 1.
impl Good for bool {
    fn good(self) -> bool {
        true
    }
}

impl Good for f64 {
    fn good(self) -> bool {
        self.abs() <= LARGEST
    }
}

impl Good for i64 {
    fn good(self) -> bool {
        self.unsigned_abs() <= 1 << 53
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rows: usize, columns: usize, data: &[f64]) -> String {
        Matrix::new(rows, columns, NumberSlice::F64(data)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_finite_is_placed_and_counted() {
        let text = refused(2, 3, &[0.0, 1.0, 2.0, 3.0, f64::NAN, f64::INFINITY]);
        assert!(text.contains("[1, 1]") && text.contains("nan, and 2 such values in all"), "{text}");
    }

    #[test]
    fn squares_that_would_overflow_are_refused() {
        assert!(Matrix::new(1, 2, NumberSlice::F64(&[1e145, -1e145])).is_ok());
        let text = refused(1, 2, &[0.0, -1.1e145]);
        assert!(text.contains("[0, 1]") && text.contains("overflow"), "{text}");
        let large = [0, (1 << 53) + 1];
        let text = Matrix::new(2, 1, NumberSlice::Int(&large)).unwrap_err().to_string();
        assert!(text.contains("[1, 0]") && text.contains("9007199254740993"), "{text}");
    }

    #[test]
    fn empty_and_misshapen_arrays_are_refused() {
        assert!(refused(0, 3, &[]).contains("no nodes") && refused(3, 0, &[]).contains("no columns"));
        assert!(refused(2, 2, &[1.0]).contains("1 values"));
        let matrix = |columns| Matrix::new(2, columns, NumberSlice::F32(&[0.0; 4][..2 * columns])).unwrap();
        let text = matrix(1).same_shape_as(&matrix(2)).unwrap_err().to_string();
        assert!(text.contains("(2, 1)") && text.contains("(2, 2)"), "{text}");
    }
}
