//! The Python package: built into a virtual environment of its own below `target/`, then checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Outcome, is_there, root, step};

/// Builds and installs the wheel, then lints, types, tests and docs. `compat` adds what needs torch.
pub(crate) fn test(compat: bool) -> Outcome {
    let python = environment(&requirements(compat))?;
    let module = |words: &str| module(&python, words);
    install(&python)?;
    step("Python style", &mut module("ruff check python"))?;
    step("Python format", &mut module("ruff format --check python"))?;
    step("Python types", &mut module("mypy"))?;
    step(
        "extension stubs",
        &mut module("mypy.stubtest calipers._calipers --mypy-config-file pyproject.toml"),
    )?;
    let mut tests = module("pytest python/tests --ignore python/tests/browser");
    // The examples in the docs are those of the installed package.
    let mut examples = module("pytest --doctest-modules --pyargs calipers");
    // Keras asks for TensorFlow unless it is told otherwise.
    examples.env("KERAS_BACKEND", "torch");
    if !compat {
        tests.args(["-m", "not compat"]);
        examples.arg("--doctest-ignore-import-errors");
    }
    step("Python tests", &mut tests)?;
    step("examples in the Python docs", &mut examples)
}

/// Compares the drop-ins with their libraries on twenty times as many cases as the usual tests do.
pub(crate) fn campaign() -> Outcome {
    let python = installed_package()?;
    let mut tests = module(&python, "pytest python/tests/compat --durations 0 --durations-min 1");
    step("campaign of drop-ins", tests.env("CALIPERS_CAMPAIGN", "1"))
}

/// The Python of an environment with the package and its peers, for the benches.
pub(crate) fn installed_package() -> Outcome<PathBuf> {
    let python = environment(&requirements(true))?;
    install(&python)?;
    Ok(python)
}

fn install(python: &Path) -> Outcome {
    let wheels = root().join("target/wheels-test");
    let _ = fs::remove_dir_all(&wheels);
    step("wheel", module(python, "maturin build --quiet --release --locked --out").arg(&wheels))?;
    step("wheel installed", &mut installed(python, &wheels)?)
}

fn requirements(compat: bool) -> Vec<&'static str> {
    let mut files = vec!["python/requirements-test.txt", "python/requirements-servers.txt"];
    if compat {
        files.extend(["python/requirements-compat.txt", "python/requirements-loggers.txt"]);
    }
    files
}

/// A module of that Python, with arguments written as on a command line.
pub(crate) fn module(python: &Path, words: &str) -> Command {
    let mut command = Command::new(python);
    command.current_dir(root()).arg("-m").args(words.split_whitespace());
    command
}

/// A script of the repository, run by that Python.
pub(crate) fn script(python: &Path, path: &str) -> Command {
    let mut command = Command::new(python);
    command.current_dir(root()).arg(path);
    command
}

/// Python itself, and its module for virtual environments, which Debian packages apart.
pub(crate) fn interpreter() -> Outcome {
    let complete = |mut python: Command| {
        python.args(["-c", "import venv, ensurepip"]).output().is_ok_and(|output| output.status.success())
    };
    if complete(Command::new("python3")) {
        return Ok(());
    }
    step("package lists", Command::new("apt-get").args(["update", "-q"]))?;
    step("Python", Command::new("apt-get").args(["install", "-y", "-q", "python3", "python3-venv"]))
}

/// The Python of the package's virtual environment.
pub(crate) fn environment(files: &[&str]) -> Outcome<PathBuf> {
    environment_in("target/py-venv", files)
}

/// The Python of a virtual environment, filled again when the requirements have changed.
pub(crate) fn environment_in(folder: &str, files: &[&str]) -> Outcome<PathBuf> {
    let folder = root().join(folder);
    let python = folder.join("bin/python");
    if !is_there(&python.to_string_lossy(), "--version") {
        interpreter()?;
        step("virtual environment", Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    for file in files {
        let wanted =
            fs::read_to_string(root().join(file)).map_err(|error| format!("cannot read {file}: {error}"))?;
        let name = Path::new(file).file_name().unwrap_or_default();
        let stamp = folder.join(name);
        if fs::read_to_string(&stamp).is_ok_and(|done| done == wanted) {
            continue;
        }
        step(file, pip(&python).arg("--requirement").arg(root().join(file)))?;
        fs::write(&stamp, wanted).map_err(|error| format!("cannot write {}: {error}", stamp.display()))?;
    }
    Ok(python)
}

fn installed(python: &Path, wheels: &Path) -> Outcome<Command> {
    let entries = fs::read_dir(wheels).map_err(|error| format!("no wheel was made: {error}"))?;
    let wheel =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"));
    let wheel = wheel.ok_or("no wheel was made")?;
    let mut command = pip(python);
    command.args(["--force-reinstall", "--no-deps"]).arg(wheel);
    Ok(command)
}

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}
