//! The `calipers` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(calipers_cli::run_process(std::env::args_os()))
}
