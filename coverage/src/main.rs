//! How often do intervals hold what they claim? Samples of rows whose numbers are known, drawn again and
//! again: `cargo xtask coverage [--quick] [--data DIR]`.
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

const USAGE: &str = "usage: cargo xtask coverage [--quick] [--data DIR]";

/// What is asked for.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    quick: bool,
    data: Option<PathBuf>,
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
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let populations = populations::all(asked.data.as_deref(), threads)?;
    said("populations");
    let results = Results::of(&populations, &plan, threads, &said)?;
    let goals = goals::check(&results);
    let folder = Path::new(if asked.quick { "target/coverage" } else { "docs" });
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
        assert_eq!(asked(&["--quick"]).unwrap(), Asked { quick: true, data: None });
        assert_eq!(asked(&["--data", "."]).unwrap().data, Some(".".into()));
        for words in [&["--data"][..], &["--data", "no/such"], &["--fast"]] {
            assert!(asked(words).unwrap_err().to_string().contains(USAGE));
        }
    }
}
