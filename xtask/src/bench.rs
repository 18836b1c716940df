//! Speed against the peers. The Python side gets its own virtual environment below `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Outcome, cargo, is_there, root, step};

/// The benches of the Python package, each a script of its own.
const SCRIPTS: [&str; 4] = ["explanation", "compat", "front_door", RIVALS];

/// The one of them that compares with packages of its own.
const RIVALS: &str = "rivals";

/// The bench whose other side is the Python package, in the environment it is tested in.
const SEGMENTATION: &str = "segmentation_python";

/// Builds the benches and runs the named ones, or all.
pub(crate) fn run(names: &[&str]) -> Outcome {
    for name in SCRIPTS.into_iter().filter(|name| names.contains(name)) {
        let python = crate::python::installed_package()?;
        if name == RIVALS {
            let peers = root().join("benches/peers/requirements-rivals.txt");
            step("rivals", &mut pip_install(&python, &peers))?;
        }
        let script = root().join(format!("benches/python/{name}.py"));
        step(name, Command::new(python).current_dir(root()).arg(script))?;
    }
    if names.contains(&SEGMENTATION) {
        run_with(&crate::python::installed_package()?, &[SEGMENTATION])?;
    }
    let apart = |name: &&str| SCRIPTS.contains(name) || *name == SEGMENTATION;
    let others: Vec<&str> = names.iter().copied().filter(|name| !apart(name)).collect();
    if others.is_empty() && !names.is_empty() {
        return Ok(());
    }
    let names = others.as_slice();
    // torch is half a gigabyte: only the benches that compare with it ask for it.
    let asked = |name: &&str| names.is_empty() || names.contains(name);
    let with_torch = names.iter().any(|name| name.ends_with("published"));
    let with_surfaces = names.contains(&"segmentation_surfaces");
    let python = environment(with_torch, asked(&"training"), with_surfaces)?;
    run_with(&python, names)
}

/// Builds the benches and runs the named ones, or all, with the peers in a Python.
fn run_with(python: &Path, names: &[&str]) -> Outcome {
    let build = "build --release --locked --package calipers-benches --package calipers-cli";
    step("release build", &mut cargo(build))?;
    let mut benches = Command::new(root().join("target/release/calipers-benches"));
    benches.current_dir(root()).env("CALIPERS_BENCH_PYTHON", python);
    step("benches", benches.args(names))
}

/// The Python of the virtual environment, made on first use.
fn environment(with_torch: bool, with_loggers: bool, with_surfaces: bool) -> Outcome<PathBuf> {
    let folder = root().join("target/bench-venv");
    let python = folder.join("bin/python");
    let peers = root().join("benches/peers");
    if !is_there(&python.to_string_lossy(), "--version") {
        step("virtual environment", Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    step("peers", &mut pip_install(&python, &peers.join("requirements.txt")))?;
    if with_torch {
        step("torch", &mut pip_install(&python, &peers.join("requirements-published.txt")))?;
    }
    if with_surfaces {
        step("surfaces", &mut pip_install(&python, &peers.join("requirements-surfaces.txt")))?;
    }
    if with_loggers {
        step("loggers", &mut pip_install(&python, &peers.join("requirements-training.txt")))?;
    }
    Ok(python)
}

fn pip_install(python: &Path, requirements: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    command.arg(requirements);
    command
}
