//! A choice of metrics: what is shown of a report whose state keeps everything.

use std::collections::BTreeSet;

use calipers_core::{Report, Result, Table};

use crate::registry;

/// The ids of the metrics that are shown; all of them without a choice.
#[derive(Clone, Debug, Default)]
pub struct Chosen(Option<BTreeSet<String>>);

impl Chosen {
    /// These metrics alone.
    pub fn only(ids: impl IntoIterator<Item = String>) -> Self {
        Self(Some(ids.into_iter().collect()))
    }

    /// Those of a report, where its family lets metrics be chosen.
    pub fn of(report: &Report) -> Self {
        let name = report.protocol.get("name").and_then(|name| name.as_str());
        let chosen = name.and_then(registry::find).is_some_and(|family| family.chosen_metrics);
        Self(chosen.then(|| report.metrics.iter().map(|(id, _)| id.clone()).collect()))
    }

    /// The chosen ids; none without a choice.
    pub fn ids(&self) -> Vec<String> {
        self.0.iter().flatten().cloned().collect()
    }

    /// Whether a metric is shown.
    pub fn has(&self, id: &str) -> bool {
        self.0.as_ref().is_none_or(|ids| ids.contains(id))
    }

    /// The report without the other metrics.
    #[must_use]
    pub fn cut(&self, mut report: Report) -> Report {
        report.metrics.retain(|(id, _)| self.has(id));
        report
    }

    /// The report with these metrics alone, in this order; ids go with or without the family.
    pub fn select(mut report: Report, ids: &[String]) -> Result<Report> {
        let prefix = report.protocol.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        let prefix = format!("{prefix}.");
        let mut selected = Vec::with_capacity(ids.len());
        for id in ids {
            let full = if id.starts_with(&prefix) { id.clone() } else { format!("{prefix}{id}") };
            let found = report.metrics.iter().find(|(known, _)| *known == full);
            let known = || report.metrics.iter().map(|(known, _)| known.as_str());
            selected.push(found.ok_or_else(|| registry::unknown(id, known()))?.clone());
        }
        let is_selected = |id: &str| selected.iter().any(|(known, _)| known == id);
        let below = |path: &str| selected.iter().any(|(known, _)| path.starts_with(&format!("{known}.")));
        if let Some(intervals) = &mut report.intervals {
            intervals.bounds.retain(|(id, _)| is_selected(id));
            intervals.missing.retain(|(path, _)| is_selected(path) || below(path));
        }
        report.metrics = selected;
        Ok(report)
    }

    /// The per-unit table of a family without the columns of other metrics.
    #[must_use]
    pub fn cut_table(&self, family: &str, mut table: Table) -> Table {
        if self.0.is_none() {
            return table;
        }
        // The first column is the name of the unit, which the cells of a row leave out.
        let mut kept: Vec<bool> =
            table.columns.iter().map(|column| self.has(&format!("{family}.{column}"))).collect();
        kept[0] = true;
        for (_, cells) in &mut table.rows {
            let mut kept = kept[1..].iter();
            cells.retain(|_| kept.next() == Some(&true));
        }
        let mut kept = kept.iter();
        table.columns.retain(|_| kept.next() == Some(&true));
        table
    }
}
