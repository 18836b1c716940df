//! `calipers list`: every metric.

use calipers::report::catalogue;
use calipers::{Result, registry};
use clap::Args;

use crate::{Outcome, emit};

/// List every metric: what it measures and which direction is better
#[derive(Args, Debug)]
pub(crate) struct List {
    /// Print the list as a Markdown table
    #[arg(long)]
    markdown: bool,
}

impl List {
    pub(crate) fn run(self) -> Result<Outcome> {
        let families: Vec<_> = registry::FAMILIES
            .iter()
            .map(|family| (family.name, family.summary, (family.metrics)()))
            .collect();
        let text = if self.markdown {
            catalogue::markdown_table(&families)
        } else {
            catalogue::list(&families, emit::style())
        };
        emit::say(&text).map(|()| Outcome::Done)
    }
}
