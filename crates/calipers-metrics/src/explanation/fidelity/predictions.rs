//! What a prediction array holds: labels or scores, and of how many instances.

use calipers_core::{Error, NumberSlice, Result};

use crate::explanation::protocol::{Explanation, Preset, Task};
use crate::explanation::unit::{Array, Evidence};

/// The prediction on the full graph.
pub(crate) const Y_HAT: &str = "y_hat";

/// Every key of predictions, in the order in which they are checked, and whether they have an axis
/// before the instances.
const KEYS: [(&str, bool); 7] = [
    (Y_HAT, false),
    ("y_sub", false),
    ("y_comp", false),
    ("y_sub_sweep", true),
    ("y_comp_sweep", true),
    ("y_sub_samples", true),
    ("y_comp_samples", true),
];

/// Labels or scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Labels,
    Scores,
}

/// A prediction array whose shape was checked: `[leads, instances, columns]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predictions<'a> {
    pub(crate) key: &'static str,
    pub(crate) holds: Holds,
    pub(crate) data: NumberSlice<'a>,
    /// 1, or the length of the axis before the instances.
    pub(crate) leads: usize,
    pub(crate) instances: usize,
    pub(crate) columns: usize,
    /// Whether the columns are an axis of the array.
    pub(crate) has_columns: bool,
}

/// The predictions of a unit, and the true labels.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    pub(crate) arrays: Vec<Predictions<'a>>,
    pub(crate) y: Option<NumberSlice<'a>>,
    /// How many instances there are, in the array of this key.
    pub(crate) instances: Option<(usize, &'static str)>,
}

impl<'a> Given<'a> {
    /// The array of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Predictions<'a>> {
        self.arrays.iter().find(|array| array.key == key)
    }

    /// Gathers predictions and labels and refuses those that do not fit each other.
    pub(crate) fn new(protocol: &Explanation, evidence: &Evidence<'a>) -> Result<Self> {
        let mut arrays = Vec::new();
        for (key, leads) in KEYS {
            // The published code knows neither sweeps nor samples.
            let unused = leads && protocol.preset == Preset::Pyg;
            if let Some(array) = evidence.plain(key)?.filter(|_| !unused) {
                arrays.push(Predictions::new(protocol.task, key, leads, array)?);
            }
        }
        if let Some(first) = arrays.first().filter(|first| first.key != Y_HAT) {
            return Err(Error::value(format!("`{}` needs `{Y_HAT}`", first.key))
                .advice("give the prediction on the full graph too"));
        }
        let y = evidence.plain("y")?.map(|array| labels(protocol.task, array)).transpose()?;
        let first = arrays.first().map(|array| (array.instances, array.key));
        let given = Self { arrays, y, instances: first.or(y.map(|y| (y.len(), "y"))) };
        given.check_lengths()?;
        given.check_classes(protocol.task)?;
        if protocol.task != Task::Regression {
            given.check_labels(protocol.task)?;
        }
        Ok(given)
    }

    fn check_lengths(&self) -> Result<()> {
        let Some((expected, first)) = self.instances else { return Ok(()) };
        let lengths = self.arrays.iter().map(|array| (array.key, array.instances));
        match lengths.chain(self.y.map(|y| ("y", y.len()))).find(|(_, length)| *length != expected) {
            None => Ok(()),
            Some((key, found)) => {
                Err(Error::value(format!("`{key}` has {found} instances, `{first}` has {expected}"))
                    .advice("nothing is broadcast: give one entry for every instance"))
            }
        }
    }

    fn check_classes(&self, task: Task) -> Result<()> {
        let mut scored = self.arrays.iter().filter(|array| array.holds == Holds::Scores);
        let Some(first) = scored.next() else { return Ok(()) };
        match scored.find(|array| array.columns != first.columns) {
            None => Ok(()),
            Some(other) => {
                let words = if task == Task::Regression { "values an instance" } else { "classes" };
                Err(Error::value(format!(
                    "`{}` has {} {words}, `{}` has {}",
                    other.key, other.columns, first.key, first.columns
                )))
            }
        }
    }

    fn check_labels(&self, task: Task) -> Result<()> {
        let scored = self.arrays.iter().find(|array| array.holds == Holds::Scores);
        let classes = match task {
            Task::Binary => Some(2),
            Task::Multiclass | Task::Regression => scored.map(|array| array.columns),
        };
        let last = classes.map_or(i64::MAX, |classes| classes as i64 - 1);
        let labels = self.arrays.iter().filter(|array| array.holds == Holds::Labels);
        let labels = labels.map(|array| (array.key, array.data, array.instances));
        for (key, data, instances) in self.y.map(|y| ("y", y, y.len())).into_iter().chain(labels) {
            let NumberSlice::Int(values) = data else { continue };
            let (low, high) = extent(values);
            if low >= 0 && high <= last {
                continue;
            }
            let outside = values.iter().position(|label| !(0..=last).contains(label));
            if let Some(place) = outside {
                return Err(Error::value(format!(
                    "`{key}` label {} at instance {} is outside 0..{last}",
                    values[place],
                    place % instances
                )));
            }
        }
        Ok(())
    }
}

impl<'a> Predictions<'a> {
    fn new(task: Task, key: &'static str, leads: bool, array: &Array<'a>) -> Result<Self> {
        let Array { shape, data } = array;
        let before = usize::from(leads) + 1;
        let has_columns = shape.len() == before + 1;
        let columns = if has_columns { shape[before] } else { 1 };
        let axes = if leads { "[K, N" } else { "[N" };
        if !(shape.len() == before || has_columns) || columns == 0 {
            return Err(Error::value(format!(
                "`{key}` has shape {shape:?}; {axes}] labels or {axes}, C] scores are needed"
            )));
        }
        let holds = match task {
            Task::Regression => Holds::Scores,
            Task::Binary if columns >= 2 => {
                return Err(Error::value(format!(
                    "`{key}` has {columns} columns, --task binary takes one; use --task multiclass"
                )));
            }
            Task::Multiclass if columns < 2 && data.is_float() => {
                return Err(Error::value(format!(
                    "`{key}` has shape {shape:?}; multiclass scores are {axes}, C] with C >= 2"
                ))
                .advice("labels are integers; the score of one class goes with --task binary"));
            }
            Task::Binary | Task::Multiclass if columns >= 2 || data.is_float() => Holds::Scores,
            Task::Binary | Task::Multiclass => Holds::Labels,
        };
        Ok(Self {
            key,
            holds,
            data: *data,
            leads: if leads { shape[0] } else { 1 },
            instances: shape[before - 1],
            columns,
            has_columns,
        })
    }

    /// The predictions at one position of the axis before the instances.
    pub(crate) fn lead(&self, position: usize) -> Self {
        let length = self.instances * self.columns;
        Self { data: self.data.part(position * length..(position + 1) * length), leads: 1, ..*self }
    }
}

/// The true labels, `[N]` or `[N, 1]`.
fn labels<'a>(task: Task, array: &Array<'a>) -> Result<NumberSlice<'a>> {
    if array.data.is_float() && task != Task::Regression {
        return Err(Error::value(format!("`y` has dtype {}; integer labels are needed", array.data.dtype())));
    }
    match array.shape[..] {
        [_] | [_, 1] => Ok(array.data),
        _ => Err(Error::value(format!("`y` has shape {:?}; [N] labels are needed", array.shape))),
    }
}

fn extent(labels: &[i64]) -> (i64, i64) {
    labels.iter().fold((0, 0), |(low, high), &label| (low.min(label), high.max(label)))
}
