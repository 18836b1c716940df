//! `calipers man`: the manual page.

use calipers::{Error, Result};
use clap::{Args, CommandFactory};

use crate::{Cli, Outcome, emit};

/// Print the manual page
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  calipers man > calipers.1 && man ./calipers.1")]
pub(crate) struct Man {
    /// The page of one subcommand
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl Man {
    pub(crate) fn run(self) -> Result<Outcome> {
        let mut command = Cli::command();
        command.build();
        let command = match self.command {
            None => command,
            Some(name) => command
                .find_subcommand(&name)
                .cloned()
                .ok_or_else(|| Error::usage("no such command").found(name))?,
        };
        let mut page = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut page)
            .map_err(|error| Error::io(format!("cannot make the manual page: {error}")))?;
        emit::say(&String::from_utf8_lossy(&page)).map(|()| Outcome::Done)
    }
}
