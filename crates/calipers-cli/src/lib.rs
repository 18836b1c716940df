//! The `calipers` command as a function: one file per subcommand. The program and the Python package
//! both run it.

mod commands;
mod emit;
pub mod keywords;
mod measured;
mod options;
mod progress;
pub mod serve;
mod signals;

use std::ffi::OsString;
use std::io::Write;

use calipers::{Error, ErrorKind};
use clap::Parser;

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
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed stream leaves nobody to tell.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match cli.command.run() {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Warned | Outcome::Differs) => 3,
        Ok(Outcome::LeftOut) => 4,
        Err(error) => {
            // Who asked for the end knows of it.
            if error.kind() != ErrorKind::Interrupted {
                complain(&error);
            }
            if error.kind() == ErrorKind::Usage { 2 } else { 1 }
        }
    }
}

/// One block on stderr. A closed stderr leaves nobody to tell.
fn complain(error: &Error) {
    let _ = writeln!(std::io::stderr(), "error: {error}");
}
