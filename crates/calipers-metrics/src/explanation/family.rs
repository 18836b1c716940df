//! The family as a protocol: units, rows, metrics and warnings under one name.

use calipers_core::{Column, Metric, Protocol, Provenance, Result, Rows, Warning};

use super::audit;
use super::evidence::Evidence;
use super::measure::measure;
use super::metrics::METRICS;
use super::needs;
use super::protocol::Explanation;
use super::row::Row;

impl Protocol for Explanation {
    const NAME: &'static str = "explanation";
    const METRICS: &'static [Metric<Self>] = METRICS;
    const COLUMNS: &'static [Column<Self>] = &[];
    const READING_PARAMETERS: &'static [&'static str] = &["scores", "mask_scores"];
    const READING_IN_ROWS: &'static [&'static str] = &[];

    type Unit<'a> = Evidence<'a>;
    type Row = Row;

    fn measure(&self, unit: Evidence<'_>) -> Result<Row> {
        measure(self, &unit)
    }

    fn reports(&self, metric: &Metric<Self>) -> bool {
        needs::belongs_to(self.preset, metric.id)
    }

    fn has_evidence(&self, metric: &Metric<Self>, rows: &Rows<'_, Row>) -> bool {
        needs::met(metric.id, rows)
    }

    fn warnings(&self, rows: &Rows<'_, Row>, _: &Provenance) -> Vec<Warning> {
        audit::warnings(self, rows)
    }
}
