//! Rows that were stored: counts of nodes and edges that fit each other and the protocol.

use calipers_core::Result;
use calipers_core::check::{COUNT, at_most, finite, keep, long, name, sum, total, within};

use super::{AccuracyRow, BiasRow, FlipRow, Row, SpreadRow};
use crate::robustness::bias::measure::QUANTILES;
use crate::robustness::protocol::{Nodes, Robustness};

/// Nodes are numbered in 32 bits, and edges are pairs of them.
const NODES: u64 = 1 << 32;

impl Row {
    /// Refuses what no pair gives under this protocol.
    pub(in crate::robustness) fn check(&self, protocol: &Robustness) -> Result<()> {
        name("run", &self.run)?;
        at_most("nodes", self.nodes, NODES)?;
        at_most("columns", self.columns, COUNT)?;
        self.bias.check(protocol, self.nodes).map_err(|error| error.at("bias"))?;
        self.accuracy.check(protocol, self.nodes).map_err(|error| error.at("accuracy"))?;
        if let Some(all) = &self.all {
            all.check(protocol).map_err(|error| error.at("all"))?;
        }
        let Some(flips) = &self.flips else { return Ok(()) };
        let attacked = self.all.as_ref().map(|all| u128::from(all.count));
        let parts = total([flips.added.count, flips.kept.count]);
        keep(
            attacked == Some(parts),
            "flips.added and flips.kept",
            parts,
            "the edges of the attacked graph",
        )?;
        flips.check(protocol, self.nodes).map_err(|error| error.at("flips"))
    }
}

impl BiasRow {
    fn check(&self, protocol: &Robustness, nodes: u64) -> Result<()> {
        let chosen = self.per_node.len() as u64;
        match protocol.nodes {
            Nodes::All => long("per_node", self.per_node.len(), nodes as usize)?,
            // The published module may name a test node twice.
            Nodes::Test if protocol.is_fork() => {}
            Nodes::Test | Nodes::NotTrain => at_most("per_node", chosen, nodes)?,
        }
        for bias in &self.per_node {
            // A bias beyond the largest float is kept as infinite, and reported as undefined.
            keep(*bias >= 0.0, "per_node", bias, "0 or more")?;
        }
        long("quantiles", self.quantiles.len(), if chosen == 0 { 0 } else { QUANTILES.len() })
    }
}

impl AccuracyRow {
    fn check(&self, protocol: &Robustness, nodes: u64) -> Result<()> {
        let tested = self.tested.unwrap_or(0);
        at_most("tested", tested, if protocol.is_fork() { COUNT } else { nodes })?;
        at_most("leak", self.leak, tested)?;
        let decides = self.labelled && self.scored && tested > 0;
        keep(self.decisions.is_some() == decides, "decisions", self.decisions.is_some(), decides)?;
        let Some(decisions) = &self.decisions else { return Ok(()) };
        at_most("correct_clean", decisions.correct_clean, tested)?;
        at_most("correct_attacked", decisions.correct_attacked, tested)?;
        at_most("broken", decisions.broken, decisions.correct_clean)?;
        at_most("ties", decisions.ties, tested)?;
        at_most("majority", decisions.majority, tested)
    }
}

impl FlipRow {
    fn check(&self, protocol: &Robustness, nodes: u64) -> Result<()> {
        let clean = total([self.kept.count, self.removed.count]);
        keep(u128::from(self.clean_edges) == clean, "clean_edges", self.clean_edges, clean)?;
        at_most("isolated", self.isolated, nodes)?;
        let changed = self.added.count > 0 || self.removed.count > 0;
        keep(self.graph.is_some() == changed, "graph", self.graph.is_some(), changed)?;
        for (field, part) in [("added", &self.added), ("kept", &self.kept), ("removed", &self.removed)] {
            part.check(protocol).map_err(|error| error.at(field))?;
        }
        Ok(())
    }
}

impl SpreadRow {
    fn check(&self, protocol: &Robustness) -> Result<()> {
        at_most("count", self.count, COUNT / 4)?;
        sum("sum", &self.sum, self.count, f64::INFINITY)?;
        if let Some([low, high]) = self.range {
            finite("range", low)?;
            within("range", high, low, f64::INFINITY)?;
        }
        let is_wide = self.range.is_some_and(|[low, high]| low < high);
        keep(self.bins.is_some() == is_wide, "bins", self.bins.is_some(), is_wide)?;
        let binned = match &self.bins {
            None => 0,
            Some(bins) => {
                long("bins", bins.len(), protocol.bins as usize)?;
                total(bins.iter().copied()) + u128::from(self.outside)
            }
        };
        let all = if is_wide { u128::from(self.count) } else { 0 };
        keep(binned == all, "bins and outside", binned, format_args!("{all} edges"))?;
        at_most("outside", self.outside, self.count)?;
        let cut = protocol.cutoff.is_some();
        keep(self.pruned.is_some() == cut, "pruned", self.pruned.is_some(), cut)?;
        at_most("pruned", self.pruned.unwrap_or(0), self.count)
    }
}
