//! What a measuring command has before anything is written.

use calipers::{Ledger, Result};

use crate::options::Output;
use crate::{Outcome, emit};

/// Measured units, and the outputs that the options ask for.
pub struct Measured {
    /// One accumulator per report.
    pub ledgers: Vec<Box<dyn Ledger>>,
    pub(crate) output: Output,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

impl Measured {
    /// Writes what the options ask for.
    pub(crate) fn emit(&self) -> Result<Outcome> {
        emit::ledgers(&self.ledgers, &self.output, self.seed, self.threads)
    }

    /// The full ids of the metrics that were chosen; none where all are shown.
    pub fn chosen(&self) -> Vec<String> {
        self.output.chosen.ids()
    }
}
