//! The golden files, written by the oracles in a Python of their own.

use crate::python;
use crate::step::{Outcome, step};

const REQUIREMENTS: &str = "oracles/requirements.txt";
const ORACLES: &str = "target/oracles-venv";

/// Writes the golden files of the named families, or of all.
pub(crate) fn write(families: &[&str]) -> Outcome {
    run("golden files", families)
}

/// Fails when an oracle gives anything else than the golden files say.
pub(crate) fn compare() -> Outcome {
    run("golden files are what the oracles give", &["--check"])
}

fn run(title: &str, arguments: &[&str]) -> Outcome {
    let python = python::environment_in(ORACLES, &[REQUIREMENTS])?;
    step(title, python::script(&python, "oracles/golden.py").args(arguments))
}
