//! Attacks on graph models from files: arrays into pairs, pairs into rows.
//!
//! ```text
//! plan     files -> runs and their conditions      keys, arrays
//! run      arrays of a run -> owned pairs          numbers, pair
//! measure  owned pairs -> rows, and lines per node
//! memory   the same from arrays of a caller
//! ```

mod arrays;
mod keys;
mod measure;
pub mod memory;
mod numbers;
pub mod options;
mod pair;
mod plan;
mod run;

use calipers_core::{Fact, Result};

pub use self::measure::{Measured, measure_pairs};
pub use self::numbers::Numbers;
use self::options::Options;
pub use self::pair::OwnedPair;
pub use self::plan::ENDINGS;
use self::plan::Plan;
use crate::inputs::Inputs;
use crate::run::{Progress, Shard};

/// Measures every pair of the inputs, or those of one shard. `inputs` holds the files that were
/// read for the options themselves.
pub fn measure(
    options: &Options,
    inputs: Inputs,
    shard: Option<Shard>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Measured> {
    options.check()?;
    let plan = Plan::new(options)?;
    let units = shard.map_or(&plan.units[..], |shard| &plan.units[shard.range(plan.units.len())]);
    units.iter().for_each(|unit| plan.reserve(unit));
    let mut measured =
        measure_pairs(&options.protocol, units, options.per_node, threads, progress, |unit| {
            plan.pair(unit, &inputs).map_err(|error| error.in_file(&unit.shown))
        })?;
    let provenance = &mut measured.accumulator.provenance;
    for unit in units {
        provenance.facts.extend(unknown_keys(unit.name.clone(), plan.unknown_keys(unit)));
    }
    provenance.inputs = inputs.into_files()?;
    provenance.readings.insert(options.reading());
    if let Some(shard) = shard {
        provenance.shards.entry(shard.of).or_default().insert(shard.index);
    }
    Ok(measured)
}

/// What there is to say about arrays of a unit's file that nothing reads.
fn unknown_keys(unit: String, keys: &[String]) -> Option<Fact> {
    (!keys.is_empty()).then(|| Fact { code: "unknown_keys".into(), unit, detail: keys.join(", ") })
}
