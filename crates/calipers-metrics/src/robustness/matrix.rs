//! Features and class scores: numbers of a file's own type, one line a node.

use calipers_core::{Error, Result};
use half::{bf16, f16};

/// Numbers in C order, of whichever type a file has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cells<'a> {
    /// Half precision.
    F16(&'a [f16]),
    /// Half precision with the range of single precision.
    BF16(&'a [bf16]),
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
    /// Integers of any width, widened; below 2^53 in size where they are features.
    Int(&'a [i64]),
}

/// Runs the same code on the values of whichever type there is.
macro_rules! on_cells {
    ($cells:expr, $values:ident => $body:expr) => {
        match $cells {
            Cells::F16($values) => $body,
            Cells::BF16($values) => $body,
            Cells::F32($values) => $body,
            Cells::F64($values) => $body,
            Cells::Int($values) => $body,
        }
    };
}

/// A number of an array, whatever its type.
pub(super) trait Cell: Copy {
    /// The number as f64; the numbers of a checked matrix lose nothing.
    fn wide(self) -> f64;
}

macro_rules! cells {
    ($($cell:ty),*) => {
        $(impl Cell for $cell {
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
        })*
    };
}
cells!(f16, bf16, f32, f64);

impl Cell for i64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self as f64
    }
}

impl Cells<'_> {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        on_cells!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at a position.
    pub(super) fn get(&self, position: usize) -> f64 {
        on_cells!(self, values => values[position].wide())
    }

    /// The number at a position as a message shows it.
    pub(super) fn shown(&self, position: usize) -> String {
        match self {
            Self::Int(values) => values[position].to_string(),
            _ => match self.get(position) {
                nan if nan.is_nan() => "nan".into(),
                value => format!("{value:?}"),
            },
        }
    }

    /// Puts some of the numbers into `out`, from `start` on.
    #[inline(always)]
    pub(super) fn widen(&self, start: usize, out: &mut [f64]) {
        on_cells!(self, values => {
            for (out, value) in out.iter_mut().zip(&values[start..]) {
                *out = value.wide();
            }
        });
    }
}

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
    pub data: Cells<'a>,
}

impl<'a> Matrix<'a> {
    /// Checks the numbers; the caller adds file and key.
    pub fn new(rows: usize, columns: usize, data: Cells<'a>) -> Result<Self> {
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
        if on_cells!(data, values => good(values)) { Ok(matrix) } else { Err(matrix.refusal()) }
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
    pub(super) fn place(&self, position: usize) -> String {
        format!("[{}, {}]", position / self.columns, position % self.columns)
    }

    /// The number of a node in a column.
    #[inline(always)]
    pub(super) fn get(&self, node: usize, column: usize) -> f64 {
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
        let whole = matches!(self.data, Cells::Int(_));
        let first = on_cells!(self.data, values => values.iter().position(|value| !value.good()));
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

impl Good for f16 {
    fn good(self) -> bool {
        self.is_finite()
    }
}

impl Good for bf16 {
    fn good(self) -> bool {
        self.is_finite()
    }
}

impl Good for f32 {
    fn good(self) -> bool {
        self.is_finite()
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
        Matrix::new(rows, columns, Cells::F64(data)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_finite_is_placed_and_counted() {
        let text = refused(2, 3, &[0.0, 1.0, 2.0, 3.0, f64::NAN, f64::INFINITY]);
        assert!(text.contains("[1, 1]") && text.contains("nan, and 2 such values in all"), "{text}");
    }

    #[test]
    fn squares_that_would_overflow_are_refused() {
        assert!(Matrix::new(1, 2, Cells::F64(&[1e145, -1e145])).is_ok());
        let text = refused(1, 2, &[0.0, -1.1e145]);
        assert!(text.contains("[0, 1]") && text.contains("overflow"), "{text}");
        let large = [0, (1 << 53) + 1];
        let text = Matrix::new(2, 1, Cells::Int(&large)).unwrap_err().to_string();
        assert!(text.contains("[1, 0]") && text.contains("9007199254740993"), "{text}");
    }

    #[test]
    fn empty_and_misshapen_arrays_are_refused() {
        assert!(refused(0, 3, &[]).contains("no nodes") && refused(3, 0, &[]).contains("no columns"));
        assert!(refused(2, 2, &[1.0]).contains("1 values"));
        let matrix = |columns| Matrix::new(2, columns, Cells::F32(&[0.0; 4][..2 * columns])).unwrap();
        let text = matrix(1).same_shape_as(&matrix(2)).unwrap_err().to_string();
        assert!(text.contains("(2, 1)") && text.contains("(2, 2)"), "{text}");
    }
}
