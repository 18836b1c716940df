//! The instances that count.

use std::ops::Range;

use calipers_core::{Error, NumberSlice, Result, Wide, on_numbers};
use multiversion::multiversion;

use super::predictions::Predictions;
use crate::explanation::protocol::Preset;
use crate::explanation::unit::Array;

/// Which instances of a unit count, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instances {
    All(usize),
    Listed(Vec<usize>),
}

impl Instances {
    /// The instances that `index` names, all without it.
    pub(crate) fn new(preset: Preset, index: Option<&Array<'_>>, instances: usize) -> Result<Self> {
        let Some(index) = index else { return Ok(Self::All(instances)) };
        match index.data {
            NumberSlice::Bool(mask) if index.shape == [instances] => {
                Ok(Self::Listed((0..instances).filter(|&instance| mask[instance]).collect()))
            }
            NumberSlice::Bool(_) => Err(Error::value(format!(
                "`index` has shape {:?}; a mask of {instances} instances is needed",
                index.shape
            ))),
            NumberSlice::Int(entries) if index.shape.len() <= 1 => listed(preset, entries, instances),
            _ => Err(Error::value("`index` holds whole numbers or is a mask").found(format!(
                "dtype {}, shape {:?}",
                index.data.dtype(),
                index.shape
            ))),
        }
    }

    /// How many count.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Listed(list) => list.len(),
        }
    }

    /// The values of some of them as f64, one after the other.
    pub(crate) fn widen(&self, array: &Predictions<'_>, range: Range<usize>, out: &mut Vec<f64>) {
        if let (Self::All(_), NumberSlice::F32(values)) = (self, array.data) {
            out.resize(range.len() * array.columns, 0.0);
            widen_singles(&values[range.start * array.columns..range.end * array.columns], out);
            return;
        }
        on_numbers!(array.data, values => self.gather(values, array.columns, range, out, Wide::wide));
    }

    /// The labels of some of them, from an array that holds labels.
    pub(crate) fn labels(&self, data: NumberSlice<'_>, range: Range<usize>, out: &mut Vec<i64>) {
        match data {
            NumberSlice::Int(values) => self.gather(values, 1, range, out, |label| label),
            NumberSlice::Bool(values) => self.gather(values, 1, range, out, i64::from),
            _ => on_numbers!(data, values => self.gather(values, 1, range, out, |value| value.wide() as i64)),
        }
    }

    fn gather<T: Copy, U>(
        &self,
        values: &[T],
        columns: usize,
        range: Range<usize>,
        out: &mut Vec<U>,
        convert: impl Fn(T) -> U,
    ) {
        out.clear();
        match self {
            Self::All(_) => {
                let values = &values[range.start * columns..range.end * columns];
                out.extend(values.iter().map(|&value| convert(value)));
            }
            Self::Listed(list) => {
                let rows = list[range].iter().flat_map(|row| &values[row * columns..(row + 1) * columns]);
                out.extend(rows.map(|&value| convert(value)));
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn widen_singles(values: &[f32], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = f64::from(*value);
    }
}

fn listed(preset: Preset, entries: &[i64], instances: usize) -> Result<Instances> {
    let published = preset == Preset::Pyg;
    let count = instances as i64;
    let low = if published { -count } else { 0 };
    if let Some(place) = entries.iter().position(|entry| !(low..count).contains(entry)) {
        let allowed = if instances == 0 { "none".into() } else { format!("0..{}", count - 1) };
        return Err(Error::value(format!(
            "`index` entry {place} is {}; {allowed} are allowed",
            entries[place]
        )));
    }
    let list: Vec<usize> = entries.iter().map(|&entry| entry.rem_euclid(count.max(1)) as usize).collect();
    if !published {
        let mut seen = vec![false; instances];
        let again = list.iter().position(|&instance| std::mem::replace(&mut seen[instance], true));
        if let Some(place) = again {
            return Err(Error::value("`index` names an instance twice")
                .found(format!("instance {} again at entry {place}", list[place])));
        }
    }
    Ok(Instances::Listed(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(preset: Preset, entries: &[i64]) -> Result<Instances> {
        Instances::new(preset, Some(&Array::new([entries.len()], NumberSlice::Int(entries)).unwrap()), 8)
    }

    #[test]
    fn numbers_and_masks_name_the_same_instances() {
        let mask = [true, false, true, false];
        let array = Array::new([4], NumberSlice::Bool(&mask)).unwrap();
        assert_eq!(
            Instances::new(Preset::Strict, Some(&array), 4).unwrap(),
            Instances::new(Preset::Strict, Some(&Array::new([2], NumberSlice::Int(&[0, 2])).unwrap()), 4)
                .unwrap()
        );
    }

    #[test]
    fn repeats_and_negatives_are_for_the_published_code_only() {
        assert_eq!(index(Preset::Pyg, &[0, 0, -1]).unwrap(), Instances::Listed(vec![0, 0, 7]));
        for (entries, words) in [
            (&[0, 8][..], "`index` entry 1 is 8; 0..7 are allowed"),
            (&[-1], "entry 0 is -1"),
            (&[1, 1], "names an instance twice"),
        ] {
            let error = index(Preset::Strict, entries).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(index(Preset::Pyg, &[-9]).is_err());
    }
}
