//! The `calipers` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    report_own_panics_only();
    ExitCode::from(calipers_cli::run_process(std::env::args_os()))
}

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
