//! A bar on stderr while the work runs, on a terminal only.

use std::io::{self, IsTerminal};

use calipers::run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::options::Output;

/// A progress bar, or nothing where nobody would see it.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar that is drawn unless the options or the surroundings are against it.
    pub(crate) fn new(output: &Output) -> Self {
        let visible = !output.quiet && !output.no_progress && io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self(ProgressBar::with_draw_target(None, target))
    }
}

impl Progress for Bar {
    fn start(&self, total: u64) {
        self.0.set_length(total);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} units  {elapsed} elapsed, {eta} left");
        self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    fn advance(&self) {
        self.0.inc(1);
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
