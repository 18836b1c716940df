//! Explanations from files: inputs into units, units into rows.

mod array_files;
mod batch;
mod json;
mod json_array;
mod keys;
mod plan;
mod record;
mod stored;

use std::path::PathBuf;

use calipers_core::{Accumulator, Error, Result};
use calipers_metrics::explanation::evidence::Evidence;
use calipers_metrics::explanation::protocol::Explanation;

pub use self::plan::ENDINGS;
use self::plan::Plan;
use crate::inputs::Inputs;
use crate::run::{self, Work};

/// What a run is asked to measure.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files, folders, or `-` for JSON lines on standard input.
    pub inputs: Vec<PathBuf>,
    /// The parameters.
    pub protocol: Explanation,
}

/// Measures every unit of the inputs, or those of one shard.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Accumulator<Explanation>> {
    options.protocol.check()?;
    if options.inputs.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Error::usage("standard input can be read once").advice("give `-` once"));
    }
    let plan = Plan::new(&options.inputs, &inputs)?;
    let units = work.part(&plan.units);
    units.iter().for_each(|unit| plan.reserve(unit));
    let mut accumulator = run::measure_all(&options.protocol, units, work, |unit, accumulator| {
        let measured = plan.with_record(unit, &inputs, |record| {
            record.with_unit(unit.number, |evidence| accumulator.update(unit.name.as_str(), evidence))
        });
        measured.map_err(|error| error.in_file(&unit.shown))
    })?;
    work.record(std::slice::from_mut(&mut accumulator), inputs, None)?;
    Ok(accumulator)
}

/// Reads one unit and passes on its evidence.
pub fn with_unit<T>(
    options: &Options,
    inputs: &Inputs,
    name: &str,
    use_it: impl FnOnce(Evidence<'_>) -> Result<T>,
) -> Result<T> {
    let plan = Plan::new(&options.inputs, inputs)?;
    let unit = plan.units.iter().find(|unit| unit.name == name);
    let unit = unit.ok_or_else(|| Error::value("no unit of that name").found(name))?;
    plan.reserve(unit);
    plan.with_record(unit, inputs, |record| record.with_unit(unit.number, use_it))
        .map_err(|error| error.in_file(&unit.shown))
}
