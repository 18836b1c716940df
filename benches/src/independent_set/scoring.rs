//! Scoring a packed batch that lies in memory, through the library.

use calipers_core::{Accumulator, Report, Result};
use calipers_metrics::independent_set::graph::{Graph, PackedEntries, Storage};
use calipers_metrics::independent_set::protocol::Switch;
use calipers_metrics::independent_set::unit::{Scores, Unit};
use calipers_metrics::independent_set::{Baseline, IndependentSet, Kind};

use crate::independent_set::instances::Pack;

/// The document's metrics alone: no baseline, no certificate.
pub(crate) fn core_metrics() -> IndependentSet {
    IndependentSet {
        scores: Some(Kind::Logits),
        baseline: Baseline::None,
        certificate: Switch::Off,
        ..IndependentSet::default()
    }
}

/// Everything that is on by default.
pub(crate) fn default_metrics() -> IndependentSet {
    IndependentSet { scores: Some(Kind::Logits), ..IndependentSet::default() }
}

/// Entries, scores and labels of one graph of a pack.
pub(crate) type PackUnit<'a> = (PackedEntries<'a, i64>, &'a [f32], &'a [bool]);

impl Pack {
    /// The graphs one by one: entries, scores and labels. Entries are stored graph by graph.
    pub(crate) fn units(&self) -> impl Iterator<Item = Result<PackUnit<'_>>> {
        let mut at = 0;
        self.ptr.windows(2).map(move |ends| {
            let start = at;
            at += until(&self.src[start..], ends[1]);
            let nodes = ends[0] as usize..ends[1] as usize;
            let entries = PackedEntries::new(&self.src[start..at], &self.dst[start..at], ends[0])?;
            Ok((entries, &self.logits[nodes.clone()], &self.labels[nodes]))
        })
    }

    /// One of them as a graph with rows, and its scores widened.
    pub(crate) fn built(unit: Result<PackUnit<'_>>) -> Result<(Graph, Vec<f64>)> {
        let (entries, logits, _) = unit?;
        let graph = Graph::build(logits.len() as u64, Storage::Both, &entries)?;
        Ok((graph, logits.iter().copied().map(f64::from).collect()))
    }
}

/// How many of the sorted numbers are below `end`; looks at few of those far behind them.
fn until(sorted: &[i64], end: i64) -> usize {
    let mut step = 1;
    while sorted.get(step).is_some_and(|number| *number < end) {
        step *= 2;
    }
    let (below, above) = (step / 2, sorted.len().min(step));
    below + sorted[below..above].partition_point(|number| *number < end)
}

/// From arrays to the report.
pub(crate) fn score(protocol: &IndependentSet, pack: &Pack) -> Result<Report> {
    let mut accumulator = Accumulator::new(protocol.clone());
    for (number, unit) in pack.units().enumerate() {
        let unit = unit?;
        let name = format!("pack#{number:04}");
        let labels = unit.2;
        let (graph, logits) = Pack::built(Ok(unit))?;
        let scores = Scores::new(Kind::Logits, None, &logits, graph.nodes())?;
        let unit = Unit::new(&graph, Some(scores), Some(labels), None)?;
        accumulator.update(name.as_str(), unit)?;
    }
    Ok(accumulator.finish())
}
