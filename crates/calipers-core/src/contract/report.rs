//! What a run says: plain data that every output form is made from.

use serde_json::{Map, Value as Json};

use crate::input_files::InputFiles;
use crate::metric::{Metric, full_id};
use crate::protocol::Protocol;
use crate::resample::Intervals;
use crate::value::Value;

/// One protocol's report.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The version of Calipers that made it.
    pub version: String,
    /// `name` and every parameter, defaults included.
    pub protocol: Map<String, Json>,
    /// How the inputs were found and read; [`Json::Null`] when nothing was read from files.
    pub reading: Json,
    /// How many units there are.
    pub units: u64,
    /// Every metric by its full id, in report order.
    pub metrics: Vec<(String, Value)>,
    /// How sure the numbers are, when asked for.
    pub intervals: Option<Intervals>,
    /// What looks wrong.
    pub warnings: Vec<Warning>,
    /// The units that could not be measured and are in no number, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// The files read, by path.
    pub inputs: InputFiles,
}

/// Something in the evidence that a reader of the numbers should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// A fixed word that scripts can look for.
    pub code: String,
    /// The matter in a sentence, with counts.
    pub message: String,
    /// The units it concerns, sorted; empty when it is about the whole run.
    pub units: Vec<String>,
}

/// The per-unit table: one row per unit, in key order.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The headings; the first is `unit`.
    pub columns: Vec<String>,
    /// The name and the cells of each unit, the cells without the first column.
    pub rows: Vec<(String, Vec<Value>)>,
}

impl Report {
    /// The value of a metric by its full id.
    pub fn get(&self, id: &str) -> Option<&Value> {
        self.metrics.iter().find(|(name, _)| name == id).map(|(_, value)| value)
    }

    /// The value of a line of a metric table, if it is reported.
    pub fn value<P: Protocol>(&self, metric: &Metric<P>) -> Option<&Value> {
        self.get(&full_id::<P>(metric.id))
    }
}
