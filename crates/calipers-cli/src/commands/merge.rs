//! `calipers merge`: states of shards into one.

use std::path::PathBuf;

use calipers::{Error, Result, states};
use clap::Args;

use crate::options::Output;
use crate::{Outcome, emit};

/// Merge states into one, in any order; a shard may come twice
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers merge 1.state 2.state -o all.state
  calipers merge shards/*.state -o all.state --json report.json

Units with equal rows coincide; a unit with two different rows is an error that names both states.")]
pub(crate) struct Merge {
    /// State files
    #[arg(required = true, value_name = "STATE")]
    states: Vec<PathBuf>,
    /// Where to write the merged state
    #[arg(short, long = "out", value_name = "FILE")]
    out: PathBuf,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

impl Merge {
    pub(crate) fn run(self) -> Result<Outcome> {
        let mut output = self.output;
        if output.state.replace(self.out).is_some() {
            return Err(Error::usage("--state and -o say the same").advice("give -o FILE"));
        }
        output.check_files()?;
        let merged = states::merge_all(self.states.iter().map(|path| states::read(path)))?;
        let mut merged = merged.ok_or_else(|| Error::usage("no states to merge"))?;
        emit::resample_as_asked(&mut merged, &output, self.seed)?;
        if let (Err(error), false) = (states::require_whole(&merged), output.partial) {
            if output.wants_report() {
                return Err(error);
            }
            // Joining only some shards is allowed, but worth a warning.
            emit::state(&merged, &output)?;
            if !output.quiet {
                states::unfinished(&merged).iter().for_each(|sentence| emit::note(sentence));
            }
            return Ok(Outcome::Done);
        }
        emit::ledgers(&merged, &output, self.seed, emit::one_a_core())
    }
}
