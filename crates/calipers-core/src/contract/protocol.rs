//! What a family defines: units, rows, parameters and the table of its metrics.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::metric::{Column, Metric};
use crate::provenance::Provenance;
use crate::reading::Rows;
use crate::report::Warning;
use crate::resample::{Bootstrap, Sampled, Sampling};

/// A way of measuring: its parameters, how a unit becomes a row, and what is read from rows.
///
/// *Correctness.* `measure` depends on the protocol, the unit and its name alone, never on other units, so
/// that any split of the work gives the same rows; everything that needs several units happens in
/// the lines of [`Protocol::METRICS`].
pub trait Protocol: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name in reports and states, also the prefix of every metric id.
    const NAME: &'static str;
    /// Every number it reports, in report order.
    const METRICS: &'static [Metric<Self>];
    /// The first columns of the per-unit table, before the per-unit metrics.
    const COLUMNS: &'static [Column<Self>] = &[];
    /// Keys of [`Provenance::readings`] that rows depend on: states that differ there do not merge.
    const READING_IN_ROWS: &'static [&'static str] = &[];

    /// Whether numbers of labels are columns of their own in the per-unit table, and not one for all labels.
    const COLUMNS_OF_LABELS: bool = false;

    /// Parameters that say how a prediction is read, not what is measured: two models may differ in
    /// them and still be compared unit by unit.
    const READING_PARAMETERS: &'static [&'static str] = &[];

    /// What a sample is made of, and how it is drawn again.
    const SAMPLING: Sampling = Sampling::UNITS;

    /// A checked, borrowed view of one piece of evidence.
    type Unit<'a>;
    /// What is kept of a unit: counts and exact sums, never a ratio.
    type Row: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync;

    /// Reduces a unit to its row; the name may seed what is random in that. Fails only on a bad value
    /// whose check would have needed a second pass over the data when the view was built.
    fn measure(&self, name: &str, unit: Self::Unit<'_>) -> Result<Self::Row>;

    /// Refuses parameters that no command line and no configuration could have given: those of a state or a
    /// report may be anybody's.
    fn check(&self) -> Result<()>;

    /// Refuses a row that no unit could have given under these parameters. What reads rows relies on it: the
    /// length of every list, every position, every sum. [`check`](crate::check) has the words.
    fn check_row(&self, row: &Self::Row) -> Result<()>;

    /// More first columns of the per-unit table, where the parameters ask for what they show.
    fn more_columns(&self) -> &'static [Column<Self>] {
        &[]
    }

    /// Where the row of a unit belongs in the sample: the thing that would be another one next time, and
    /// the part of the sample it lies in.
    fn sampled<'a>(&self, unit: &'a str, _row: &'a Self::Row) -> Sampled<'a> {
        Sampled { unit, part: "" }
    }

    /// The resampling that its own parameters ask for.
    fn bootstrap(&self) -> Option<Bootstrap> {
        None
    }

    /// Takes over how to resample, where that is among its parameters.
    fn resample_as(&mut self, _: &Bootstrap) {}

    /// The labels that occur in a row, of those that means over labels run over.
    fn labels_of<'a>(&'a self, _row: &'a Self::Row) -> Vec<&'a str> {
        Vec::new()
    }

    /// Whether two rows of one unit were measured against one truth: what no prediction can change is equal.
    ///
    /// A network gives other last bits in a batch of another size. Measured twice, a unit then has two
    /// rows of one truth; two truths under one name are two different units.
    fn same_truth(&self, a: &Self::Row, b: &Self::Row) -> bool {
        a == b
    }

    /// The protocol under which single rows are read for the per-unit table: parameters that are
    /// pooled over all rows are fixed to their value here.
    fn for_single_rows(&self, _rows: &Rows<'_, Self::Row>) -> Self {
        self.clone()
    }

    /// What there is to say about one unit beside its numbers, in words.
    fn explain_unit(&self, _row: &Self::Row) -> Option<String> {
        None
    }

    /// What looks wrong in the evidence, in the order of the spec.
    fn warnings(&self, rows: &Rows<'_, Self::Row>, provenance: &Provenance) -> Vec<Warning>;
}

/// The protocol as the report prints it: its name first, then every parameter.
pub fn protocol_json<P: Protocol>(protocol: &P) -> serde_json::Map<String, Json> {
    let mut object = serde_json::Map::new();
    object.insert("name".into(), P::NAME.into());
    if let Ok(Json::Object(parameters)) = serde_json::to_value(protocol) {
        object.extend(parameters);
    }
    object
}

/// A protocol from its parameters as JSON, checked as those of a command line are.
pub fn from_json<P: Protocol>(parameters: Json) -> Result<P> {
    let protocol: P = serde_json::from_value(parameters).map_err(|error| {
        Error::format("the protocol is not one of this version").at("protocol").found(error)
    })?;
    checked(protocol)
}

/// The protocol of a stored text.
pub(crate) fn from_text<P: Protocol>(text: &str) -> Result<P> {
    let protocol: P = serde_json::from_str(text).map_err(|error| {
        Error::format("the protocol is not one of this version").at("protocol").found(error)
    })?;
    checked(protocol)
}

/// What a file holds is mended in the file, whatever the same words on a command line would be.
fn checked<P: Protocol>(protocol: P) -> Result<P> {
    protocol.check().map_err(|error| error.at("protocol").as_format())?;
    Ok(protocol)
}
