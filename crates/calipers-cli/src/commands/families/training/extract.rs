//! `calipers training extract`: the per-run JSON of a study, from its run folders.

use std::path::PathBuf;

use calipers::core::Warning;
use calipers::run::{Progress, Silent};
use calipers::sources::training::assign::{Assignment, FoldBy, GroupBy};
use calipers::sources::training::extract::{Extracted, extract};
use calipers::sources::training::options::Options;
use calipers::sources::training::runs::filter::Where;
use calipers::{Error, Result, output};
use clap::Args;

use crate::{Outcome, emit, files};

/// Gather checkpoints, tokenizers and carbon of every fold into the JSON of a study
#[derive(Args, Debug)]
#[command(after_help = "\
Every path in the JSON is relative to RUNS. What is not found is a warning.

Examples:
  calipers training extract runs/ -o artefacts.json --group-by folder
  calipers training runs/ --runs artefacts.json --group-by runs --metric val_F1 --table out/results")]
pub(crate) struct ExtractArgs {
    /// Run folders, or folders of them
    #[arg(value_name = "RUNS", required = true)]
    inputs: Vec<PathBuf>,
    /// Where the JSON is written
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    output: PathBuf,
    /// Where configurations come from, as for `calipers training` [default: none]
    #[arg(long, value_name = "WHERE")]
    group_by: Vec<GroupBy>,
    /// Where folds come from, as for `calipers training` [default: auto]
    #[arg(long, value_name = "WHERE")]
    fold_by: Vec<FoldBy>,
    /// Gather only runs for which KEY=VALUE, KEY!=VALUE or KEY~REGEX holds
    #[arg(long = "where", value_name = "TEST")]
    filters: Vec<Where>,
    /// What the study is called [default: as W&B or MLflow filed it, else the last part of RUNS]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Leave out runs that logged nothing, such as parents of runs
    #[arg(long)]
    skip_missing: bool,
    /// Print no warnings
    #[arg(long, short)]
    quiet: bool,
    /// End with exit status 3 when there is any warning
    #[arg(long)]
    strict: bool,
}

impl ExtractArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        output::check(&self.output)?;
        let extracted = self.extracted(&Silent)?;
        files::put(&self.output, extracted.to_text(), self.quiet)?;
        if !self.quiet {
            doubts(&extracted);
        }
        Ok(if self.strict && !extracted.doubts.is_empty() { Outcome::Warned } else { Outcome::Done })
    }

    /// What is extracted; nothing is written or printed.
    pub(crate) fn extracted(&self, progress: &dyn Progress) -> Result<Extracted> {
        let alone = |option: &str, error: String| Error::usage(error).at(option);
        let options = Options {
            assignment: Assignment {
                group_by: GroupBy::joined(&self.group_by).map_err(|error| alone("--group-by", error))?,
                fold_by: FoldBy::joined(&self.fold_by).map_err(|error| alone("--fold-by", error))?,
                runs: None,
            },
            filters: self.filters.clone(),
            skip_missing: self.skip_missing,
            ..Options::over(self.inputs.clone(), Vec::new())
        };
        extract(&options, self.project.as_deref(), progress)
    }
}

/// Says what was not found.
pub(crate) fn doubts(extracted: &Extracted) {
    for Warning { code, message, units } in &extracted.doubts {
        let named: Vec<&str> = units.iter().take(5).map(String::as_str).collect();
        let more = match units.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        emit::note(&format!("warning[{code}]: {message}: {}{more}", named.join(", ")));
    }
}
