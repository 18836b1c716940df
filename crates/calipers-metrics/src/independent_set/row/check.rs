//! Rows that were stored: counts of nodes and edges that fit the graph.

use calipers_core::Result;
use calipers_core::check::{COUNT, at_most, finite, keep, total, within};

use super::{Counts, LabelRow, LabelSums, Row, ScoreRow, Sums};
use crate::independent_set::protocol::{Baseline, Decoder, IndependentSet, Switch};

/// Nodes are numbered in 32 bits.
const NODES: u64 = 1 << 32;

impl Row {
    /// Refuses what no graph gives under this protocol.
    pub(in crate::independent_set) fn check(&self, protocol: &IndependentSet) -> Result<()> {
        let nodes = self.nodes;
        at_most("nodes", nodes, NODES)?;
        let pairs = u128::from(nodes) * u128::from(nodes.saturating_sub(1)) / 2;
        keep(u128::from(self.edges) <= pairs, "edges", self.edges, format_args!("0 to {pairs}"))?;
        at_most("entries", self.entries, COUNT)?;
        at_most("self_loops", self.self_loops, self.entries)?;
        at_most("duplicate_edges", self.duplicate_edges, self.entries)?;
        at_most("one_directional_edges", self.one_directional_edges, self.entries)?;
        at_most("isolated_nodes", self.isolated_nodes, nodes)?;
        if let Some(labels) = &self.labels {
            labels.check(self)?;
        }
        for (field, count, is_asked) in [
            ("baseline", self.baseline, protocol.baseline != Baseline::None),
            ("row.upper_bound", self.upper_bound, protocol.certificate == Switch::On),
        ] {
            keep(count.is_some() == is_asked, field, count.is_some(), is_asked)?;
            at_most(field, count.unwrap_or(0), nodes)?;
        }
        at_most("optimum", self.optimum.unwrap_or(0), nodes)?;
        let Some(scores) = &self.scores else { return Ok(()) };
        scores.check(protocol, self).map_err(|error| error.at("scores"))
    }
}

impl LabelRow {
    fn check(&self, row: &Row) -> Result<()> {
        at_most("labels.ones", self.ones, row.nodes)?;
        at_most("labels.violations", self.violations, row.edges)
    }
}

impl ScoreRow {
    fn check(&self, protocol: &IndependentSet, row: &Row) -> Result<()> {
        let nodes = row.nodes;
        at_most("predicted", self.predicted, nodes)?;
        keep(
            self.counts.is_some() == row.labels.is_some(),
            "counts",
            self.counts.is_some(),
            "as labels are",
        )?;
        if let (Some(counts), Some(labels)) = (&self.counts, &row.labels) {
            counts.check(nodes, self.predicted, labels.ones)?;
        }
        at_most("violations", self.violations, row.edges)?;
        at_most("stored_violations", self.stored_violations, row.entries)?;
        at_most("conflicted", self.conflicted, self.predicted)?;
        at_most("decoded", self.decoded, nodes)?;
        at_most("tied", self.tied, nodes)?;
        finite("lowest", self.lowest)?;
        within("highest", self.highest, self.lowest, f64::INFINITY)?;
        if let Some(sums) = &self.sums {
            sums.check(row).map_err(|error| error.at("sums"))?;
        }
        for (field, size, decoder) in [
            ("score_degree", self.score_degree, Decoder::ScoreDegree),
            ("swap", self.swap, Decoder::Swap),
            ("ils", self.ils, Decoder::Ils),
        ] {
            let is_asked = protocol.decoders.contains(&decoder);
            keep(size.is_some() == is_asked, field, size.is_some(), is_asked)?;
            at_most(field, size.unwrap_or(0), nodes)?;
        }
        self.samples.iter().try_for_each(|size| at_most("samples", *size, nodes))?;
        for step in &self.steps {
            keep(step.correct.is_some() == row.labels.is_some(), "steps.correct", "one", "as labels are")?;
            at_most("steps.correct", step.correct.unwrap_or(0), nodes)?;
            at_most("steps.violations", step.violations, row.edges)?;
            at_most("steps.decoded", step.decoded, nodes)?;
        }
        Ok(())
    }
}

impl Counts {
    fn check(&self, nodes: u64, predicted: u64, ones: u64) -> Result<()> {
        let all = total([self.tp, self.fp, self.fn_, self.tn]);
        keep(all == u128::from(nodes), "counts", all, format_args!("{nodes}, the nodes"))?;
        // No sum of these four is beyond the number of nodes now.
        keep(self.tp + self.fp == predicted, "counts.tp and fp", self.tp + self.fp, predicted)?;
        keep(self.tp + self.fn_ == ones, "counts.tp and fn", self.tp + self.fn_, ones)
    }
}

impl Sums {
    fn check(&self, row: &Row) -> Result<()> {
        within("edge", self.edge, 0.0, f64::INFINITY)?;
        within("edge_stored", self.edge_stored, 0.0, f64::INFINITY)?;
        keep(self.labelled.is_some() == row.labels.is_some(), "labelled", "one", "as labels are")?;
        self.labelled.as_ref().map_or(Ok(()), LabelSums::check)
    }
}

impl LabelSums {
    fn check(&self) -> Result<()> {
        for (field, found) in [("positive", self.positive), ("negative", self.negative)] {
            // The sum of finite losses may be beyond the largest float.
            let found = found.unwrap_or(0.0);
            keep(found >= 0.0, field, found, "0 or more")?;
        }
        within("confidence", self.confidence, 0.0, f64::INFINITY)
    }
}
