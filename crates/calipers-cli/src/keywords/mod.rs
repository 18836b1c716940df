//! The options of the command line as keyword arguments: for programs, such as the Python package, that
//! call a command instead of starting one.
//!
//! ```text
//! given      a value as the program has it
//! arguments  keyword arguments -> the arguments of a command line, read by the same parser
//! histories  what `calipers training` does beside measuring
//! others     commands that do not measure: fit, verify, demo, serve
//! rung       commands of the RUNG network, also with what a program has in memory
//! refused    what the parser refuses, in the words of a keyword argument
//! wording    messages that name options, in the same words
//! ```
//!
//! A keyword is the long name of an option with `_` for `-`. Nothing is written or printed.

mod arguments;
mod given;
pub mod histories;
mod others;
mod refused;
pub mod rung;
mod wording;

use std::collections::BTreeSet;

use calipers::chosen::Chosen;
use calipers::metrics::segmentation::labels::Originals;
use calipers::run::Progress;
use calipers::sources::training::assign::{Called, FoldBy, GroupBy};
use calipers::{Error, Ledger, Report, Result, pages};
use clap::{CommandFactory, FromArgMatches, Parser};

pub use self::given::Given;
pub use self::others::{Fit, demo, fit, serve, verify};
pub use self::refused::Refused;
pub use self::wording::{in_keywords, text_in_keywords};

use crate::commands::Command;
use crate::commands::families::Family;
use crate::options::Output;
use crate::progress::Bar;
use crate::{Cli, Measured, emit};

/// Keyword arguments by name, in the order in which they were given.
pub type Options = Vec<(String, Given)>;

/// Measures what the command of a family would measure with these inputs and options.
pub fn evaluate(
    family: &str,
    inputs: &[String],
    mut options: Options,
    progress: &dyn Progress,
) -> std::result::Result<Measured, Refused> {
    let named = if family == "segmentation" { take_classes(&mut options)? } else { None };
    let calls = take_calls(&mut options);
    let units = take_units(&mut options)?;
    let command = family.replace('_', "-");
    let Command::Family(mut family) = read(&[&command], inputs, &options, &[])? else {
        return Err(Refused::Failed(Error::usage("no such family").found(family)));
    };
    family.work().named = units;
    if let Family::Segmentation(args) = &mut family {
        args.labels.named = named;
    }
    sorted_by(&mut family, calls)?;
    let measured = family.measure(progress).and_then(|mut measured| {
        measured.write_beside()?;
        Ok(measured)
    });
    Ok(measured.map_err(|error| refused::naming(error, inputs, &options))?)
}

/// The command at the end of a path of names, with these inputs and options; `settled` are arguments that the
/// caller of the keywords does not have.
fn read(
    path: &[&str],
    inputs: &[String],
    options: &Options,
    settled: &[(&str, &str)],
) -> std::result::Result<Command, Refused> {
    let matches = arguments::parsed(Cli::command(), path, inputs, options, settled)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| refused::by_parser(&error))?;
    Ok(cli.command)
}

/// Functions in the place of words.
fn take_calls(options: &mut Options) -> Vec<(String, Called)> {
    let call = |(name, given): &(String, Given)| match given {
        Given::Call(called) => Some((name.clone(), called.clone())),
        _ => None,
    };
    let calls = options.iter().filter_map(call).collect();
    options.retain(|(_, given)| !matches!(given, Given::Call(_)));
    calls
}

/// Sorts runs by functions; nothing else takes one.
fn sorted_by(family: &mut Family, calls: Vec<(String, Called)>) -> std::result::Result<(), Refused> {
    for (name, called) in calls {
        match (name.as_str(), &mut *family) {
            ("group_by", Family::Training(args)) => args.runs.group_by = vec![GroupBy::Called(called)],
            ("fold_by", Family::Training(args)) => args.runs.fold_by = vec![FoldBy::Called(called)],
            _ => {
                let error = Error::usage(format!("{name} is of a type that cannot be meant"));
                return Err(Refused::WrongType(error.found("a function").allowed("a value")));
            }
        }
    }
    Ok(())
}

/// Units that are given as a list of names; the command line has a file for them.
fn take_units(options: &mut Options) -> std::result::Result<Option<BTreeSet<String>>, Refused> {
    let is_listed = |(name, given): &(String, Given)| name == "units" && given.is_structured();
    let Some(at) = options.iter().position(is_listed) else { return Ok(None) };
    let (_, given) = options.remove(at);
    let Given::List(names) = &given else {
        let error = Error::usage("units is of a type that cannot be meant").found(given);
        return Err(Refused::WrongType(error.allowed("names, or a file of them")));
    };
    let text = |name: &Given| match name {
        Given::Text(name) => Ok(name.clone()),
        other => {
            let error = Error::usage("a name in units is of a type that cannot be meant").found(other);
            Err(Refused::WrongType(error.allowed("text")))
        }
    };
    let names: BTreeSet<String> = names.iter().map(text).collect::<std::result::Result<_, _>>()?;
    if names.is_empty() {
        return Err(Refused::Failed(
            Error::value("no unit is named").at("units").allowed("at least one name"),
        ));
    }
    Ok(Some(names))
}

/// Classes that are given as a list of names or as names by id; the command line has a file for them.
fn take_classes(options: &mut Options) -> Result<Option<Originals>> {
    let is_named = |(name, given): &(String, Given)| name == "classes" && given.is_structured();
    let Some(at) = options.iter().position(is_named) else { return Ok(None) };
    let (_, given) = options.remove(at);
    let refused = || {
        Error::usage("no classes").at("classes").found(&given).allowed(
            "a number of classes, a list of names, a mapping of ids to names, a file of names, or cityscapes",
        )
    };
    let json = serde_json::to_string(&given.json()).map_err(|_| refused())?;
    let named: Originals = serde_json::from_str(&json).map_err(|_| refused())?;
    if named.0.is_empty() { Err(refused()) } else { Ok(Some(named)) }
}

/// What a report may be asked for after the units are measured.
#[derive(Parser)]
#[command(name = "report")]
struct Reporting {
    #[command(flatten)]
    output: Output,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The full ids of the metrics that are shown
    #[arg(long)]
    metrics: Vec<String>,
}

/// The report of an accumulator, with the intervals and metrics that the options ask for.
pub fn report(
    ledger: &dyn Ledger,
    options: &Options,
    threads: usize,
) -> std::result::Result<Report, Refused> {
    let is_partial = options.iter().any(|(name, given)| name == "partial" && *given == Given::Switch(true));
    if !is_partial {
        ledger.provenance().listings.require_whole()?;
    }
    if options.is_empty() && ledger.bootstrap().is_none() {
        return Ok(ledger.report());
    }
    let matches = arguments::parsed(Reporting::command(), &[], &[], options, &[])?;
    let mut asked = Reporting::from_arg_matches(&matches).map_err(|error| refused::by_parser(&error))?;
    asked.output.check()?;
    if !asked.metrics.is_empty() {
        asked.output.chosen = Chosen::only(asked.metrics);
    }
    emit::report(ledger, &asked.output, asked.seed, threads).map_err(Refused::from)
}

/// The report as the section of a page, which is the whole page, with the selected metrics in their order.
pub fn page(
    ledger: Option<&dyn Ledger>,
    report: &Report,
    options: &Options,
    select: &[String],
    threads: usize,
) -> std::result::Result<String, Refused> {
    let matches = arguments::parsed(Reporting::command(), &[], &[], options, &[])?;
    let asked = Reporting::from_arg_matches(&matches).map_err(|error| refused::by_parser(&error))?;
    let intervals = asked.output.page_intervals(asked.seed);
    let chosen = match asked.metrics.is_empty() {
        true => Chosen::default(),
        false => Chosen::only(asked.metrics),
    };
    let report = match ledger {
        Some(ledger) if report.intervals.is_none() => pages::report(ledger, &chosen, &intervals, threads)?,
        _ => chosen.cut(report.clone()),
    };
    let sections = calipers::chosen::selected(vec![report], select)?.into_iter().map(|report| match ledger {
        Some(ledger) => Ok(pages::of_ledger(ledger, &report, &chosen)),
        None => pages::of_report(&report, &intervals, threads),
    });
    Ok(emit::page_text(sections.collect::<Result<_>>()?))
}

/// The keywords of a report that `evaluate` takes too, and that a later report uses.
pub fn report_keywords() -> Vec<String> {
    arguments::keywords(&Reporting::command())
}

/// A bar on a terminal, as the command line draws it.
pub fn bar() -> impl Progress {
    Bar::new(&Output::default())
}
