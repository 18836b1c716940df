//! Pairs into rows, with any number of threads.

use std::collections::BTreeMap;
use std::sync::Mutex;

use calipers_core::{Accumulator, Error, Fact, Reading, Result};
use calipers_metrics::robustness::NodeLines;
use calipers_metrics::robustness::Robustness;

use super::pair::OwnedPair;
use crate::inputs::Inputs;
use crate::run::{self, Chosen, Named, Work};

/// The rows of a run, and the lines of its nodes where they were asked for.
#[derive(Debug)]
pub struct Measured {
    /// The rows.
    pub accumulator: Accumulator<Robustness>,
    /// What rows do not keep of each node, by unit.
    pub nodes: Option<BTreeMap<String, NodeLines>>,
}

/// Measures the pairs that `load` makes of the units, with what it noticed. An error names the pair's file
/// and unit.
pub fn measure_pairs<U: Named + Sync>(
    protocol: &Robustness,
    chosen: &Chosen<'_, U>,
    per_node: bool,
    work: &Work<'_>,
    how: (&Inputs, Option<&Reading>),
    reserve: impl Fn(&U),
    load: impl Fn(&U, &Inputs) -> Result<(OwnedPair, Vec<Fact>)> + Sync,
) -> Result<Measured> {
    if per_node && work.resume.is_some() {
        return Err(Error::usage("--per-node and --resume exclude each other")
            .advice("the folder keeps rows, which do not hold the nodes; leave one of the two out"));
    }
    let lines: Mutex<BTreeMap<String, NodeLines>> = Mutex::default();
    let accumulator = run::measure_all(protocol, chosen, work, how, reserve, |unit, inputs, accumulator| {
        let (owned, noticed) = load(unit, inputs)?;
        let name = owned.name();
        let in_file = |error: Error| match &owned.file {
            Some(file) => error.in_file(file),
            None => error,
        };
        let pair = owned.pair().map_err(|error| in_file(error.at(format!("unit {name}"))))?;
        accumulator.update(name.as_str(), pair.clone()).map_err(in_file)?;
        accumulator.provenance.facts.extend(noticed);
        if per_node {
            let kept = NodeLines::of(&pair, protocol);
            lines.lock().map_err(|_| Error::io("a worker stopped while measuring"))?.insert(name, kept);
        }
        Ok(())
    })?;
    let lines = lines.into_inner().unwrap_or_default();
    Ok(Measured { accumulator, nodes: per_node.then_some(lines) })
}
