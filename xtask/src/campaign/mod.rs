//! A campaign against the promises: every test that has a figure runs as long as it was asked to, and the page of
//! the promises is written from what it found.

mod page;
mod promises;

use std::process::Command;
use std::time::{Duration, Instant};

use crate::step::{Outcome, announced, cargo};
use crate::{audit, fuzz};

use promises::{By, PROMISES, Promise};

/// Set for tests that should try much: they ask whether it is there.
const MUCH: &str = "CALIPERS_CAMPAIGN";
/// How a test says its figure: `figure T40: ...` on a line of its own.
const FIGURE: &str = "figure ";

/// What became of a promise.
struct Kept {
    promise: &'static Promise,
    holds: bool,
    figure: String,
}

/// Runs everything for about so many hours; without, a minute of it. Writes the page, prints the table, and fails
/// where a promise was not kept.
pub(crate) fn run(hours: Option<f64>) -> Outcome {
    let much = hours.is_some_and(|hours| hours >= 1.0);
    let fuzzing =
        hours.map_or(Duration::from_secs(60), |hours| Duration::from_secs_f64(hours * 3600.0 / 2.0));
    let mut kept = Vec::new();
    for promise in PROMISES {
        let start = Instant::now();
        let found = match promise.by {
            By::Test { package, binary, name } => test(promise.id, package, binary, name, much),
            By::Fuzzing => fuzz::campaign(fuzzing),
            By::Audit => audit::audit().map(|()| "licences, versions and unsafe code as listed".to_owned()),
        };
        let took = start.elapsed().as_secs_f64();
        let (holds, said) = match found {
            Ok(figure) => (true, figure),
            Err(message) => {
                println!("{message}");
                (false, "missed: see the output of the campaign".to_owned())
            }
        };
        kept.push(Kept { promise, holds, figure: format!("{said}; {took:.1} s") });
    }
    page::write(&kept, hours)?;
    kept.iter().for_each(|kept| {
        println!("{:4} {:5} {}", kept.promise.id, if kept.holds { "kept" } else { "MISSED" }, kept.figure)
    });
    let missed: Vec<&str> = kept.iter().filter(|kept| !kept.holds).map(|kept| kept.promise.id).collect();
    if missed.is_empty() { Ok(()) } else { Err(format!("not kept: {}", missed.join(", "))) }
}

/// Runs one test; gives the figure that it prints, else that it passed.
fn test(id: &str, package: &str, binary: &str, name: &str, much: bool) -> Outcome<String> {
    announced(&format!("{id}: {name}"), || {
        let target = if binary == "lib" { "--lib".to_owned() } else { format!("--test {binary}") };
        let mut command =
            cargo(&format!("test --quiet --locked --package {package} {target} -- --nocapture {name}"));
        if much {
            command.env(MUCH, "1");
        }
        let said = said_by(&mut command)?;
        if said.contains("running 0 tests") && !said.contains("running 1 test") {
            return Err(format!("there is no test {name} in {package}"));
        }
        let prefix = format!("{FIGURE}{id}: ");
        let figure = said.lines().find_map(|line| line.trim().strip_prefix(prefix.as_str()));
        Ok(figure.unwrap_or("passed").to_owned())
    })
}

fn said_by(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("cannot start cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(format!("{said}\n{}", String::from_utf8_lossy(&output.stderr)))
}
