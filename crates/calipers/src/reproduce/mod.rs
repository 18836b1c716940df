//! The figures of the bias document from one command, beside the numbers they show.
//!
//! ```text
//! tables   what figure6.csv holds
//! figures  figure6 and figure7 as .csv, .svg and .png, index.html
//! ```

mod figures;
mod tables;

use calipers_core::Result;
use calipers_report::json;

pub use calipers_rung::reproduce::{
    Budgets, Options, Paths, Reproduction, Stage, Unseen, Verdicts, settings, synthetic,
};
use calipers_sources::output;

/// Trains, attacks, measures, draws and writes everything below `options.out`.
///
/// # Errors
/// Wrong options, inputs that cannot be read, a folder that holds other results, a model that fails.
pub fn run(options: &Options, threads: usize, stage: &dyn Stage) -> Result<Reproduction> {
    let found = calipers_rung::reproduce::run(options, threads, stage)?;
    output::write_with(&options.out.join("report.json"), |out| json::write_to(&found.reports, out))?;
    figures::write(options, &found)?;
    Ok(found)
}
