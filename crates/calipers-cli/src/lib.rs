//! The `calipers` command as a function: one file per subcommand. The program and the Python package
//! both run it.

mod commands;
mod emit;
mod files;
pub mod keywords;
mod measured;
mod options;
mod overlap;
mod progress;
mod retry;
pub mod serve;
mod signals;

use std::ffi::OsString;
use std::io::Write;

use calipers::core::fault;
use calipers::{Error, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

use commands::Command;
pub use measured::Measured;

/// Measures models the way a paper defines the number, and gives the same bits whoever runs it.
#[derive(Parser)]
#[command(name = "calipers", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  calipers demo                                          a data set made on the spot, scored
  calipers independent-set val/ --json report.json       a folder of array files
  calipers explanation mutag.npz --scores logits         explained predictions of a graph network
  calipers robustness runs/ --per-unit units.csv         clean and attacked features of a graph model
  calipers segmentation --truth gt --pred out --classes 19 --ignore 255
                                                         two folders of label maps
  calipers training logs/ --metric val_F1 --group-by folder
                                                         histories of training runs
  calipers merge 1.state 2.state -o all.state            shards into one state
  calipers compare a.state b.state                       paired differences of two models
  calipers plot all.state confusion -o confusion.pdf     one figure of a report, for a paper
  calipers verify report.json                            measure again what a report names
  calipers serve results/                                the reports of a folder as a local page
  calipers explain independent_set.gap_ratio             what a number means

Exit status: 0 done; 1 the input or the computation failed; 2 wrong usage; 3 verify found a
difference, or a warning under --strict; 4 done, but --keep-going left units out; 130, 143, 129
ended by SIGINT, SIGTERM, SIGHUP.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// How a command ended when it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything was done.
    Done,
    /// Done, with warnings, and the caller wants to know by the exit status.
    Warned,
    /// What was to be verified is not as it was recorded.
    Differs,
    /// Done, but for units that could not be measured.
    LeftOut,
}

/// Runs the program as the process that it is: a signal ends the process, with what is finished kept. See
/// [`run`].
pub fn run_process<I, T>(arguments: I) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    fault::note_places();
    signals::listen();
    let status = run(arguments);
    signals::end_if_signalled();
    status
}

/// Runs the program with these arguments, the first of which is its own name, and returns the exit
/// status.
pub fn run<I, T>(arguments: I) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let words = with_files(arguments);
    let mut command = Cli::command();
    let (cli, matches) = match parsed(&mut command, &words) {
        Ok(parsed) => parsed,
        Err(error) => {
            if let Some(meant) = retry::two_sides(&words) {
                complain(&meant);
                return 2;
            }
            // A closed stream leaves nobody to tell.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match fault::caught(|| overlap::check(&command, &matches).and_then(|()| cli.command.run())) {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Warned | Outcome::Differs) => 3,
        Ok(Outcome::LeftOut) => 4,
        Err(error) => {
            // Who asked for the end knows of it.
            if error.kind() != ErrorKind::Interrupted {
                complain(&error.clone().with_command(|retry| retry::command(&words, retry)));
            }
            if error.kind() == ErrorKind::Usage { 2 } else { 1 }
        }
    }
}

/// Whether this is a command line that the program would go to work on. Nothing is read or written.
pub fn is_understood<I, T>(arguments: I) -> bool
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let mut command = Cli::command();
    let understood = parsed(&mut command, &with_files(arguments));
    understood.is_ok_and(|(_, matches)| overlap::check(&command, &matches).is_ok())
}

fn parsed(command: &mut clap::Command, words: &[OsString]) -> Result<(Cli, ArgMatches), clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// Options that print unless a file is named, and the endings that make the next word such a file.
const PRINTED: [(&str, &str); 2] = [("--markdown", ".md"), ("--latex", ".tex")];

/// The arguments with the files of `--markdown FILE.md` and `--latex FILE.tex` behind an equals sign; any
/// other next word is an input.
fn with_files(arguments: impl IntoIterator<Item: Into<OsString>>) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut is_open = true;
    for word in arguments {
        let word = word.into();
        let option = words.last_mut().filter(|_| is_open).filter(|last| {
            let ending = PRINTED.iter().find(|(option, _)| *last == option).map(|(_, ending)| *ending);
            ending.is_some_and(|ending| word.to_string_lossy().ends_with(ending))
        });
        match option {
            Some(option) => {
                option.push("=");
                option.push(&word);
            }
            None => {
                is_open &= word != "--";
                words.push(word);
            }
        }
    }
    words
}

/// One block on stderr. A closed stderr leaves nobody to tell.
fn complain(error: &Error) {
    let _ = writeln!(std::io::stderr(), "error: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_next_word_with_the_ending_of_the_form_is_its_file() {
        let read = |line: &str| -> Vec<String> {
            with_files(line.split(' ')).into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(read("calipers show a --latex t.tex").join(" "), "calipers show a --latex=t.tex");
        assert_eq!(read("x --markdown r.md --latex a.json").join(" "), "x --markdown=r.md --latex a.json");
        assert_eq!(read("x --latex r.md --latex").join(" "), "x --latex r.md --latex");
        assert_eq!(read("x -- --latex t.tex").join(" "), "x -- --latex t.tex");
    }
}
