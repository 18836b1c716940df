//! Attacks on graph models from files: arrays into pairs, pairs into rows.
//!
//! ```text
//! plan     files -> runs and their conditions      keys, names, arrays
//! run      arrays of a run -> owned pairs          numbers, pair
//! measure  owned pairs -> rows, and lines per node
//! memory   the same from arrays of a caller
//! ```

mod arrays;
mod keys;
mod measure;
pub mod memory;
pub mod names;
mod numbers;
pub mod options;
mod pair;
mod plan;
mod run;

use calipers_core::{Fact, Result};
use calipers_metrics::robustness::Robustness;

pub use self::measure::{Measured, measure_pairs};
pub use self::numbers::Numbers;
use self::options::Options;
pub use self::pair::OwnedPair;
use self::plan::Plan;
use crate::inputs::Inputs;
use crate::run::Work;

/// Measures every pair of the inputs, or those of one shard. `inputs` holds the files that were
/// read for the options themselves.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Measured> {
    options.check()?;
    let plan = Plan::new(options)?;
    let units = work.part(&plan.units);
    units.iter().for_each(|unit| plan.reserve(unit));
    let protocol = Robustness { model: plan.model.clone(), ..options.protocol.clone() };
    let mut measured = measure_pairs(&protocol, units, options.per_node, work, |unit| {
        plan.pair(unit, &inputs).map_err(|error| error.in_file(&unit.shown))
    })?;
    let facts = units.iter().filter_map(|unit| unknown_keys(unit.name.clone(), plan.unknown_keys(unit)));
    measured.accumulator.provenance.facts.extend(facts);
    work.record(std::slice::from_mut(&mut measured.accumulator), inputs, Some(options.reading()))?;
    Ok(measured)
}

/// What there is to say about arrays of a unit's file that nothing reads.
fn unknown_keys(unit: String, keys: &[String]) -> Option<Fact> {
    (!keys.is_empty()).then(|| Fact { code: "unknown_keys".into(), unit, detail: keys.join(", ") })
}
