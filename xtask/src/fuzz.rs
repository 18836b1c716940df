//! Fuzzing on the pinned toolchain: libFuzzer's coverage is compiled in by plain rustc flags.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::step::{Outcome, announced, cargo, output_of, root, step};

const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    --cfg fuzzing";

/// How long one input may take. A shared machine may stall a process for a moment, so the gate is
/// more patient than a search.
const SEARCH_TIMEOUT: u64 = 2;
const CHECK_TIMEOUT: u64 = 20;

/// Builds the targets and runs each for a moment from its seeds; says nothing but findings.
pub(crate) fn check() -> Outcome {
    let (targets, binaries) = built()?;
    announced("a moment of fuzzing", || {
        for target in &targets {
            let mut command = command(target, &binaries, 2, CHECK_TIMEOUT)?;
            let output = command.output().map_err(|error| format!("cannot start {target}: {error}"))?;
            if !output.status.success() {
                return Err(format!("{target}:\n{}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        println!("    {} targets without a finding", targets.len());
        Ok(())
    })
}

/// Runs the named targets, or all, for so many seconds each; a finding fails.
pub(crate) fn search(seconds: u64, names: &[&str]) -> Outcome {
    let (targets, binaries) = built()?;
    if let Some(unknown) = names.iter().find(|name| !targets.iter().any(|target| target == *name)) {
        return Err(format!("no fuzz target {unknown}; there are {}", targets.join(", ")));
    }
    for target in targets.iter().filter(|target| names.is_empty() || names.contains(&target.as_str())) {
        step(&format!("fuzz {target}"), &mut command(target, &binaries, seconds, SEARCH_TIMEOUT)?)?;
    }
    Ok(())
}

/// Runs every target for its share of a time; gives how many runs there were.
pub(crate) fn campaign(time: Duration) -> Outcome<String> {
    let (targets, binaries) = built()?;
    let seconds = (time.as_secs() / targets.len().max(1) as u64).max(1);
    let mut runs: u64 = 0;
    for target in &targets {
        let mut command = command(target, &binaries, seconds, SEARCH_TIMEOUT)?;
        command.arg("-print_final_stats=1");
        let output = command.output().map_err(|error| format!("cannot start {target}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{target}:\n{said}"));
        }
        let counted = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        runs += counted.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(format!("{} targets, {runs} runs, {seconds} s each, 0 findings", targets.len()))
}

fn command(target: &str, binaries: &Path, seconds: u64, timeout: u64) -> Outcome<Command> {
    let findings = folder("findings", target)?;
    let mut command = Command::new(binaries.join(target));
    command.arg("-rss_limit_mb=512").arg(format!("-timeout={timeout}"));
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-artifact_prefix={}/", findings.display()));
    // libFuzzer adds to its first folder, so the committed seeds come second.
    command.arg(folder("corpus", target)?).arg(seeds(target)?);
    Ok(command)
}

/// Builds every target; returns their names and the folder of their binaries.
fn built() -> Outcome<(Vec<String>, PathBuf)> {
    // Naming the target platform keeps the flags away from build scripts, which link no libFuzzer.
    let host = host()?;
    let arguments = format!(
        "build --release --locked --manifest-path fuzz/Cargo.toml --target-dir target/fuzz --target {host}"
    );
    step("fuzz targets", cargo(&arguments).env("RUSTFLAGS", COVERAGE))?;
    Ok((targets()?, root().join("target/fuzz").join(host).join("release")))
}

fn host() -> Outcome<String> {
    let version = output_of(Command::new("rustc").arg("-vV").current_dir(root()))?;
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".into())
}

fn targets() -> Outcome<Vec<String>> {
    let arguments = "metadata --format-version 1 --no-deps --manifest-path fuzz/Cargo.toml";
    let metadata: serde_json::Value = serde_json::from_str(&output_of(&mut cargo(arguments))?)
        .map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
    let targets = metadata["packages"][0]["targets"].as_array().into_iter().flatten();
    Ok(targets.filter_map(|target| target["name"].as_str()).map(str::to_owned).collect())
}

fn seeds(target: &str) -> Outcome<PathBuf> {
    let seeds = root().join("fuzz/corpus").join(target);
    if seeds.is_dir() { Ok(seeds) } else { Err(format!("fuzz/corpus/{target} is missing")) }
}

fn folder(kind: &str, target: &str) -> Outcome<PathBuf> {
    let folder = root().join("target/fuzz").join(kind).join(target);
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}
