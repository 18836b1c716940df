//! `calipers serve`: the reports and states of a folder as a local page.

use std::path::PathBuf;
use std::time::Duration;

use calipers::Result;
use calipers::io::memory;
use clap::Args;

use crate::options::{Work, size_of_memory};
use crate::serve::Server;
use crate::serve::library::Library;
use crate::serve::routes::Routes;
use crate::{Outcome, emit};

/// Show the reports and states of a folder in a browser on this machine
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers serve results/
  calipers serve results/ --port 8000 --idle 60

Prints an address with a token. Whoever has it can read the reports of the folder, nothing else.
Only this machine is answered. The list follows the folder while it is open.")]
pub(crate) struct Serve {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The port [default: any free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// End after so many minutes in which nobody opened a page
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..))]
    idle: Option<u32>,
    /// Draw pictures from the input files that reports name, wherever they are
    #[arg(long)]
    inputs: bool,
    /// The largest state that is opened, such as 512M or 4GiB [default: half of the memory]
    #[arg(long, value_name = "SIZE", value_parser = size_of_memory)]
    memory: Option<u64>,
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Serve {
    pub(crate) fn run(self) -> Result<Outcome> {
        let server = self.server()?;
        emit::say(&format!("{}\n", server.address()))?;
        emit::note("Ctrl-C ends the server");
        server.run(self.idle.map(|minutes| Duration::from_secs(60 * u64::from(minutes))))?;
        Ok(Outcome::Done)
    }

    /// A server of the folder that answers as soon as it runs.
    pub(crate) fn server(&self) -> Result<Server> {
        memory::allow(self.memory);
        let library = Library::open(&self.folder)?;
        let threads = Work { threads: self.threads, ..Work::default() }.threads();
        Server::bind(self.port, Routes::new(library, threads, self.inputs))
    }
}
