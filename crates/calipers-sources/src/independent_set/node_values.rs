//! One value per node: scores with their kind and axis, and labels, checked where they are read.

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Dtype};
use calipers_metrics::independent_set::unit::Scores;
use calipers_metrics::independent_set::{Axis, Kind};

use crate::array_file::shape_text;

/// The scores of one graph, or of all graphs of a pack together.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreValues {
    /// What they are.
    pub kind: Kind,
    /// What the rows are, when there are several.
    pub axis: Option<Axis>,
    /// How many rows there are.
    pub rows: usize,
    /// The values, row by row.
    pub values: Vec<f64>,
}

impl ScoreValues {
    /// One row of scores.
    pub fn one_row(kind: Kind, values: Vec<f64>) -> Self {
        Self { kind, axis: None, rows: 1, values }
    }

    /// How many nodes a row has.
    pub fn nodes(&self) -> usize {
        self.values.len().checked_div(self.rows).unwrap_or(0)
    }

    /// The scores checked against a graph of so many nodes. The number of rows is that of the file:
    /// a graph without nodes has as many steps or samples as another one.
    pub fn checked(&self, nodes: usize) -> Result<Scores<'_>> {
        Scores::with_rows(self.kind, self.axis, &self.values, self.rows, nodes)
    }

    /// The scores of the nodes in `range` alone.
    pub fn of_nodes(&self, range: std::ops::Range<usize>) -> Self {
        let nodes = self.nodes();
        let values = (0..self.rows)
            .flat_map(|row| &self.values[row * nodes + range.start..row * nodes + range.end])
            .copied()
            .collect();
        Self { values, ..*self }
    }
}

/// Scores from an array; `key` names it in messages.
pub fn scores(array: &Array, key: &str, kind: Kind, axis: Option<Axis>) -> Result<ScoreValues> {
    let dtype = array.dtype();
    let allowed =
        if kind == Kind::Set { "bool, integers or floats holding 0 and 1" } else { "f16, bf16, f32 or f64" };
    if dtype == Dtype::Text || (kind != Kind::Set && !dtype.is_float()) {
        let error = Error::value(format!("'{key}' has a type that cannot hold {}", noun(kind)));
        let error = error.at(format!("key {key}")).found(dtype.name()).allowed(allowed);
        return Err(error.advice(if kind == Kind::Set {
            "store 1 for each chosen node and 0 for the others"
        } else {
            "convert it to floats; chosen nodes as 0 and 1 go under 'set'"
        }));
    }
    let shape = array.shape();
    let refused = |what: &str, allowed: &str, advice: &str| {
        let error = Error::value(format!("'{key}' {what}")).at(format!("key {key}"));
        Err(error.found(shape_text(shape)).allowed(allowed).advice(advice))
    };
    let rows = match (shape, axis) {
        ([_], None) => 1,
        ([_], Some(_)) => {
            let what = "has one axis, but an axis of samples or steps was named";
            return refused(what, "[S,N] or [T,N]", "leave out --axis");
        }
        ([_, _], None) => {
            let what = "is two-dimensional and nothing says what its rows are";
            return refused(what, "[N], or [S,N] and [T,N] with an axis", "--axis samples or --axis steps");
        }
        ([0, _], Some(_)) => {
            let advice = "store a row of scores for each sample or step";
            return refused("holds 0 samples or steps", "at least one row", advice);
        }
        ([rows, _], Some(_)) => *rows as usize,
        _ => {
            let advice = "take away axes of length 1; several graphs are packed with 'ptr'";
            return refused("has the wrong shape", "[N], [S,N] or [T,N]", advice);
        }
    };
    let values = array.to_f64s().map_err(|error| error.at(format!("key {key}")))?;
    Ok(ScoreValues { kind, axis, rows, values })
}

/// Labels from an array: 0 and 1 only.
pub fn labels_of(array: &Array, key: &str) -> Result<Vec<bool>> {
    if array.shape().len() != 1 {
        return Err(Error::value(format!("'{key}' must be one-dimensional"))
            .at(format!("key {key}"))
            .found(shape_text(array.shape()))
            .allowed("[N]")
            .advice("store one label a node"));
    }
    let values = array.to_f64s().map_err(|error| error.at(format!("key {key}")))?;
    labels(&values).map_err(|error| error.at(format!("key {key}")))
}

/// Labels from numbers: 0 and 1 only.
pub fn labels(values: &[f64]) -> Result<Vec<bool>> {
    values
        .iter()
        .enumerate()
        .map(|(node, value)| label(*value).map_err(|error| error.at(format!("node {node}"))))
        .collect()
}

fn label(value: f64) -> Result<bool> {
    if value.total_cmp(&1.0).is_eq() {
        Ok(true)
    } else if value.abs().total_cmp(&0.0).is_eq() {
        Ok(false)
    } else {
        Err(Error::value("a label is neither 0 nor 1")
            .found(value)
            .allowed("0 and 1")
            .advice("soft labels are not supported"))
    }
}

/// A whole number of at least 0 that stands for a known optimum.
pub fn whole(value: f64, what: &str) -> Result<u64> {
    let fits = value >= 0.0 && value.fract().abs().total_cmp(&0.0).is_eq() && value < 9e15;
    if fits {
        return Ok(value as u64);
    }
    Err(Error::value(format!("{what} must be a whole number, 0 or more"))
        .found(value)
        .allowed("0, 1, 2, ... up to the number of nodes")
        .advice("leave an unknown optimum out"))
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Logits => "logits",
        Kind::Probs => "probabilities",
        Kind::Set => "a set",
    }
}
