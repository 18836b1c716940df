//! `calipers explain`: one metric's definition.

use calipers::report::catalogue;
use calipers::{Result, registry};
use clap::Args;

use crate::{Outcome, emit};

/// Explain a metric: what it measures, its formula, its range, when it is undefined
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  calipers explain independent_set.gap_ratio")]
pub(crate) struct Explain {
    /// The metric's id, with or without the family
    #[arg(value_name = "ID")]
    id: String,
}

impl Explain {
    pub(crate) fn run(self) -> Result<Outcome> {
        let info = registry::metric(&self.id)?;
        emit::show(&catalogue::explain(&info, emit::style())).map(|()| Outcome::Done)
    }
}
