//! Pairs into rows, with any number of threads.

use std::collections::BTreeMap;
use std::sync::Mutex;

use calipers_core::{Accumulator, Error, Result};
use calipers_metrics::robustness::NodeLines;
use calipers_metrics::robustness::Robustness;

use super::pair::OwnedPair;
use crate::run::{self, Work};

/// The rows of a run, and the lines of its nodes where they were asked for.
#[derive(Debug)]
pub struct Measured {
    /// The rows.
    pub accumulator: Accumulator<Robustness>,
    /// What rows do not keep of each node, by unit.
    pub nodes: Option<BTreeMap<String, NodeLines>>,
}

/// Measures the pairs that `load` makes of the jobs. An error names the pair's file and unit.
pub fn measure_pairs<J: Sync>(
    protocol: &Robustness,
    jobs: &[J],
    per_node: bool,
    work: &Work<'_>,
    load: impl Fn(&J) -> Result<OwnedPair> + Sync,
) -> Result<Measured> {
    let lines: Mutex<BTreeMap<String, NodeLines>> = Mutex::default();
    let accumulator = run::measure_all(protocol, jobs, work, |job, accumulator| {
        let owned = load(job)?;
        let name = owned.name();
        let in_file = |error: Error| match &owned.file {
            Some(file) => error.in_file(file),
            None => error,
        };
        let pair = owned.pair().map_err(|error| in_file(error.at(format!("unit {name}"))))?;
        accumulator.update(name.as_str(), pair.clone()).map_err(in_file)?;
        if per_node {
            let kept = NodeLines::of(&pair, protocol);
            lines.lock().map_err(|_| Error::io("a worker stopped while measuring"))?.insert(name, kept);
        }
        Ok(())
    })?;
    let lines = lines.into_inner().unwrap_or_default();
    Ok(Measured { accumulator, nodes: per_node.then_some(lines) })
}
