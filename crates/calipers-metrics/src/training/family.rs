//! The family as a protocol: units, rows, metrics and warnings under one name.

use calipers_core::{Column, Metric, Protocol, Provenance, Result, Rows, Warning};

use super::audit;
use super::explain;
use super::measure::measure;
use super::metrics::{COLUMNS, METRICS, is_interval, is_sweep};
use super::protocol::Training;
use super::row::Row;
use super::unit::Curve;

impl Protocol for Training {
    const NAME: &'static str = "training";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
    const READING_PARAMETERS: &'static [&'static str] =
        &["metric", "label", "scale", "x", "group_by", "fold_by", "bootstrap", "seed", "confidence"];
    const READING_IN_ROWS: &'static [&'static str] = &[];

    type Unit<'a> = Curve<'a>;
    type Row = Row;

    fn measure(&self, unit: Curve<'_>) -> Result<Row> {
        measure(self, &unit)
    }

    fn reports(&self, metric: &Metric<Self>) -> bool {
        (!is_sweep(metric.id) || !self.sweep.is_empty()) && (!is_interval(metric.id) || self.bootstrap > 0)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
        audit::warnings(self, rows, provenance)
    }

    fn explain_unit(&self, row: &Row) -> Option<String> {
        Some(explain::explain(self, row))
    }
}
