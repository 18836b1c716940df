//! Scoring a packed batch that lies in memory, through the library.

use calipers_core::{Accumulator, Report, Result};
use calipers_metrics::independent_set::graph::{EdgeSource, Graph, Storage};
use calipers_metrics::independent_set::protocol::Switch;
use calipers_metrics::independent_set::unit::{Scores, Unit};
use calipers_metrics::independent_set::{Baseline, IndependentSet, Kind};

use crate::instances::Pack;

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

/// The entries of one graph of a pack, with its own node numbers.
pub(crate) struct Entries<'a> {
    src: &'a [i64],
    dst: &'a [i64],
    first: i64,
}

impl EdgeSource for Entries<'_> {
    fn entries(&self) -> u64 {
        self.src.len() as u64
    }

    fn blocks(&self, each: &mut dyn FnMut(&[i64], &[i64]) -> Result<()>) -> Result<()> {
        const BLOCK: usize = 4096;
        let (mut src, mut dst) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        for (some_src, some_dst) in self.src.chunks(BLOCK).zip(self.dst.chunks(BLOCK)) {
            src.clear();
            dst.clear();
            src.extend(some_src.iter().map(|node| node - self.first));
            dst.extend(some_dst.iter().map(|node| node - self.first));
            each(&src, &dst)?;
        }
        Ok(())
    }
}

impl Pack {
    /// The graphs one by one: entries, scores and labels. Entries are stored graph by graph.
    pub(crate) fn units(&self) -> impl Iterator<Item = (Entries<'_>, &[f32], &[bool])> {
        let mut at = 0;
        self.ptr.windows(2).map(move |ends| {
            let start = at;
            at += self.src[start..].partition_point(|node| *node < ends[1]);
            let nodes = ends[0] as usize..ends[1] as usize;
            let entries = Entries { src: &self.src[start..at], dst: &self.dst[start..at], first: ends[0] };
            (entries, &self.logits[nodes.clone()], &self.labels[nodes])
        })
    }

    /// One of them as a graph with rows, and its scores widened.
    pub(crate) fn built((entries, logits, _): (Entries<'_>, &[f32], &[bool])) -> Result<(Graph, Vec<f64>)> {
        let graph = Graph::build(logits.len() as u64, Storage::Both, &entries)?;
        Ok((graph, logits.iter().copied().map(f64::from).collect()))
    }
}

/// From arrays to the report.
pub(crate) fn score(protocol: &IndependentSet, pack: &Pack) -> Result<Report> {
    let mut accumulator = Accumulator::new(protocol.clone());
    for (number, unit) in pack.units().enumerate() {
        let name = format!("pack#{number:04}");
        let labels = unit.2;
        let (graph, logits) = Pack::built(unit)?;
        let scores = Scores::new(Kind::Logits, None, &logits, graph.nodes())?;
        let unit = Unit::new(&name, &graph, Some(scores), Some(labels), None)?;
        accumulator.update(name.as_str(), unit)?;
    }
    Ok(accumulator.finish())
}
