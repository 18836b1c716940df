//! A bar on stderr while the work runs, on a terminal only.

use std::io::{self, IsTerminal};

use calipers::run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::emit;
use crate::options::Output;

/// A progress bar, or nothing where nobody would see it.
pub(crate) struct Bar {
    bar: ProgressBar,
    quiet: bool,
}

impl Bar {
    /// A bar that is drawn unless the options or the surroundings are against it.
    pub(crate) fn new(output: &Output) -> Self {
        let visible = !output.quiet && !output.no_progress && io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { bar: ProgressBar::with_draw_target(None, target), quiet: output.quiet }
    }
}

impl Progress for Bar {
    fn start(&self, total: u64) {
        self.bar.set_length(total);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} units  {elapsed} elapsed, {eta} left");
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    fn advance(&self) {
        self.bar.inc(1);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            self.bar.suspend(|| emit::note(line));
        }
    }
}
