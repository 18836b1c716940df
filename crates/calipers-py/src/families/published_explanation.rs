//! What `calipers.pyg` computes without torch. Each function takes NumPy arrays, or tensors and their
//! type, and returns `None` for those that it does not take; the package then asks torch.

use calipers::metrics::explanation::NumberSlice;
use calipers::metrics::explanation::Scores;
use calipers::metrics::explanation::kernels::published as kernels;
use calipers::metrics::explanation::kernels::{flips, mask_auroc, mask_confusion};
use numpy::{Element, PyArray0, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;

use crate::failure::watched;
use crate::given::tensor::{self, Lent};

/// From how many elements on other threads may run meanwhile.
const LONG: usize = 1 << 15;

/// Does work, without the interpreter's lock and until a signal arrives where there is much of it.
fn worked<T: Send>(py: Python<'_>, elements: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if elements < LONG { Ok(work()) } else { watched(py, work) }
}

/// The elements of a contiguous array of this type.
fn elements<'a, T: Element>(array: &'a Bound<'_, PyAny>) -> Option<&'a [T]> {
    let array = array.cast::<PyArrayDyn<T>>().ok()?;
    if !array.is_c_contiguous() {
        return None;
    }
    // SAFETY: the array is alive and contiguous. The package says that arrays must not be written to
    // while a call reads them.
    unsafe { array.as_slice() }.ok()
}

/// A mask, f32 or f64.
fn floats<'a>(array: &'a Bound<'_, PyAny>) -> Option<NumberSlice<'a>> {
    elements(array).map(NumberSlice::F32).or_else(|| elements(array).map(NumberSlice::F64))
}

/// The characterization score of every pair of two arrays of one type and shape.
#[pyfunction]
pub(crate) fn pyg_characterization<'py>(
    py: Python<'py>,
    pos: &Bound<'py, PyAny>,
    neg: &Bound<'py, PyAny>,
    pos_weight: f64,
    neg_weight: f64,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let shape = match (pos.cast::<PyUntypedArray>(), neg.cast::<PyUntypedArray>()) {
        (Ok(pos), Ok(neg)) if pos.shape() == neg.shape() => pos.shape(),
        _ => return Ok(None),
    };
    macro_rules! scores {
        ($float:ty, $kernel:path) => {
            if let (Some(pos), Some(neg)) = (elements::<$float>(pos), elements::<$float>(neg)) {
                let scores = PyArrayDyn::<$float>::zeros(py, shape, false);
                // SAFETY: the array has just been made, so that nobody else has it.
                let out = unsafe { scores.as_slice_mut() }?;
                worked(py, pos.len(), || $kernel(pos, neg, pos_weight, neg_weight, out))?;
                return Ok(Some(scores.into_any()));
            }
        };
    }
    scores!(f32, kernels::characterization_f32);
    scores!(f64, kernels::characterization_f64);
    Ok(None)
}

/// The area under the curve as a single value of its type; `None` also for a fidelity- of 1 and a
/// descending axis, which torch's way refuses.
#[pyfunction]
pub(crate) fn pyg_curve_area<'py>(
    py: Python<'py>,
    pos: &Bound<'py, PyAny>,
    neg: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    macro_rules! area {
        ($float:ty, $kernel:path) => {
            if let (Some(pos), Some(neg)) = (elements::<$float>(pos), elements::<$float>(neg))
                && pos.len() == neg.len()
            {
                let whole;
                let x = match elements::<$float>(x) {
                    Some(x) => x,
                    None => match elements::<i64>(x).and_then(|x| from_its_start(x)) {
                        Some(shifted) => {
                            whole = shifted.into_iter().map(|x| x as $float).collect::<Vec<_>>();
                            &whole
                        }
                        None => return Ok(None),
                    },
                };
                if x.len() != pos.len() || x.is_empty() {
                    return Ok(None);
                }
                let area = worked(py, pos.len(), || {
                    // Without an early end the comparisons go side by side.
                    if neg.iter().fold(false, |found, neg| found | ((neg - 1.0).abs() <= 0.0)) {
                        return None;
                    }
                    if x.iter().zip(&x[1..]).fold(false, |found, (left, right)| found | (right < left)) {
                        return None;
                    }
                    Some($kernel(pos, neg, x) as $float)
                })?;
                return Ok(area.map(|area| PyArray0::from_array(py, &numpy::ndarray::arr0(area)).into_any()));
            }
        };
    }
    area!(f32, kernels::curve_area_f32);
    area!(f64, kernels::curve_area_f64);
    Ok(None)
}

/// Whole numbers counted from the first, where f32 holds every one of them.
fn from_its_start(x: &[i64]) -> Option<Vec<i32>> {
    let first = *x.first()?;
    let fits = |x: &i64| x.checked_sub(first).filter(|x| x.abs() <= 1 << 24);
    x.iter().map(|x| fits(x).map(|x| x as i32)).collect()
}

/// Accuracy, recall, precision, f1 score and auroc, then the true and the other elements.
type Agreement = (f64, f64, f64, f64, f64, u64, u64);

/// How a mask agrees with a target of f32, f64 or bool. `None` also for a mask with values outside
/// [0, 1], unless they were dealt with. Without `ranked` the auroc is 0.
#[pyfunction]
pub(crate) fn pyg_agreement(
    py: Python<'_>,
    pred: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    threshold: f64,
    target_threshold: f64,
    ranked: bool,
    any_values: bool,
) -> PyResult<Option<Agreement>> {
    let target = floats(target).or_else(|| elements(target).map(NumberSlice::Bool));
    let (Some(pred), Some(target)) = (floats(pred), target) else { return Ok(None) };
    if pred.len() != target.len() || pred.is_empty() {
        return Ok(None);
    }
    worked(py, pred.len(), || {
        if !any_values && kernels::takes_for_logits(pred) {
            return None;
        }
        let counts = mask_confusion(pred, threshold, target, target_threshold);
        let (positives, negatives) = (counts.positives(), counts.negatives());
        let twice = if ranked && positives > 0 && negatives > 0 {
            mask_auroc(pred, target, target_threshold)
        } else {
            0
        };
        Some((
            kernels::ratio(counts.tp + counts.tn, counts.elements()),
            kernels::ratio(counts.tp, positives),
            kernels::ratio(counts.tp, counts.tp + counts.fp),
            kernels::ratio(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn_),
            kernels::auroc(&counts, twice),
            positives,
            negatives,
        ))
    })
}

/// Where the elements of a tensor lie.
enum Memory<'py> {
    /// Those of a short tensor, read while the interpreter waits.
    Lent(Lent),
    /// Those of a long one, which an array keeps from being resized meanwhile.
    Held(Bound<'py, PyUntypedArray>),
}

impl<'py> Memory<'py> {
    /// `None` where there is more to a tensor than its memory; a wanted gradient does not matter here.
    fn of(tensor_type: &Bound<'py, PyAny>, tensor: &Bound<'py, PyAny>) -> Option<Self> {
        if !tensor.get_type().is(tensor_type) {
            return None;
        }
        if let Some(lent) = Lent::of(tensor_type, tensor).filter(|lent| lent.len() < LONG) {
            return Some(Self::Lent(lent));
        }
        // Refused for tensors that lie elsewhere or stand for a batch.
        let py = tensor.py();
        let detached = tensor.call_method0(intern!(py, "detach")).ok()?;
        let array = detached.call_method0(intern!(py, "numpy")).ok()?;
        array.cast_into().ok().map(Self::Held)
    }

    fn shape(&self) -> &[usize] {
        match self {
            Self::Lent(lent) => lent.shape(),
            Self::Held(array) => array.shape(),
        }
    }

    fn elements<T: Element + tensor::Element>(&self) -> Option<&[T]> {
        match self {
            Self::Lent(lent) => lent.elements(),
            Self::Held(array) => elements(array.as_any()),
        }
    }

    /// The elements, if they are f32 or f64.
    fn floats(&self) -> Option<NumberSlice<'_>> {
        self.elements().map(NumberSlice::F32).or_else(|| self.elements().map(NumberSlice::F64))
    }
}

/// fid+ and fid- of tensors of int64 labels; of type phenomenon where the labels on the full graph are
/// given.
#[pyfunction]
pub(crate) fn pyg_fidelity(
    tensor: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    y_hat: Option<&Bound<'_, PyAny>>,
    y_sub: &Bound<'_, PyAny>,
    y_comp: &Bound<'_, PyAny>,
) -> PyResult<Option<(f64, f64)>> {
    let py = y.py();
    let of = |labels| Memory::of(tensor, labels);
    let (Some(y), Some(sub), Some(comp)) = (of(y), of(y_sub), of(y_comp)) else { return Ok(None) };
    let hat = match y_hat.map(of) {
        Some(None) => return Ok(None),
        hat => hat.flatten(),
    };
    // Labels of different shapes are torch's to broadcast.
    if [Some(&sub), Some(&comp), hat.as_ref()].into_iter().flatten().any(|other| other.shape() != y.shape()) {
        return Ok(None);
    }
    let hat = hat.as_ref().map(Memory::elements::<i64>);
    let (Some(y), Some(sub), Some(comp), None | Some(Some(_))) =
        (y.elements::<i64>(), sub.elements::<i64>(), comp.elements::<i64>(), hat)
    else {
        return Ok(None);
    };
    let hat = hat.flatten();
    let count = y.len();
    let of = |other: &[i64]| {
        let fidelity = match hat {
            Some(hat) => kernels::phenomenon_fidelity(&flips(Some(y), hat, other), count as u64),
            None => kernels::model_fidelity(&flips(None, y, other), count as u64),
        };
        fidelity.unwrap_or(f64::NAN)
    };
    worked(py, count, || (of(comp), of(sub))).map(Some)
}

/// 1 - exp(-KL) of tensors of `[N, C]` or `[N]` scores of one type; `None` also where torch's own
/// exponential decides what is 0.
#[pyfunction]
pub(crate) fn pyg_unfaithfulness(
    tensor: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    y_hat: &Bound<'_, PyAny>,
    scores: &str,
) -> PyResult<Option<f64>> {
    let py = y.py();
    let (Some(y), Some(y_hat)) = (Memory::of(tensor, y), Memory::of(tensor, y_hat)) else { return Ok(None) };
    let columns = match *y.shape() {
        [_] => None,
        [_, columns] => Some(columns),
        _ => return Ok(None),
    };
    let (Some(p), Some(q)) = (y.floats(), y_hat.floats()) else { return Ok(None) };
    if p.is_empty() || p.dtype() != q.dtype() || y.shape() != y_hat.shape() {
        return Ok(None);
    }
    let scores = match scores {
        "raw" => Scores::Logits,
        "probs" => Scores::Probs,
        "log_probs" => Scores::LogProbs,
        _ => return Ok(None),
    };
    worked(py, p.len(), || {
        let kl = match (scores, p, q) {
            (Scores::Logits, NumberSlice::F32(p), NumberSlice::F32(q)) => {
                kernels::kl_of_logits(p, q, columns)?
            }
            _ if scores == Scores::Probs || (tame(p) && tame(q)) => kernels::kl_sum(scores, p, q, columns),
            _ => return None,
        };
        let instances = (p.len() / columns.unwrap_or(1).max(1)) as u64;
        Some(kernels::unfaithfulness(&kl, instances).unwrap_or(f64::NAN))
    })
}

/// Whether no exponential of a difference of these scores comes near the smallest number of the type.
fn tame(data: NumberSlice<'_>) -> bool {
    macro_rules! within {
        ($values:expr, $float:ty, $reach:expr) => {{
            let mut ends = [(<$float>::INFINITY, <$float>::NEG_INFINITY); 16];
            let (blocks, rest) = $values.as_chunks::<16>();
            for block in blocks {
                for (end, value) in ends.iter_mut().zip(block) {
                    *end = (end.0.min(*value), end.1.max(*value));
                }
            }
            let all = ends.into_iter().chain(rest.iter().map(|value| (*value, *value)));
            let (low, high) =
                all.fold((0.0, 0.0), |(low, high): ($float, $float), end| (low.min(end.0), high.max(end.1)));
            high - low < $reach
        }};
    }
    match data {
        NumberSlice::F32(values) => within!(values, f32, 80.0),
        NumberSlice::F64(values) => within!(values, f64, 700.0),
        _ => false,
    }
}
