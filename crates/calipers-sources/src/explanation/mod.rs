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
use calipers_metrics::explanation::Evidence;
use calipers_metrics::explanation::Explanation;

use self::plan::{Plan, UnitPlan};
use crate::inputs::Inputs;
use crate::run::{self, Named, Work};

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
    options.protocol.clone().checked()?;
    if options.inputs.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Error::usage("standard input can be read once").advice("give `-` once"));
    }
    let inputs = inputs.keep_going(work.keep_going);
    let plan = Plan::new(&options.inputs, &inputs, work.threads)?;
    let chosen = work.choose(&plan.units, &inputs, &[])?;
    let (protocol, reserve) = (&options.protocol, |unit: &UnitPlan| plan.reserve(unit));
    let measured =
        run::measure_all(protocol, &chosen, work, (&inputs, None), reserve, |unit, inputs, accumulator| {
            let measured = plan.with_record(unit, inputs, |record| {
                record.with_unit(unit.number, |evidence| accumulator.update(unit.name.as_str(), evidence))
            });
            measured.map_err(|error| error.in_file(&unit.shown))
        });
    chosen.recorded(measured?, inputs, None)
}

impl Named for UnitPlan {
    fn name(&self) -> &str {
        &self.name
    }
}

/// Units that are read one by one: they are looked for once.
pub struct Units {
    inputs: Inputs,
    plan: Plan,
}

impl Units {
    /// Finds what the options name.
    pub fn find(options: &Options, inputs: Inputs) -> Result<Self> {
        Ok(Self { plan: Plan::new(&options.inputs, &inputs, 1)?, inputs })
    }

    /// Reads one unit and passes on its evidence.
    pub fn with<T>(&self, name: &str, use_it: impl FnOnce(Evidence<'_>) -> Result<T>) -> Result<T> {
        let unit = self.plan.units.iter().find(|unit| unit.name == name);
        let unit = unit.ok_or_else(|| Error::value("no unit of that name").found(name))?;
        self.plan.reserve(unit);
        self.plan
            .with_record(unit, &self.inputs, |record| record.with_unit(unit.number, use_it))
            .map_err(|error| error.in_file(&unit.shown))
    }
}
