//! `calipers completions`: completion scripts for shells.

use calipers::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Cli, Outcome, emit};

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers completions bash > ~/.local/share/bash-completion/completions/calipers
  calipers completions zsh  > ~/.zfunc/_calipers
  calipers completions fish > ~/.config/fish/completions/calipers.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "calipers", &mut script);
        emit::say(&String::from_utf8_lossy(&script)).map(|()| Outcome::Done)
    }
}
