//! The family as a protocol: units, rows, metrics and warnings under one name.

use calipers_core::{Column, Metric, Protocol, Provenance, Result, Rows, Value, Warning};

use super::audit;
use super::measure::measure;
use super::metrics::{METRICS, in_document};
use super::protocol::{Preset, Robustness};
use super::row::Row;
use super::unit::Pair;

impl Protocol for Robustness {
    const NAME: &'static str = "robustness";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = &[
        Column { name: "run", read: |_, row| Value::Text(row.run.clone()) },
        Column {
            name: "attack",
            read: |_, row| {
                row.attack.clone().map_or(Value::undefined("the attack is not named"), Value::Text)
            },
        },
        Column { name: "budget", read: |_, row| Value::Text(row.budget.label().into()) },
        Column { name: "n", read: |_, row| Value::Count(row.bias.per_node.len() as i128) },
    ];
    const READING_IN_ROWS: &'static [&'static str] = &[];
    const READING_PARAMETERS: &'static [&'static str] = &["model", "cutoff"];
    // Raw bias has no scale that two models share.

    type Unit<'a> = Pair<'a>;
    type Row = Row;

    fn measure(&self, unit: Pair<'_>) -> Result<Row> {
        measure(self, &unit)
    }

    fn reports(&self, metric: &Metric<Self>) -> bool {
        self.preset == Preset::Strict || in_document(metric.id)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
        audit::warnings(rows, provenance)
    }
}
