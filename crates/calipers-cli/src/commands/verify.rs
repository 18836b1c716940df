//! `calipers verify`: a report measured again from the inputs it names.

use std::io::Read;
use std::path::{Path, PathBuf};

use calipers::core::error::printable;
use calipers::io::file::InputFile;
use calipers::replay::verdict::{differences, replays};
use calipers::report::json;
use calipers::{Error, ErrorKind, Report, Result, reports, states};
use clap::Args;

use crate::options::{Work, is_stream};
use crate::{Outcome, emit};

/// The most differences of a report that are printed.
const SHOWN: usize = 40;

/// Measure a report again from the inputs it names, and compare
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers verify report.json
  calipers verify calipers-demo/report.json
  calipers verify paper/report.json --root /data/release

Length and BLAKE3 of every input are checked first. Exit status 0: the report is identical; 3: it
is not, or an input has changed; 1: an input cannot be read.")]
pub(crate) struct Verify {
    /// A report.json, or a state ("-" reads standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder that the paths in the report are relative to [default: the current one]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print nothing
    #[arg(long, short)]
    quiet: bool,
}

impl Verify {
    pub(crate) fn run(self) -> Result<Outcome> {
        let Checked { differences, units, inputs } = self.checked()?;
        if !self.quiet {
            let mut said = String::new();
            for (what, lines) in &differences {
                list(&mut said, what, lines.iter());
            }
            if differences.is_empty() {
                let shown = self.file.display().to_string();
                said = format!("{}: identical ({units} units from {inputs} inputs)\n", printable(&shown));
            }
            emit::say(&said)?;
        }
        Ok(if differences.is_empty() { Outcome::Done } else { Outcome::Differs })
    }

    /// Measures again, and says what differs.
    pub(crate) fn checked(&self) -> Result<Checked> {
        let shown = self.file.display().to_string();
        let bytes = read(&self.file)?;
        let (reports, text) = recorded(&bytes, &shown)?;
        let threads = Work { threads: self.threads, ..Work::default() }.threads();
        let back = self.root.as_deref().map(Elsewhere::enter).transpose()?;
        let mut differing: Vec<(String, Vec<String>)> = Vec::new();
        let mut now = Vec::new();
        for (part, replay) in replays(&reports) {
            let recorded = &reports[part.clone()];
            let replay = replay.map_err(|error| error.at(place(part.start, &reports)).in_file(&shown))?;
            let changed = replay.changed();
            if changed.is_empty() {
                now.extend(replay.reports(recorded, threads)?);
                continue;
            }
            unreadable(&changed)?;
            let what = format!("{}: inputs that are not what they were", place(part.start, &reports));
            differing.push((what, changed.iter().map(|line| printable(line)).collect()));
        }
        drop(back);
        if differing.is_empty() {
            for (number, (recorded, now)) in reports.iter().zip(&now).enumerate() {
                let lines = differences(recorded, now).into_iter().map(|one| {
                    let [place, was, is] = [&one.place, &one.recorded, &one.now].map(|text| printable(text));
                    format!("{place}: {was} in the report, {is} now")
                });
                differing.push((place(number, &reports), lines.collect()));
            }
            differing.retain(|(_, lines)| !lines.is_empty());
            if differing.is_empty() && !same_bytes(&bytes, text, &now) {
                let what = "same values, written differently: the text is not as calipers writes it";
                differing.push((what.to_owned(), Vec::new()));
            }
        }
        let units = reports.iter().map(|report| report.units).fold(0, u64::saturating_add);
        let inputs = reports.iter().map(|report| report.inputs.len()).sum();
        Ok(Checked { differences: differing, units, inputs })
    }
}

/// What came of measuring again.
pub(crate) struct Checked {
    /// What differs, and in which places; nothing where every byte is the same.
    pub(crate) differences: Vec<(String, Vec<String>)>,
    units: u64,
    inputs: usize,
}

fn read(path: &Path) -> Result<Vec<u8>> {
    if !is_stream(path) {
        return InputFile::open(path)?.read_all().map_err(|error| error.in_file(path.display()));
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Error::io(format!("cannot read standard input: {error}")))?;
    Ok(bytes)
}

/// The reports of a file, and whether it is their text or a state.
fn recorded(bytes: &[u8], shown: &str) -> Result<(Vec<Report>, bool)> {
    if states::is_state(bytes) {
        let ledgers = states::from_bytes(bytes, shown)?;
        return Ok((ledgers.iter().map(|ledger| ledger.report()).collect(), false));
    }
    Ok((reports::read(bytes, shown)?, true))
}

fn same_bytes(bytes: &[u8], text: bool, now: &[Report]) -> bool {
    !text || json::write(now).as_bytes() == bytes || json::write_array(now).as_bytes() == bytes
}

/// Files that are gone leave nothing to compare with.
fn unreadable(changed: &[String]) -> Result<()> {
    let gone: Vec<&String> = changed.iter().filter(|line| line.contains(" cannot be read: ")).collect();
    let Some(first) = gone.first() else { return Ok(()) };
    let more = if gone.len() > 1 { format!(" (and {} more)", gone.len() - 1) } else { String::new() };
    Err(Error::new(ErrorKind::Io, "an input of the report cannot be read again")
        .found(format!("{first}{more}"))
        .advice("paths are relative to the current folder; --root DIR names another"))
}

/// Which report a difference is in, where there are several.
fn place(number: usize, reports: &[Report]) -> String {
    let family = reports[number].protocol.get("name").and_then(|name| name.as_str()).unwrap_or("report");
    match reports.len() {
        1 => printable(family),
        count => format!("report {} of {count}, {}", number + 1, printable(family)),
    }
}

fn list<'l>(said: &mut String, what: &str, lines: impl ExactSizeIterator<Item = &'l String>) {
    let count = lines.len();
    if count == 0 {
        said.push_str(&format!("{what}\n"));
        return;
    }
    said.push_str(&format!("{what}: {count} difference{}\n", if count == 1 { "" } else { "s" }));
    lines.take(SHOWN).for_each(|line| said.push_str(&format!("  {line}\n")));
    if count > SHOWN {
        said.push_str(&format!("  and {} more\n", count - SHOWN));
    }
}

/// Another current folder, as long as this lives: relative paths mean there what they meant when
/// the report was made.
pub(crate) struct Elsewhere(PathBuf);

impl Elsewhere {
    pub(crate) fn enter(folder: &Path) -> Result<Self> {
        let here = std::env::current_dir();
        let here = here.map_err(|error| Error::io(format!("there is no current folder: {error}")))?;
        std::env::set_current_dir(folder).map_err(|error| {
            Error::io(format!("cannot go to the folder: {}", error.kind())).in_file(folder.display())
        })?;
        Ok(Self(here))
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // A folder that was removed meanwhile cannot be returned to.
        let _ = std::env::set_current_dir(&self.0);
    }
}
