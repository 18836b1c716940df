//! What training and attacks say while they run, and the warnings they end with.

use std::io::{self, IsTerminal};
use std::path::Path;

use calipers::rung::model::watch::{Status, Watch};
use calipers::{Error, Result, output};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::options::Work;
use crate::{Outcome, emit, files};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Work")]
pub(crate) struct Speaking {
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Draw no progress bar
    #[arg(long)]
    no_progress: bool,
    /// End with exit status 3 when there is any warning
    #[arg(long)]
    strict: bool,
}

impl Speaking {
    /// The number of worker threads.
    pub(crate) fn threads(&self) -> usize {
        Work { threads: self.threads, ..Work::default() }.threads()
    }

    /// Shows nothing any more: another display takes over.
    pub(crate) fn hush(&mut self) {
        self.quiet = true;
    }

    /// Says something that is no warning.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            emit::note(text);
        }
    }

    /// Says that a file was written.
    pub(super) fn wrote(&self, path: &Path) {
        files::wrote(path, self.quiet);
    }

    /// Whether progress may be drawn.
    pub(super) fn draws(&self) -> bool {
        !self.quiet && !self.no_progress
    }

    /// Says a result.
    pub(super) fn say(&self, text: &str) -> Result<()> {
        if self.quiet { Ok(()) } else { emit::show(text) }
    }

    /// Collects warnings.
    pub(crate) fn warnings(&self) -> Warnings {
        Warnings { quiet: self.quiet, strict: self.strict, said: Vec::new() }
    }

    /// A bar, or nothing where nobody would see it.
    pub(super) fn bar(&self) -> StepBar {
        let visible = self.draws() && io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {elapsed} elapsed, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        StepBar(bar)
    }

    /// A line every so many epochs.
    pub(super) fn epochs(&self) -> EpochLines<'_> {
        EpochLines(self)
    }
}

/// Warnings of a command that makes no report.
pub(crate) struct Warnings {
    quiet: bool,
    strict: bool,
    said: Vec<String>,
}

impl Warnings {
    /// Says a warning.
    pub(super) fn add(&mut self, code: &str, message: &str) {
        if !self.quiet {
            emit::note(&format!("warning[{code}]: {message}"));
        }
        self.said.push(format!("{code}: {message}"));
    }

    /// What was said, so that it can be said elsewhere.
    pub(crate) fn into_said(self) -> Vec<String> {
        self.said
    }

    /// How the command ends.
    pub(super) fn outcome(&self) -> Outcome {
        if self.strict && !self.said.is_empty() { Outcome::Warned } else { Outcome::Done }
    }
}

/// Refuses an output that is there already: what took long to make is never overwritten.
pub(super) fn fresh(path: &Path) -> Result<()> {
    if path.is_file() {
        return Err(Error::value("the output exists")
            .in_file(path.display())
            .advice("name another file, or remove this one first"));
    }
    output::check(path)
}

/// Draws the steps and samples of an attack.
pub(super) struct StepBar(ProgressBar);

impl StepBar {
    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Watch for StepBar {
    fn step(&self, done: u64, total: u64, status: Status<'_>) -> bool {
        self.0.set_length(total);
        self.0.set_position(done);
        match status {
            Status::Step { loss, used, allowed, .. } => {
                self.0.set_message(format!("loss {loss:.4}, {used:.0} of {allowed} flips"));
            }
            Status::Sample { loss, used, allowed, .. } => {
                self.0.set_message(format!("sampling: loss {loss:.4}, {used} of {allowed} flips"));
            }
            Status::Epoch { .. } => {}
        }
        true
    }
}

/// Says how the training goes.
pub(super) struct EpochLines<'a>(&'a Speaking);

/// How many epochs pass between two lines.
const EVERY: u32 = 50;

impl Watch for EpochLines<'_> {
    fn step(&self, done: u64, total: u64, status: Status<'_>) -> bool {
        if let Status::Epoch { epoch, loss, accuracy } = status
            && !self.0.quiet
            && (epoch % EVERY == 0 || done == total)
        {
            let measured = accuracy();
            let val = measured.val.map_or(String::new(), |val| format!("  val accuracy {val:.4}"));
            emit::note(&format!(
                "epoch {epoch:>4} of {total}  loss {loss:.4}  train accuracy {:.4}{val}",
                measured.train
            ));
        }
        true
    }
}
