//! How often do intervals hold what they claim? Samples of rows whose numbers are known, drawn again and
//! again: `cargo xtask coverage [--quick] [--data DIR] [--threads N] [--out DIR]`.
//!
//! ```text
//! populations  rows as a population: its numbers are the true ones
//! sample       units of a population -> the program's own resampler -> intervals
//! campaign     how many of the intervals hold the true number, and sets the best model
//! goals        what has to hold
//! page         docs/coverage.md and docs/coverage.json
//! ```
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program")]

mod campaign;
mod goals;
mod page;
mod populations;
mod sample;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use calipers::{Error, Result, output};

use campaign::{Plan, Results};

const USAGE: &str = "usage: cargo xtask coverage [--quick] [--data DIR] [--threads N] [--out DIR]";

/// What is asked for.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    quick: bool,
    data: Option<PathBuf>,
    /// As many as the machine has, if nobody says; the numbers do not depend on it.
    threads: Option<usize>,
    /// Where the page goes, else among the documents, or below `target/` of a quick run.
    out: Option<PathBuf>,
}

impl Asked {
    fn of(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut asked = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => asked.quick = true,
                "--data" => match arguments.next().map(PathBuf::from) {
                    Some(folder) if folder.is_dir() => asked.data = Some(folder),
                    found => {
                        let found = found.map_or("nothing".into(), |path| path.display().to_string());
                        return Err(Error::usage("--data takes a folder").found(found).allowed(USAGE));
                    }
                },
                "--threads" => match arguments.next().map(|text| text.parse::<usize>()) {
                    Some(Ok(threads)) if threads > 0 => asked.threads = Some(threads),
                    _ => return Err(Error::usage("--threads takes a number from 1 on").allowed(USAGE)),
                },
                "--out" => match arguments.next() {
                    Some(folder) => asked.out = Some(folder.into()),
                    None => return Err(Error::usage("--out takes a folder").allowed(USAGE)),
                },
                _ => return Err(Error::usage("no such option").found(argument).allowed(USAGE)),
            }
        }
        Ok(asked)
    }
}

fn main() -> ExitCode {
    match Asked::of(std::env::args().skip(1)).and_then(|asked| run(&asked)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Measures, writes and says whether every goal was met.
fn run(asked: &Asked) -> Result<bool> {
    let start = Instant::now();
    let said = |what: &str| println!("    {:6.1} s  {what}", start.elapsed().as_secs_f64());
    let plan = if asked.quick { Plan::QUICK } else { Plan::WHOLE };
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = asked.threads.unwrap_or_else(all);
    let populations = populations::all(asked.data.as_deref(), threads)?;
    said("populations");
    let results = Results::of(&populations, &plan, threads, &said)?;
    let goals = goals::check(&results);
    let usual = Path::new(if asked.quick { "target/coverage" } else { "docs" });
    let folder = asked.out.as_deref().unwrap_or(usual);
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::io(error.to_string()).in_file(folder.display()))?;
    output::write(&folder.join("coverage.md"), page::markdown(&results, &goals).as_bytes())?;
    output::write(&folder.join("coverage.json"), page::json(&results).as_bytes())?;
    let missed: Vec<&goals::Goal> = goals.iter().filter(|goal| !goal.met()).collect();
    missed.iter().for_each(|goal| println!("missed: {goal}"));
    said(&format!("{} of {} goals met; {}", goals.len() - missed.len(), goals.len(), folder.display()));
    Ok(missed.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_refused() {
        let asked = |words: &[&str]| Asked::of(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(asked(&["--quick"]).unwrap(), Asked { quick: true, ..Asked::default() });
        let found = asked(&["--threads", "3", "--out", "there"]).unwrap();
        assert_eq!((found.threads, found.out), (Some(3), Some("there".into())));
        assert_eq!(asked(&["--data", "."]).unwrap().data, Some(".".into()));
        for words in [&["--data"][..], &["--data", "no/such"], &["--fast"], &["--threads", "0"], &["--out"]] {
            assert!(asked(words).unwrap_err().to_string().contains(USAGE));
        }
    }
}
