//! `calipers show`: a report again, in any form.

use std::io::Read;
use std::path::PathBuf;

use calipers::core::error::printable;
use calipers::io::file::InputFile;
use calipers::{Error, Ledger, Result, states};
use clap::Args;

use crate::options::{Output, is_stream};
use crate::{Outcome, emit};

/// Print a report again from a state or a report.json, in any output form
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers show all.state
  calipers show all.state --per-unit graphs.parquet
  calipers show runs.state --explain
  calipers show all.state --html report.html
  calipers show report.json --latex=table.tex --select miou,pixel_accuracy,iou
  calipers show report.json --all")]
pub(crate) struct Show {
    /// A state or a report.json ("-" reads standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Say of each unit in words what happened in it, in place of the table
    #[arg(long)]
    explain: bool,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

impl Show {
    pub(crate) fn run(mut self) -> Result<Outcome> {
        self.output.check_files()?;
        let shown = self.file.display().to_string();
        let bytes = if is_stream(&self.file) {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| Error::io(format!("cannot read standard input: {error}")))?;
            bytes
        } else {
            InputFile::open(&self.file)?.read_all().map_err(|error| error.in_file(&shown))?
        };
        if states::is_state(&bytes) {
            let mut ledgers = states::from_bytes(&bytes, &shown)?;
            // What is shown may need the memory.
            drop(bytes);
            if !self.output.partial {
                states::require_whole(&ledgers).map_err(|error| error.in_file(&shown))?;
            }
            emit::resample_as_asked(&mut ledgers, &self.output, self.seed)?;
            if self.explain {
                emit::show(&explained(&ledgers).map_err(|error| error.in_file(&shown))?)?;
                self.output.quiet = true;
            }
            return emit::ledgers(&ledgers, Vec::new(), &self.output, (self.seed, emit::one_a_core()));
        }
        let needs_state = [
            ("--explain", self.explain),
            ("--per-unit", self.output.per_unit.is_some()),
            ("--state", self.output.state.is_some()),
            ("--bootstrap", self.output.bootstrap > 0),
        ];
        if let Some((flag, _)) = needs_state.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{flag} needs a state"))
                .in_file(shown)
                .advice("a report holds no rows"));
        }
        let reports = calipers::reports::read(&bytes, &shown)?;
        emit::reports(reports, &self.output, self.seed)
    }
}

/// What the protocols have to say about each unit.
fn explained(ledgers: &[Box<dyn Ledger>]) -> Result<String> {
    let mut text = String::new();
    for ledger in ledgers {
        let units = ledger.explain_units();
        if units.is_empty() && ledger.units() > 0 {
            return Err(Error::usage("units of this family are not explained in words").found(ledger.name()));
        }
        let protocol = ledger.report().protocol;
        let label = protocol.get("label").and_then(|label| label.as_str()).unwrap_or_default();
        text.push_str(&format!("{} {}\n", ledger.name(), printable(label)));
        for (unit, words) in units {
            text.push_str(&format!("  {}: {}\n", printable(&unit), printable(&words)));
        }
    }
    Ok(text)
}
