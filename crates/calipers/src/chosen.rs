//! A choice of metrics: what is shown of a report whose state keeps everything.

use std::collections::BTreeSet;

use calipers_core::{Error, Report, Result, Table, Value};

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

    /// The report with these metrics alone, in this order; ids go with or without the family, in any case.
    pub fn select(mut report: Report, ids: &[String]) -> Result<Report> {
        let mut selected: Vec<(String, Value)> = Vec::with_capacity(ids.len());
        for id in ids {
            let found = report.metrics.iter().find(|(known, _)| registry::is_meant(id, known));
            let found = found.ok_or_else(|| missing(id, &report))?;
            if selected.iter().all(|(known, _)| *known != found.0) {
                selected.push(found.clone());
            }
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

    /// Whether some metrics are not shown.
    pub(crate) fn is_cut(&self) -> bool {
        self.0.is_some()
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

/// The reports with these metrics alone, in this order. Of several reports each keeps those that it has,
/// and one that has none is left out.
pub fn selected(reports: Vec<Report>, ids: &[String]) -> Result<Vec<Report>> {
    let has =
        |report: &Report, id: &String| report.metrics.iter().any(|(known, _)| registry::is_meant(id, known));
    if ids.is_empty() || reports.is_empty() {
        return Ok(reports);
    }
    if let Some(id) = ids.iter().find(|id| !reports.iter().any(|report| has(report, id))) {
        return Err(missing(id, &reports[0]));
    }
    let mut kept = Vec::new();
    for report in reports {
        let own: Vec<String> = ids.iter().filter(|id| has(&report, id)).cloned().collect();
        if !own.is_empty() {
            kept.push(Chosen::select(report, &own)?);
        }
    }
    Ok(kept)
}

/// The error for an id that a report does not have: there is no such metric, or this report has none.
fn missing(id: &str, report: &Report) -> Error {
    let family = report.protocol.get("name").and_then(|name| name.as_str()).unwrap_or_default();
    let infos = registry::metrics_of(&report.protocol);
    match infos.iter().find(|info| registry::is_meant(id, &info.id)) {
        Some(info) => Error::usage("the report has no number of that id")
            .found(&info.id)
            .advice("it belongs to another preset, or to evidence that was not given; `explain` says which"),
        None => registry::unknown(id, infos.iter().map(|info| info.id.as_str())).at(family),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::{Accumulator, Ledger};

    #[test]
    fn a_selection_keeps_its_order_and_says_what_is_not_there() {
        let empty = Accumulator::new(calipers_metrics::training::Training::default()).report();
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let wanted = ids(&["velocity_wise", "Fold-Count", "training.velocity_wise"]);
        let few = Chosen::select(empty.clone(), &wanted).unwrap();
        let names: Vec<&str> = few.metrics.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(names, ["training.velocity_wise", "training.fold_count"]);
        let error = selected(vec![empty.clone()], &ids(&["velocity_wide"])).unwrap_err().to_string();
        assert!(error.contains("did you mean training.velocity_wise"), "{error}");
        let error = Chosen::select(empty, &ids(&["sweep_velocity_wise"])).unwrap_err().to_string();
        assert!(error.contains("the report has no number of that id"), "{error}");
    }
}
