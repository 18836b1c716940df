//! `calipers list`: every metric.

use std::path::PathBuf;

use calipers::report::catalogue;
use calipers::{Result, registry};
use clap::Args;

use crate::{Outcome, emit, files};

/// List every metric: what it measures and which direction is better
#[derive(Args, Debug)]
pub(crate) struct List {
    /// Print the list as a Markdown table, or write it: --markdown=FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    markdown: Option<PathBuf>,
    /// Print every definition in full as JSON, or write it: --json=FILE
    #[arg(
        long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-",
        conflicts_with = "markdown"
    )]
    json: Option<PathBuf>,
}

impl List {
    pub(crate) fn run(self) -> Result<Outcome> {
        let families: Vec<_> = registry::FAMILIES
            .iter()
            .map(|family| (family.name, family.summary, (family.metrics)()))
            .collect();
        match (&self.markdown, &self.json) {
            (Some(path), _) => files::put(path, catalogue::markdown_table(&families), false)?,
            (_, Some(path)) => files::put(path, catalogue::json(&families), false)?,
            (None, None) => emit::show(&catalogue::list(&families, emit::style()))?,
        }
        Ok(Outcome::Done)
    }
}
