//! The chores of this project: `cargo xtask COMMAND`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program")]

mod audit;
mod bench;
mod browser;
mod campaign;
mod coverage;
mod dist;
mod docs;
mod figures;
mod fuzz;
mod gate;
mod generate;
mod golden;
mod python;
mod step;

use std::process::ExitCode;

use step::Outcome;

const HELP: &str = "\
cargo xtask COMMAND

  test [--no-compat]                  everything a change must pass; without what needs torch
  python [--no-compat]                the Python package only
  compat                              a campaign: 10,000 cases of each drop-in against its library
  browser                             the pages only, in Chromium
  docs [--site]                       the site of the documents, strictly, and every code block; --site: without them
  dist                                a release in target/dist: sources, wheel, program, checksums, each tried
  check                               formatting and lints only
  generate [--check]                  rewrite (or only compare) what the program writes itself
  golden [FAMILY...]                  write the golden files from their oracles, of all families or the named
  golden --check                      compare them with what the oracles give
  bench [NAME...]                     speed against the peers, as ratios in one run
  coverage [--quick] [--data DIR] [--threads N] [--out DIR]
                                      how often intervals hold the true number; writes docs/coverage.md
  figures [--quick] [GRAPH.npz]       train, attack and draw the figures of the bias document on Cora
  fuzz [--seconds N] [TARGET...]      run every fuzz target for N seconds (60), or only those named
  campaign [--hours H]                every promise against its test; writes docs/reliability.md; a minute without H
  audit                               licences, duplicate versions, unsafe code, advisories where they can be had
  fuzz --check                        build the fuzz targets and run each for a moment
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Outcome {
    match arguments {
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        ["test"] => gate::test(true),
        ["test", "--no-compat"] => gate::test(false),
        ["python"] => python::test(true),
        ["python", "--no-compat"] => python::test(false),
        ["compat"] => python::campaign(),
        ["browser"] => browser::test(),
        ["dist"] => dist::make(),
        ["docs"] => docs::make(),
        ["docs", "--site"] => docs::site(),
        ["check"] => gate::check(),
        ["generate"] => generate::write(),
        ["generate", "--check"] => generate::compare(),
        ["golden", "--check"] => golden::compare(),
        ["golden", families @ ..] => golden::write(families),
        ["bench", names @ ..] => bench::run(names),
        ["coverage", options @ ..] => coverage::measure(options),
        ["figures", "--quick"] => figures::draw(true, None),
        ["figures", "--quick", graph] => figures::draw(true, Some(graph)),
        ["figures"] => figures::draw(false, None),
        ["figures", graph] => figures::draw(false, Some(graph)),
        ["audit"] => audit::audit(),
        ["campaign"] => campaign::run(None),
        ["campaign", "--hours", hours] => match hours.parse() {
            Ok(hours) if hours > 0.0 && hours < 1000.0 => campaign::run(Some(hours)),
            _ => Err(format!("--hours takes a number above 0, found {hours:?}")),
        },
        ["fuzz", "--check"] => fuzz::check(),
        ["fuzz", "--seconds", seconds, targets @ ..] => match seconds.parse() {
            Ok(seconds) => fuzz::search(seconds, targets),
            Err(_) => Err(format!("--seconds takes a whole number, found {seconds:?}")),
        },
        ["fuzz", targets @ ..] => fuzz::search(60, targets),
        _ => Err(format!("no such command: {}\n\n{HELP}", arguments.join(" "))),
    }
}
