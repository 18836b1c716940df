//! Reports into the forms that were asked for.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use calipers::core::Warning;
use calipers::core::error::printable;
use calipers::core::metric::MetricInfo;
use calipers::core::resample::Bootstrap;
use calipers::report::page::{self, Page, Section};
use calipers::report::{csv, json, latex, markdown, per_unit, terminal};
use calipers::resample::Intervals;
use calipers::run::Threads;
use calipers::{Error, Ledger, Report, Result, pages, registry, states};

use crate::Outcome;
use crate::options::{Output, is_stream};

/// The forms a table of units or their parts can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Csv,
    JsonLines,
    Parquet,
}

/// The endings of tables that are written, and their forms.
const TABLES: [(&str, TableFormat); 3] =
    [(".csv", TableFormat::Csv), (".jsonl", TableFormat::JsonLines), (".parquet", TableFormat::Parquet)];

/// The form of a written table by the ending of its file name.
pub(crate) fn written_table(name: &str) -> Option<TableFormat> {
    TABLES.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| *format)
}

/// The form that the ending of a table's file name asks for; `flag` is the option that names it.
pub(crate) fn table_format(flag: &str, path: &Path) -> Result<TableFormat> {
    written_table(&path.to_string_lossy()).ok_or_else(|| {
        Error::usage(format!("the ending of {flag} says its form"))
            .found(path.display())
            .allowed(TABLES.map(|(ending, _)| ending).join(", "))
    })
}

/// States take over how to resample, as their measuring command would have; refuses to say how
/// intervals are made where none is.
pub(crate) fn resample_as_asked(ledgers: &mut [Box<dyn Ledger>], output: &Output, seed: u64) -> Result<()> {
    let asked = output.intervals(seed);
    if let Some(asked) = &asked {
        ledgers.iter_mut().for_each(|ledger| ledger.resample_as(&asked.bootstrap));
    }
    output.check_intervals(asked.is_some() || ledgers.iter().any(|ledger| ledger.bootstrap().is_some()))
}

/// Writes everything that can be made from accumulators.
pub(crate) fn ledgers(
    ledgers: &[Box<dyn Ledger>],
    output: &Output,
    seed: u64,
    threads: usize,
) -> Result<Outcome> {
    let reports = ledgers.iter().map(|ledger| report(&**ledger, output, seed, threads));
    let reports: Vec<Report> = reports.collect::<Result<_>>()?;
    spare_inputs(&reports, output.files())?;
    if let Some(path) = &output.state {
        write(path, &states::to_bytes(ledgers))?;
    }
    if let Some(path) = &output.per_unit {
        let [ledger] = ledgers else {
            return Err(Error::usage("--per-unit needs a state of one protocol").found(ledgers.len()));
        };
        let table = output.chosen.cut_table(ledger.name(), ledger.per_unit());
        let bytes = match table_format("--per-unit", path)? {
            TableFormat::Csv => per_unit::csv(&table).into_bytes(),
            TableFormat::JsonLines => per_unit::jsonl(&table).into_bytes(),
            TableFormat::Parquet => per_unit::parquet(&table)?,
        };
        write(path, &bytes)?;
    }
    if let Some(path) = &output.html {
        let section = |(ledger, report): (&dyn Ledger, &Report)| {
            if report.intervals.is_some() {
                return Ok(pages::of_ledger(ledger, report, &output.chosen));
            }
            let asked = output.page_intervals(seed);
            let report = pages::report(ledger, &output.chosen, &asked, threads)?;
            Ok(pages::of_ledger(ledger, &report, &output.chosen))
        };
        let ledgers = ledgers.iter().map(|ledger| &**ledger);
        page(path, ledgers.zip(&reports).map(section).collect::<Result<_>>()?)?;
    }
    forms(&reports, output)
}

/// The report of an accumulator: its intervals and metrics are those that the options ask for.
/// Intervals are made as asked for, else as its own parameters say.
pub(crate) fn report(ledger: &dyn Ledger, output: &Output, seed: u64, threads: usize) -> Result<Report> {
    let own = || {
        let bootstrap = ledger.bootstrap()?;
        let method = output.interval.unwrap_or(bootstrap.method);
        Some(Intervals {
            bootstrap: Bootstrap { method, ..bootstrap },
            cluster_by: output.cluster_by.clone(),
        })
    };
    match output.intervals(seed).or_else(own) {
        Some(asked) => pages::report(ledger, &output.chosen, &asked, threads),
        None => Ok(output.chosen.cut(ledger.report_on(&Threads(threads)))),
    }
}

/// Refuses to write over a file that was measured.
pub(crate) fn spare_inputs<'p>(
    reports: &[Report],
    files: impl Iterator<Item = (&'static str, &'p Path)>,
) -> Result<()> {
    for (flag, path) in files {
        let Ok(target) = path.canonicalize() else { continue };
        let named = |input: &str| Path::new(input).file_name() == path.file_name();
        let is_target = |input: &str| Path::new(input).canonicalize().is_ok_and(|input| input == target);
        let mut inputs = reports.iter().flat_map(|report| report.inputs.iter()).map(|(input, _)| input);
        if inputs.any(|input| named(input) && is_target(input)) {
            return Err(Error::usage(format!("{flag} would write over an input"))
                .in_file(path.display())
                .advice("give the output a name of its own"));
        }
    }
    Ok(())
}

/// Writes everything that can be made from reports alone, and from inputs that are still there.
pub(crate) fn reports(reports: &[Report], output: &Output, seed: u64) -> Result<Outcome> {
    if let Some(path) = &output.html {
        let asked = output.page_intervals(seed);
        let section = |report: &Report| pages::of_report(report, &asked, one_a_core());
        page(path, reports.iter().map(section).collect::<Result<_>>()?)?;
    }
    forms(reports, output)
}

/// Writes a page of these sections.
pub(crate) fn page(path: &Path, sections: Vec<Section>) -> Result<()> {
    write(path, page_text(sections).as_bytes())
}

/// The text of a page of these sections.
pub(crate) fn page_text(sections: Vec<Section>) -> String {
    let title = match sections.as_slice() {
        [section] => format!("Calipers report: {}", section.heading),
        _ => "Calipers report".into(),
    };
    let sections = page::side_by_side(&sections).into_iter().chain(sections).collect();
    page::write(&Page { title, sections })
}

/// One worker a core, for what is drawn after the work or read without any.
pub(crate) fn one_a_core() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Writes the text forms.
fn forms(reports: &[Report], output: &Output) -> Result<Outcome> {
    if let Some(path) = &output.json {
        write_with(path, |out| json::write_to(reports, out))?;
    }
    if let Some(path) = &output.csv {
        write(path, csv::write(reports).as_bytes())?;
    }
    let infos: Vec<Vec<MetricInfo>> =
        reports.iter().map(|report| registry::metrics_of(&report.protocol)).collect();
    if output.markdown {
        say(&markdown::write(reports, &infos))?;
    }
    if output.latex {
        say(&latex::write(reports, &infos))?;
    }
    if output.wants_table() {
        say(&terminal::write(reports, &infos, style()))?;
    } else if !output.quiet {
        warn(reports);
    }
    let warned = output.strict && reports.iter().any(|report| !report.warnings.is_empty());
    Ok(if warned { Outcome::Warned } else { Outcome::Done })
}

/// Colour and width of standard output.
pub(crate) fn style() -> terminal::Style {
    let coloured = io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    terminal::Style { colour: coloured, width }
}

/// Writes text to standard output. A reader that has gone away, as `head` does, is no error.
pub(crate) fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a note to standard error, where it cannot disturb results.
pub(crate) fn note(text: &str) {
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |out| out.write_all(bytes))
}

fn write_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    if !is_stream(path) {
        return calipers::output::write_with(path, write);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn warn(reports: &[Report]) {
    for warning in reports.iter().flat_map(|report| &report.warnings) {
        note(&format!("warning[{}]: {}", warning.code, with_units(warning)));
    }
}

/// What a warning says, and the first of its units.
pub(crate) fn with_units(warning: &Warning) -> String {
    let mut units = warning.units.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    if warning.units.len() > 5 {
        units.push_str(&format!(" and {} more", warning.units.len() - 5));
    }
    let tail = if units.is_empty() { String::new() } else { format!(" ({units})") };
    format!("{}{tail}", warning.message)
}
