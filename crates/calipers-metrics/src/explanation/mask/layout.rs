//! The masks of a unit: checked against each other, then laid out one type after the other.

use std::borrow::Cow;
use std::ops::Range;

use calipers_core::{Error, NumberSlice, Result, on_numbers, stop};

use super::threshold::{above, all, at_least, rounded, selection};
use crate::explanation::protocol::{Explanation, MaskScores, Preset};
use crate::explanation::unit::{Array, Evidence, Importance};

/// How many elements are looked at together.
pub(crate) const BLOCK: usize = 4096;

/// How many blocks lie between two questions whether they are still wanted.
pub(crate) const ASKED: usize = 16;

const PRED: &str = "pred_mask";
const SAMPLES: &str = "pred_mask_samples";

/// The masks of one node or edge type.
#[derive(Clone, Copy, Debug)]
struct Part<'e, 'a> {
    pred: &'e Array<'a>,
    target: Option<&'e Array<'a>>,
    samples: Option<&'e Array<'a>>,
}

/// The masks of a unit.
#[derive(Debug)]
pub(crate) struct Masks<'e, 'a> {
    /// The types in byte order; one empty name where there are none.
    pub(crate) types: Vec<&'e str>,
    parts: Vec<Part<'e, 'a>>,
    /// How many truths there are; 0 without a target.
    pub(crate) truths: usize,
    /// How many masks of perturbed inputs; 0 without any.
    pub(crate) samples: usize,
}

impl<'e, 'a> Masks<'e, 'a> {
    /// The masks of a unit, if it has any; refuses those that do not fit each other.
    pub(crate) fn new(protocol: &Explanation, evidence: &'e Evidence<'a>) -> Result<Option<Self>> {
        let published = protocol.preset == Preset::Pyg;
        let given = |key: &'static str| -> Vec<(&'e str, &'e Array<'a>)> { evidence.typed(key).collect() };
        let (pred, target, targets) = (given(PRED), given("target_mask"), given("target_masks"));
        let samples = given(SAMPLES);
        if pred.is_empty() {
            if target.is_empty() && targets.is_empty() && samples.is_empty() {
                return Ok(None);
            }
            let found = [("target_mask", &target), ("target_masks", &targets), (SAMPLES, &samples)];
            let found = found.into_iter().filter(|(_, arrays)| !arrays.is_empty());
            return Err(Error::value(format!("a target or sample mask is given without `{PRED}`"))
                .found(found.map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>().join(", ")));
        }
        let types: Vec<&str> = pred.iter().map(|(name, _)| *name).collect();
        if types.len() > 1 && types[0].is_empty() {
            return Err(Error::value(format!("`{PRED}` is given both with and without a type"))
                .found(format!("`{PRED}` and `{PRED}.{}`", types[1])));
        }
        if published && (!types[0].is_empty() || !targets.is_empty()) {
            return Err(Error::value("--preset pyg takes one pred_mask and one target_mask"));
        }
        if !target.is_empty() && !targets.is_empty() {
            return Err(Error::value("`target_mask` and `target_masks` exclude each other")
                .advice("give several truths in `target_masks` alone"));
        }
        // The published code knows no samples.
        let samples = if published { Vec::new() } else { samples };
        for (key, arrays, leads) in [
            (PRED, &pred, false),
            ("target_mask", &target, false),
            ("target_masks", &targets, true),
            (SAMPLES, &samples, true),
        ] {
            check(protocol, key, arrays, leads, &pred)?;
        }
        let several = !targets.is_empty();
        let targets = if several { targets } else { target };
        let truths = if several { count("target_masks", "truths", &targets)? } else { targets.len().min(1) };
        let samples_count = count(SAMPLES, "samples", &samples)?;
        let parts = pred.iter().enumerate().map(|(position, (_, pred))| Part {
            pred,
            target: targets.get(position).map(|(_, array)| *array),
            samples: samples.get(position).map(|(_, array)| *array),
        });
        Ok(Some(Self { types, parts: parts.collect(), truths, samples: samples_count }))
    }

    /// Whether elements have types.
    pub(crate) fn typed(&self) -> bool {
        !self.types[0].is_empty()
    }

    /// The predicted mask, one type after the other.
    pub(crate) fn values(&self) -> Values<'a> {
        Values::new(&self.parts.iter().map(|part| part.pred.data).collect::<Vec<_>>())
    }

    /// One mask of a perturbed input, laid out like the mask itself.
    pub(crate) fn sample(&self, position: usize) -> Values<'a> {
        let one = |part: &Part<'_, 'a>| {
            let length = part.pred.data.len();
            part.samples.map(|array| array.data.part(position * length..(position + 1) * length))
        };
        Values::new(&self.parts.iter().filter_map(one).collect::<Vec<_>>())
    }

    /// The places of each type in the layout.
    pub(crate) fn cuts(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let cut = |part: &Part<'_, '_>| {
            let cut = start..start + part.pred.data.len();
            start = cut.end;
            cut
        };
        self.parts.iter().map(cut).collect()
    }

    /// One truth with its thresholds.
    pub(crate) fn truth(&self, position: usize, threshold: f64) -> Bits<'a> {
        let one = |part: &Part<'_, 'a>| {
            let length = part.pred.data.len();
            let data = part.target.map(|array| array.data.part(position * length..(position + 1) * length));
            data.map(|data| (data, rounded(data, threshold)))
        };
        Bits { parts: self.parts.iter().filter_map(one).collect(), inclusive: true }
    }

    /// The selected elements of the mask as stored.
    pub(crate) fn selected(&self, protocol: &Explanation) -> Bits<'a> {
        let one = |part: &Part<'_, 'a>| {
            let data = part.pred.data;
            (data, selection(data, protocol.threshold, protocol.mask_scores))
        };
        Bits { parts: self.parts.iter().map(one).collect(), inclusive: false }
    }

    /// Whether a target holds other values than 0 and 1.
    pub(crate) fn has_soft_truth(&self) -> bool {
        let zero_or_one = |value: f64| value.abs() <= 0.0 || (value - 1.0).abs() <= 0.0;
        self.parts.iter().filter_map(|part| part.target).any(|array| !all(array.data, zero_or_one))
    }
}

/// Elements that lie above a threshold, or at least at it.
#[derive(Clone, Debug)]
pub(crate) struct Bits<'a> {
    parts: Vec<(NumberSlice<'a>, f64)>,
    inclusive: bool,
}

impl<'a> Bits<'a> {
    /// The elements of one array above a threshold.
    pub(crate) fn above(data: NumberSlice<'a>, threshold: f64) -> Self {
        Self { parts: vec![(data, threshold)], inclusive: false }
    }

    /// The elements of one array at or above a threshold.
    pub(crate) fn at_least(data: NumberSlice<'a>, threshold: f64) -> Self {
        Self { parts: vec![(data, threshold)], inclusive: true }
    }

    /// The elements of one type.
    pub(crate) fn of_type(&self, position: usize) -> Self {
        Self { parts: vec![self.parts[position]], inclusive: self.inclusive }
    }

    /// Whether an element lies on its threshold.
    pub(crate) fn any_on_threshold(&self) -> bool {
        self.parts.iter().any(|&(data, threshold)| !all(data, |value| (value - threshold).abs() > 0.0))
    }

    /// Fills blocks of at most [`BLOCK`] elements, in order, together with another set of the same
    /// layout.
    pub(crate) fn blocks(&self, other: Option<&Self>, mut each: impl FnMut(Range<usize>, &[bool], &[bool])) {
        let (mut these, mut those) = ([false; BLOCK], [false; BLOCK]);
        let mut start = 0;
        for (position, (data, _)) in self.parts.iter().enumerate() {
            for first in (0..data.len()).step_by(BLOCK) {
                if first.is_multiple_of(ASKED * BLOCK) && stop::asked() {
                    return;
                }
                let range = first..data.len().min(first + BLOCK);
                let length = range.len();
                self.fill(position, range.clone(), &mut these[..length]);
                if let Some(other) = other {
                    other.fill(position, range, &mut those[..length]);
                }
                each(start..start + length, &these[..length], &those[..length]);
                start += length;
            }
        }
    }

    fn fill(&self, position: usize, range: Range<usize>, out: &mut [bool]) {
        let (data, threshold) = self.parts[position];
        let compare = if self.inclusive { at_least } else { above };
        compare(data.part(range), threshold, out);
    }
}

/// Mask values in single precision where that holds them all, else in double.
#[derive(Clone, Debug)]
pub(crate) enum Values<'a> {
    Single(Cow<'a, [f32]>),
    Double(Cow<'a, [f64]>),
}

impl<'a> Values<'a> {
    pub(crate) fn new(parts: &[NumberSlice<'a>]) -> Self {
        match parts {
            [NumberSlice::F32(values)] => Self::Single(Cow::Borrowed(values)),
            [NumberSlice::F64(values)] => Self::Double(Cow::Borrowed(values)),
            _ if parts.iter().any(|data| matches!(data, NumberSlice::F64(_))) => {
                let mut all = Vec::new();
                for data in parts {
                    on_numbers!(data, values => all.extend(values.iter().map(|value| value.importance())));
                }
                Self::Double(Cow::Owned(all))
            }
            _ => {
                let mut all = Vec::new();
                for data in parts {
                    on_numbers!(data, values => all.extend(values.iter().map(|value| value.importance() as f32)));
                }
                Self::Single(Cow::Owned(all))
            }
        }
    }

    /// The values as an array.
    pub(crate) fn data(&self) -> NumberSlice<'_> {
        match self {
            Self::Single(values) => NumberSlice::F32(values),
            Self::Double(values) => NumberSlice::F64(values),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.data().len()
    }

    /// Some of them.
    pub(crate) fn part(&self, range: Range<usize>) -> Values<'_> {
        match self {
            Self::Single(values) => Values::Single(Cow::Borrowed(&values[range])),
            Self::Double(values) => Values::Double(Cow::Borrowed(&values[range])),
        }
    }

    /// A block of them as f64.
    pub(crate) fn widen(&self, range: Range<usize>, out: &mut Vec<f64>) {
        out.clear();
        match self {
            Self::Single(values) => out.extend(values[range].iter().map(|&value| f64::from(value))),
            Self::Double(values) => out.extend_from_slice(&values[range]),
        }
    }
}

/// Refuses arrays whose types, shapes or values do not go with the predicted mask.
fn check(
    protocol: &Explanation,
    key: &str,
    arrays: &[(&str, &Array<'_>)],
    leads: bool,
    pred: &[(&str, &Array<'_>)],
) -> Result<()> {
    if arrays.is_empty() {
        return Ok(());
    }
    let names =
        |arrays: &[(&str, &Array<'_>)]| arrays.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
    if names(arrays) != names(pred) {
        let listed = |arrays| format!("['{}']", names(arrays).join("', '"));
        return Err(Error::value(format!(
            "`{key}` has the types {}, `{PRED}` has {}",
            listed(arrays),
            listed(pred)
        )));
    }
    let published = protocol.preset == Preset::Pyg;
    for ((name, array), (_, pred)) in arrays.iter().zip(pred) {
        let key = if name.is_empty() { key.to_owned() } else { format!("{key}.{name}") };
        let own = if leads { array.shape.get(1..).unwrap_or_default() } else { &array.shape[..] };
        let fits = own == pred.shape && (!leads || !array.shape.is_empty());
        let enough = published && array.data.len() == pred.data.len();
        if !fits && !enough {
            return Err(Error::value(format!(
                "`{key}` has shape {:?}, `{PRED}` has {:?}",
                array.shape, pred.shape
            )));
        }
        if leads && array.shape[0] == 0 {
            return Err(Error::value(format!("`{key}` is empty")).allowed("at least one on its first axis"));
        }
        let unit = key.starts_with(PRED) && protocol.mask_scores == MaskScores::Probs && !published;
        check_values(&key, array.data, unit)?;
    }
    Ok(())
}

fn check_values(key: &str, data: NumberSlice<'_>, unit: bool) -> Result<()> {
    let (low, high) = if unit { (0.0, 1.0) } else { (f64::MIN, f64::MAX) };
    let fits = move |value: f64| (value >= low) & (value <= high);
    if all(data, fits) {
        return Ok(());
    }
    let wrong = (0..data.len()).find(|&element| !fits(data.get(element))).unwrap_or(0);
    let value = data.shown(wrong);
    Err(if data.get(wrong).is_finite() {
        Error::value(format!(
            "`{key}` element {wrong} is {value}, outside [0, 1]; declare --mask-scores logits or raw"
        ))
    } else {
        Error::value(format!("`{key}` element {wrong} is {value}; finite values are needed"))
    })
}

/// The length of the first axis, the same for every type; 0 without arrays.
fn count(key: &str, what: &str, arrays: &[(&str, &Array<'_>)]) -> Result<usize> {
    let Some(((name, first), others)) = arrays.split_first() else { return Ok(0) };
    match others.iter().find(|(_, array)| array.shape[0] != first.shape[0]) {
        None => Ok(first.shape[0]),
        Some((other, array)) => Err(Error::value(format!("`{key}` has different numbers of {what} by type"))
            .found(format!("{} in {name}, {} in {other}", first.shape[0], array.shape[0]))),
    }
}
