//! `--metrics`: a choice of what is printed, over a state that keeps everything.

use std::collections::BTreeSet;

use calipers::core::metric::MetricInfo;
use calipers::core::report::Table;
use calipers::core::resample::{Bootstrap, Resampler, Scope};
use calipers::core::spelling::distance;
use calipers::core::state::Section;
use calipers::core::{Protocol, Provenance, Workers};
use calipers::metrics::explanation::needs::missing_keys;
use calipers::metrics::explanation::protocol::Explanation;
use calipers::{Accumulator, Error, Ledger, Report, Result};
use serde_json::{Map, Value as Json};

/// The metrics that were asked for; all of them when none was named.
#[derive(Debug)]
pub(crate) struct Choice(Option<BTreeSet<&'static str>>);

impl Choice {
    /// Looks the ids up, with or without the family; unknown ones, and those the preset does not
    /// have, are wrong usage.
    pub(crate) fn new(ids: &[String], protocol: &Explanation) -> Result<Self> {
        if ids.is_empty() {
            return Ok(Self(None));
        }
        let known = |id: &String| {
            let id = id.trim();
            let short = id.strip_prefix("explanation.").unwrap_or(id);
            let metric = Explanation::METRICS.iter().find(|metric| metric.id == short);
            let metric = metric.ok_or_else(|| unknown(short))?;
            if protocol.reports(metric) {
                return Ok(metric.id);
            }
            let preset = serde_json::to_value(protocol.preset).ok();
            let preset = preset.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
            Err(Error::usage(format!("--preset {preset} has no such metric")).at("--metrics").found(short))
        };
        ids.iter().map(known).collect::<Result<_>>().map(|ids| Self(Some(ids)))
    }

    /// Refuses a choice that no unit has the evidence for, naming the key that is missing.
    pub(crate) fn check_evidence(&self, accumulator: &Accumulator<Explanation>) -> Result<()> {
        let rows = accumulator.rows();
        for id in self.0.iter().flatten() {
            if let Some(missing) = missing_keys(id, &rows) {
                return Err(Error::value(format!("{id} cannot be computed: {missing}")).at("--metrics"));
            }
        }
        Ok(())
    }

    /// The accumulator, showing what was chosen.
    pub(crate) fn apply(self, accumulator: Accumulator<Explanation>) -> Box<dyn Ledger> {
        match self.0 {
            None => Box::new(accumulator),
            Some(ids) => Box::new(Chosen { ledger: accumulator, ids }),
        }
    }
}

/// The error for an id that no metric has, with those that may have been meant.
fn unknown(id: &str) -> Error {
    let mut near: Vec<(usize, &str)> = Explanation::METRICS
        .iter()
        .map(|metric| (distance(metric.id, id), metric.id))
        .filter(|(distance, _)| *distance <= 3)
        .collect();
    near.sort_unstable();
    near.truncate(3);
    let error = Error::usage("no metric of that id").at("--metrics").found(id);
    if near.is_empty() {
        return error.advice("`calipers list` shows every metric");
    }
    let names: Vec<&str> = near.into_iter().map(|(_, id)| id).collect();
    error.advice(format!("did you mean {}?", names.join(" or ")))
}

/// A state of which only some metrics are shown.
struct Chosen {
    ledger: Accumulator<Explanation>,
    ids: BTreeSet<&'static str>,
}

impl Chosen {
    fn shows(&self, id: &str) -> bool {
        self.ids.contains(id.strip_prefix("explanation.").unwrap_or(id))
    }

    fn cut(&self, mut report: Report) -> Report {
        report.metrics.retain(|(id, _)| self.shows(id));
        if let Some(intervals) = &mut report.intervals {
            intervals.retain(|(id, _)| self.shows(id));
        }
        report
    }
}

impl Ledger for Chosen {
    fn name(&self) -> &'static str {
        self.ledger.name()
    }

    fn units(&self) -> usize {
        self.ledger.units()
    }

    fn merge(&mut self, other: Box<dyn Ledger>) -> Result<()> {
        Ledger::merge(&mut self.ledger, other)
    }

    fn report_on(&self, workers: &dyn Workers) -> Report {
        self.cut(self.ledger.report_on(workers))
    }

    fn report_with_intervals(&self, bootstrap: &Bootstrap) -> Report {
        self.cut(self.ledger.report_with_intervals(bootstrap))
    }

    fn resampler(&self, scope: Scope, wanted: &dyn Fn(&str) -> bool) -> Box<dyn Resampler + '_> {
        Ledger::resampler(&self.ledger, scope, &|id| self.shows(id) && wanted(id))
    }

    fn unit_names(&self) -> Vec<&str> {
        Ledger::unit_names(&self.ledger)
    }

    fn parameters(&self) -> Map<String, Json> {
        Ledger::parameters(&self.ledger)
    }

    fn reading_parameters(&self) -> &'static [&'static str] {
        Ledger::reading_parameters(&self.ledger)
    }

    fn per_unit(&self) -> Table {
        let mut table = self.ledger.per_unit();
        // The first column is the name, which the cells of a row leave out.
        let kept: Vec<bool> = table.columns[1..].iter().map(|column| self.shows(column)).collect();
        let mut place = kept.iter();
        for (_, cells) in &mut table.rows {
            let mut place = kept.iter();
            cells.retain(|_| place.next() == Some(&true));
        }
        table.columns.retain(|column| column == "unit" || place.next() == Some(&true));
        table
    }

    fn explain_units(&self) -> Vec<(String, String)> {
        self.ledger.explain_units()
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        self.ledger.metrics()
    }

    fn provenance(&self) -> &Provenance {
        Ledger::provenance(&self.ledger)
    }

    fn set_source(&mut self, source: &str) {
        Ledger::set_source(&mut self.ledger, source);
    }

    fn section(&self) -> Section {
        self.ledger.section()
    }
}
