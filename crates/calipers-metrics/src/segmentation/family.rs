//! The family as a protocol: units, rows, metrics and warnings under one name.

use calipers_core::{Column, Metric, Protocol, Provenance, Result, Rows, Warning};

use super::audit;
use super::measure::measure;
use super::metrics::{COLUMNS, METRICS};
use super::protocol::Segmentation;
use super::row::Row;
use super::unit::Unit;

impl Protocol for Segmentation {
    const NAME: &'static str = "segmentation";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
    const READING_PARAMETERS: &'static [&'static str] = &["heads"];
    const READING_IN_ROWS: &'static [&'static str] = &[];

    type Unit<'a> = Unit<'a>;
    type Row = Row;

    fn measure(&self, unit: Unit<'_>) -> Result<Row> {
        measure(self, &unit)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
        audit::warnings(self, rows, provenance)
    }
}
