//! What a measuring command has before anything is written.

use calipers::{Ledger, Result, states};

use crate::files::{Beside, Files};
use crate::options::Output;
use crate::{Outcome, emit};

/// Measured units, and the outputs that the options ask for.
pub struct Measured {
    /// One accumulator per report.
    pub ledgers: Vec<Box<dyn Ledger>>,
    /// What the family writes beside reports.
    pub(crate) beside: Vec<Beside>,
    pub(crate) output: Output,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

impl Measured {
    /// Writes what the options ask for.
    ///
    /// A shard that is kept for later is no report: its state is written, and a line says what it holds.
    pub(crate) fn emit(self) -> Result<Outcome> {
        let Self { ledgers, beside, output, seed, threads } = self;
        let (ledgers, output) = (&ledgers, &output);
        let whole = states::require_whole(ledgers);
        let alone = output.state.as_ref().filter(|_| !output.wants_report() && !output.partial);
        let done = match (&whole, alone) {
            (Err(_), Some(path)) => {
                emit::state(ledgers, output)?;
                if let (Some(ledger), true) = (ledgers.first(), output.wants_table()) {
                    let shards = ledger.provenance().listings.shards();
                    emit::say(&format!("{}: {} units, {shards}\n", path.display(), ledger.units()))?;
                }
                Outcome::Done
            }
            (Err(error), None) if !output.partial => return Err(error.clone()),
            _ => emit::ledgers(ledgers, beside, output, (seed, threads))?,
        };
        let left_out = ledgers.iter().any(|ledger| !ledger.provenance().left_out.is_empty());
        Ok(if left_out { Outcome::LeftOut } else { done })
    }

    /// Writes what the family writes beside reports; whoever calls makes those.
    pub(crate) fn write_beside(&mut self) -> Result<()> {
        let mut files = Files::new(true);
        let beside = std::mem::take(&mut self.beside);
        beside.into_iter().try_for_each(|one| files.put_with(one.place, &one.path, one.write))?;
        files.done()
    }

    /// The full ids of the metrics that were chosen; none where all are shown.
    pub fn chosen(&self) -> Vec<String> {
        self.output.chosen.ids()
    }
}
