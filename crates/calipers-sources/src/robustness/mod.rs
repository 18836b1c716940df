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
use self::plan::{Plan, UnitPlan};
use crate::inputs::Inputs;
use crate::run::{Named, Work};

/// Measures every pair of the inputs, or those of one shard. `inputs` holds the files that were
/// read for the options themselves.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Measured> {
    options.check()?;
    let inputs = inputs.keep_going(work.keep_going);
    let plan = Plan::new(options, &inputs, work.threads)?;
    let chosen = work.choose(&plan.units, &inputs, &[])?;
    let reading = options.reading();
    let protocol = Robustness { model: plan.model.clone(), ..options.protocol.clone() };
    let (how, reserve) = ((&inputs, Some(&reading)), |unit: &UnitPlan| plan.reserve(unit));
    let measured = measure_pairs(&protocol, &chosen, options.per_node, work, how, reserve, |unit, inputs| {
        plan.pair(unit, inputs).map_err(|error| error.in_file(&unit.shown)).map(|pair| (pair, Vec::new()))
    });
    let Measured { mut accumulator, nodes } = measured?;
    let units = chosen.units.iter();
    let facts = units.filter_map(|unit| unknown_keys(unit.name.clone(), plan.unknown_keys(unit)));
    accumulator.provenance.facts.extend(facts);
    Ok(Measured { accumulator: chosen.recorded(accumulator, inputs, Some(reading))?, nodes })
}

impl Named for UnitPlan {
    fn name(&self) -> &str {
        &self.name
    }
}

/// What there is to say about arrays of a unit's file that nothing reads.
fn unknown_keys(unit: String, keys: &[String]) -> Option<Fact> {
    (!keys.is_empty()).then(|| Fact { code: "unknown_keys".into(), unit, detail: keys.join(", ") })
}
