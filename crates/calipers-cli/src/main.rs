//! The `calipers` command: one file a subcommand.

mod commands;
mod emit;
mod options;
mod progress;

use std::io::Write;
use std::process::ExitCode;

use calipers::{Error, ErrorKind};
use clap::{Parser, Subcommand};

/// Measures models the way a paper defines the number, and gives the same bits whoever runs it.
#[derive(Parser)]
#[command(name = "calipers", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  calipers demo                                          a data set made on the spot, scored
  calipers independent-set val/ --json report.json       a folder of array files
  calipers segmentation --truth gt --pred out --classes 19 --ignore 255
                                                         two folders of label maps
  calipers training logs/ --metric val_F1 --group-by folder
                                                         histories of training runs
  calipers merge 1.state 2.state -o all.state            shards into one state
  calipers explain independent_set.gap_ratio             what a number means

Exit status: 0 done; 1 the input or the computation failed; 2 wrong usage; 3 a warning under --strict.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Demo),
    IndependentSet(Box<commands::independent_set::IndependentSetArgs>),
    Segmentation(Box<commands::segmentation::SegmentationArgs>),
    Training(Box<commands::training::TrainingArgs>),
    Merge(commands::merge::Merge),
    Show(commands::show::Show),
    List(commands::list::List),
    Explain(commands::explain::Explain),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}

/// How a command ended when it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything was done.
    Done,
    /// Done, with warnings, and the caller wants to know by the exit status.
    Warned,
}

fn main() -> ExitCode {
    report_own_panics_only();
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Demo(command) => command.run(),
        Command::IndependentSet(command) => command.run(),
        Command::Segmentation(command) => command.run(),
        Command::Training(command) => command.run(),
        Command::Merge(command) => command.run(),
        Command::Show(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Warned) => ExitCode::from(3),
        Err(error) => {
            complain(&error);
            ExitCode::from(if error.kind() == ErrorKind::Usage { 2 } else { 1 })
        }
    }
}

/// One block on stderr. A closed stderr leaves nobody to tell.
/// A damaged parquet file can stop its decoder in the middle; that ends in an error block, which is
/// all there is to say.
fn report_own_panics_only() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !calipers::io::history::parquet::decoding() {
            report(panic);
        }
    }));
}

fn complain(error: &Error) {
    let _ = writeln!(std::io::stderr(), "error: {error}");
}
