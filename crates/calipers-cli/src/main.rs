//! The `calipers` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(calipers_cli::run(std::env::args_os()))
}
