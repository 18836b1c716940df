//! Exact counts of label arrays, which `calipers.compat` turns into the numbers of other libraries.

use calipers::Result;
use calipers::core::{Error, stop};
use calipers::io::array::{Array, Dtype, Matrix};
use calipers::metrics::segmentation::overlap::{IdPairs, MaskCounts, mask_counts};
use half::{bf16, f16};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;

use crate::failure::detached;
use crate::given::array::read;

/// Ids that are widened at once: two blocks stay in the cache.
const BLOCK: usize = 1 << 14;

/// Classes of which a table of pairs has fewer cells than 32 bits count.
const MOST_CLASSES: u16 = 1 << 15;

/// Rows and their length, of two arrays of one shape.
fn shape(truth: &Array, pred: &Array) -> Result<(usize, usize)> {
    match (truth.shape(), pred.shape()) {
        ([rows, length], same) if [*rows, *length] == same => Ok((*rows as usize, *length as usize)),
        (truth, pred) => {
            Err(Error::value("both need one shape of two axes").found(format!("{truth:?} and {pred:?}")))
        }
    }
}

/// How often each pair of ids meets, row by row: [rows, classes + 2, classes + 1].
#[pyfunction]
pub(crate) fn count_id_pairs<'py>(
    py: Python<'py>,
    truth: &Bound<'py, PyAny>,
    pred: &Bound<'py, PyAny>,
    classes: usize,
    ignore: Option<i64>,
) -> PyResult<Bound<'py, PyArray3<i64>>> {
    let (truth, pred) = (read(truth, "truth")?, read(pred, "pred")?);
    let (rows, counts) = detached(py, |_| {
        let (rows, length) = shape(&truth, &pred)?;
        let most = u16::try_from(classes).ok().filter(|classes| *classes <= MOST_CLASSES);
        let Some(most) = most else {
            let error = Error::value("too many classes for a table of all pairs").found(classes);
            return Err(error.allowed(format!("{MOST_CLASSES} or fewer")));
        };
        let mut counts = Vec::new();
        let (mut truths, mut preds) = ([0; BLOCK], [0; BLOCK]);
        let whole = truth.elements::<i64>().zip(pred.elements::<i64>());
        for row in 0..rows {
            let mut pairs = IdPairs::new(most, ignore);
            for start in (0..length).step_by(BLOCK) {
                stop::wanted()?;
                let some = BLOCK.min(length - start);
                if let Some((truth, pred)) = &whole {
                    let at = row * length + start..row * length + start + some;
                    pairs.add(&truth[at.clone()], &pred[at]);
                    continue;
                }
                truth.read_row(row as u64, start as u64, &mut truths[..some])?;
                pred.read_row(row as u64, start as u64, &mut preds[..some])?;
                pairs.add(&truths[..some], &preds[..some]);
            }
            counts.extend(pairs.counts().into_iter().map(|count| count as i64));
        }
        Ok((rows, counts))
    })?;
    let flat: Bound<'py, PyArray1<i64>> = counts.to_pyarray(py);
    flat.reshape([rows, classes + 2, classes + 1])
}

/// How far masks of zeros and ones overlap, row by row: both, prediction, truth; `None` where an element
/// is another number, or the two are of different types.
#[pyfunction]
pub(crate) fn count_masks<'py>(
    py: Python<'py>,
    truth: &Bound<'py, PyAny>,
    pred: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyArray2<i64>>>> {
    let (truth, pred) = (read(truth, "truth")?, read(pred, "pred")?);
    let counted = detached(py, |_| {
        let (rows, length) = shape(&truth, &pred)?;
        let row = |row: usize| masks(&truth, &pred, row * length..(row + 1) * length);
        Ok((rows, (0..rows).map(row).collect::<Option<Vec<MaskCounts>>>()))
    })?;
    let (rows, Some(counts)) = counted else { return Ok(None) };
    let flat: Vec<i64> = counts.iter().flat_map(|c| [c.both as i64, c.pred as i64, c.truth as i64]).collect();
    flat.to_pyarray(py).reshape([rows, 3]).map(Some)
}

fn masks(truth: &Array, pred: &Array, at: std::ops::Range<usize>) -> Option<MaskCounts> {
    macro_rules! of {
        ($element:ty, $zero:expr, $one:expr) => {{
            let (truth, pred) = (truth.elements::<$element>()?, pred.elements::<$element>()?);
            mask_counts(&pred[at.clone()], &truth[at], $zero, $one)
        }};
    }
    match (truth.dtype(), pred.dtype()) {
        (Dtype::Bool, Dtype::Bool) => mask_counts(&pred.bytes()[at.clone()], &truth.bytes()[at], 0, 1),
        (Dtype::U8, _) => of!(u8, 0, 1),
        (Dtype::I64, _) => of!(i64, 0, 1),
        (Dtype::F16, _) => of!(f16, f16::ZERO, f16::ONE),
        (Dtype::BF16, _) => of!(bf16, bf16::ZERO, bf16::ONE),
        (Dtype::F32, _) => of!(f32, 0.0, 1.0),
        (Dtype::F64, _) => of!(f64, 0.0, 1.0),
        _ => None,
    }
}
