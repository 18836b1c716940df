//! Reports into the forms that were asked for.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use calipers::core::Warning;
use calipers::core::error::printable;
use calipers::core::metric::MetricInfo;
use calipers::core::resample::Bootstrap;
use calipers::output::Identity;
use calipers::report::page::{self, Page, Section};
use calipers::report::{csv, json, latex, markdown, per_unit, terminal};
use calipers::resample::Intervals;
use calipers::run::Threads;
use calipers::{Error, Ledger, Report, Result, chosen, pages, registry, states};

use crate::Outcome;
use crate::files::{Beside, Files, Place};
use crate::options::Output;
use crate::overlap::over_input;

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

/// The ending of the name of a written file, without its dot.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default()
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

/// Writes everything that can be made from accumulators, and what a family writes beside that.
pub(crate) fn ledgers(
    ledgers: &[Box<dyn Ledger>],
    beside: Vec<Beside>,
    output: &Output,
    (seed, threads): (u64, usize),
) -> Result<Outcome> {
    let reports = ledgers.iter().map(|ledger| report(&**ledger, output, seed, threads));
    let reports: Vec<Report> = reports.collect::<Result<_>>()?;
    let selected = chosen::selected(reports.clone(), &output.select)?;
    let mut files = Files::new(output.quiet);
    put_state(ledgers, output, &mut files)?;
    beside.into_iter().try_for_each(|one| files.put_with(one.place, &one.path, one.write))?;
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
        files.put(Place::PerUnit, path, bytes)?;
    }
    if let Some(path) = &output.html {
        let section = |(ledger, report): (&dyn Ledger, &Report)| {
            let report = if report.intervals.is_some() {
                report.clone()
            } else {
                pages::report(ledger, &output.chosen, &output.page_intervals(seed), threads)?
            };
            let selected = chosen::selected(vec![report], &output.select)?;
            Ok(selected.first().map(|report| pages::of_ledger(ledger, report, &output.chosen)))
        };
        let ledgers = ledgers.iter().map(|ledger| &**ledger);
        let sections: Result<Vec<Option<Section>>> = ledgers.zip(&reports).map(section).collect();
        files.put(Place::Page, path, page_text(sections?.into_iter().flatten().collect()))?;
    }
    forms(&selected, output, files)
}

/// Writes the state alone.
pub(crate) fn state(ledgers: &[Box<dyn Ledger>], output: &Output) -> Result<()> {
    let mut files = Files::new(output.quiet);
    put_state(ledgers, output, &mut files)?;
    files.done()
}

/// Writes the state, where one is asked for; no output may be a file that was measured.
fn put_state<'w>(ledgers: &'w [Box<dyn Ledger>], output: &Output, files: &mut Files<'w>) -> Result<()> {
    let inputs = ledgers.iter().flat_map(|ledger| ledger.provenance().inputs.iter());
    spare_inputs(inputs.map(|(input, _)| input), output.files())?;
    let path = output.state.as_ref();
    path.map_or(Ok(()), |path| files.put_with(Place::State, path, |out| states::write_to(ledgers, out)))
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

/// Refuses to write over a file that was measured: one that no option names, but a folder or a configuration.
pub(crate) fn spare_inputs<'i, 'p>(
    inputs: impl Iterator<Item = &'i str>,
    files: impl Iterator<Item = (&'static str, &'p Path)>,
) -> Result<()> {
    // What does not exist yet was not measured.
    let there = files.filter(|(_, path)| path.is_file());
    let targets: BTreeMap<Identity, &str> =
        there.filter_map(|(flag, path)| Some((Identity::of(path)?, flag))).collect();
    if targets.is_empty() {
        return Ok(());
    }
    for input in inputs.map(Path::new) {
        if let Some(flag) = Identity::of(input).and_then(|input| targets.get(&input)) {
            return Err(over_input(flag, input));
        }
    }
    Ok(())
}

/// Writes everything that can be made from reports alone, and from inputs that are still there.
pub(crate) fn reports(reports: Vec<Report>, output: &Output, seed: u64) -> Result<Outcome> {
    let reports = chosen::selected(reports, &output.select)?;
    let mut files = Files::new(output.quiet);
    if let Some(path) = &output.html {
        let asked = output.page_intervals(seed);
        let section = |report: &Report| pages::of_report(report, &asked, one_a_core());
        let sections = reports.iter().map(section).collect::<Result<_>>()?;
        files.put(Place::Page, path, page_text(sections))?;
    }
    forms(&reports, output, files)
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

/// Writes the text forms, and lets all files appear.
fn forms<'r>(reports: &'r [Report], output: &Output, mut files: Files<'r>) -> Result<Outcome> {
    if let Some(path) = &output.json {
        files.put_with(Place::Json, path, |out| json::write_to(reports, out))?;
    }
    if let Some(path) = &output.csv {
        files.put(Place::Csv, path, csv::write(reports))?;
    }
    let infos: Vec<Vec<MetricInfo>> =
        reports.iter().map(|report| registry::metrics_of(&report.protocol)).collect();
    let shown = output.shown();
    if let Some(path) = &output.markdown {
        files.put(Place::Markdown, path, markdown::write(reports, &infos, shown))?;
    }
    if let Some(path) = &output.latex {
        files.put(Place::Latex, path, latex::write(reports, &infos, shown))?;
    }
    files.done()?;
    if output.wants_table() {
        show(&terminal::write(reports, &infos, style(), shown))?;
    } else if !output.quiet {
        warn(reports);
    }
    if !output.quiet {
        reports.iter().filter(|report| !report.left_out.is_empty()).for_each(left_out);
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

/// Writes text with our own symbols to standard output; where the language settings are those of a plain
/// terminal, with letters and signs that it has.
pub(crate) fn show(text: &str) -> Result<()> {
    if is_plain() { say(&plain(text)) } else { say(text) }
}

/// Whether the language settings ask for ASCII. Nothing said means UTF-8, as almost everywhere.
fn is_plain() -> bool {
    let said = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(said);
    locale.is_some_and(|locale| matches!(locale.as_str(), "C" | "POSIX"))
}

/// Our own symbols as ASCII of the same width. Names keep their letters.
fn plain(text: &str) -> String {
    let letter = |c| match c {
        '↑' => '^',
        '↓' => 'v',
        '→' => '>',
        '–' | '—' => '-',
        '…' => '~',
        '·' => '.',
        '▁' | '▂' => '_',
        '▃' | '▄' => '-',
        '▅' | '▆' => '=',
        '▇' | '█' => '#',
        other => other,
    };
    text.replace("± ", "+-").chars().map(letter).collect()
}

/// Writes a note to standard error, where it cannot disturb results.
pub(crate) fn note(text: &str) {
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

fn warn(reports: &[Report]) {
    reports.iter().flat_map(|report| &report.warnings).for_each(warning);
}

/// Writes a warning to standard error.
pub(crate) fn warning(warning: &Warning) {
    note(&format!("warning[{}]: {}", warning.code, with_units(warning)));
}

/// How many units left out a note names.
const NAMED: usize = 5;

/// How many units are in no number, and why the first are not.
fn left_out(report: &Report) {
    let all = report.units + report.left_out.len() as u64;
    note(&format!("left out: {} of {all} units", report.left_out.len()));
    for (unit, reason) in report.left_out.iter().take(NAMED) {
        note(&format!("  {unit}: {reason}"));
    }
    if report.left_out.len() > NAMED {
        note(&format!("  and {} more, in left_out of the report", report.left_out.len() - NAMED));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_terminal_gets_signs_of_the_same_width() {
        let text = "miou ↑  0.5 ± 0.1  – … ▁▄█ größe";
        let shown = plain(text);
        assert_eq!(shown, "miou ^  0.5 +-0.1  - ~ _-# größe");
        assert_eq!(shown.chars().count(), text.chars().count());
    }
}
