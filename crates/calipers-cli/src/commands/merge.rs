//! `calipers merge`: states of shards into one.

use std::path::{Path, PathBuf};

use calipers::core::state::join::Joined;
use calipers::{Error, Result, states};
use clap::Args;

use crate::options::{Output, is_stream};
use crate::{Outcome, emit, files};

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

/// States of more bytes than this together are joined on the disk where nothing but the state is asked for:
/// the table costs all rows in memory, and without it less is gained by holding them.
const LARGE: u64 = 256 << 20;
const LARGE_WITHOUT_TABLE: u64 = 4 << 20;

impl Merge {
    pub(crate) fn run(self) -> Result<Outcome> {
        let mut output = self.output;
        if output.state.replace(self.out).is_some() {
            return Err(Error::usage("--state and -o say the same").advice("give -o FILE"));
        }
        output.check_files()?;
        let least = if output.quiet { LARGE_WITHOUT_TABLE } else { LARGE };
        // What is no file has no room beside it.
        let to_file = |path: &&PathBuf| !is_stream(path) && (path.is_file() || !path.exists());
        if let Some(path) = output.state.as_ref().filter(to_file)
            && !output.needs_rows()
            && states::large::size(&self.states)? > least
            && let Some(joined) = states::large::join(&self.states, path)?
        {
            return Self::said(path, &joined, &output);
        }
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
        emit::ledgers(&merged, Vec::new(), &output, (self.seed, emit::one_a_core()))
    }

    /// A line on what was joined on the disk: a table would need all rows in memory.
    fn said(path: &Path, joined: &[Joined], output: &Output) -> Result<Outcome> {
        files::wrote(path, output.quiet);
        let Some(first) = joined.first().filter(|_| !output.quiet) else { return Ok(Outcome::Done) };
        joined.iter().flat_map(|one| one.listings.warnings()).for_each(|warning| emit::warning(&warning));
        let left_out = joined.iter().map(|one| one.left_out).max().unwrap_or_default();
        let left_out = if left_out > 0 { format!(", {left_out} left out") } else { String::new() };
        let (shown, shards) = (path.display(), first.listings.shards());
        let shards = if shards.is_empty() { shards } else { format!(", {shards}") };
        emit::say(&format!(
            "{shown}: {} units{left_out}{shards}; `calipers show {shown}` prints its table\n",
            first.units
        ))?;
        Ok(Outcome::Done)
    }
}
