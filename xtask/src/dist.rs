//! What a release consists of, built and tried: the source archive, the wheel, the program, and their checksums.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python;
use crate::step::{Outcome, announced, cargo, output_of, root, step};

const OUT: &str = "target/dist";
/// Everything that may travel with the program.
const LICENCES: [&str; 3] =
    ["LICENSE-APACHE", "LICENSE-MIT", "crates/calipers-report/assets/DejaVuSans-LICENSE.txt"];
const SHELLS: [(&str, &str); 3] =
    [("bash", "calipers.bash"), ("zsh", "_calipers"), ("fish", "calipers.fish")];
/// What a fresh environment must be able to do.
const SMOKE: &str = "\
import calipers as cp
acc = cp.segmentation.Evaluator(labels={'original': ['road', 'sky'], 'ignore': [255]})
acc.update('frankfurt', truth=[[0, 1], [1, 255]], pred=[[0, 1], [0, 0]])
assert acc.report()['segmentation.miou'] == 0.5
assert acc.report().figure('iou', 'pdf').startswith(b'%PDF')
from importlib.metadata import files, metadata
licences = {file.name for file in files('calipers') if 'licenses' in file.parts}
assert licences == {'LICENSE-APACHE', 'LICENSE-MIT', 'DejaVuSans-LICENSE.txt'}, licences
assert metadata('calipers')['License-Expression'] == 'MIT OR Apache-2.0'
assert 'plot' in metadata('calipers').get_all('Provides-Extra')
";

/// Builds the release in `target/dist/` and tries it in fresh environments.
pub(crate) fn make() -> Outcome {
    let out = root().join(OUT);
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).map_err(|error| format!("cannot make {OUT}: {error}"))?;
    let python = python::environment(&["python/requirements-test.txt"])?;
    let maturin = |words: &str| {
        let mut command = python::module(&python, words);
        command.arg("--out").arg(&out);
        command
    };
    step("source archive", &mut maturin("maturin sdist"))?;
    step("wheel", &mut maturin("maturin build --release --locked"))?;
    program(&out)?;
    tried(&out, ".whl")?;
    tried(&out, ".tar.gz")?;
    sums(&out)
}

/// The program with its manual, completions and licences, as one archive.
fn program(out: &Path) -> Outcome {
    let target = static_target()?;
    let (flags, folder) = match &target {
        Some(target) => (format!(" --target {target}"), format!("target/{target}/release")),
        None => (String::new(), "target/release".to_owned()),
    };
    let build = format!("build --release --locked --package calipers-cli{flags}");
    step("program", &mut cargo(&build))?;
    let binary = root().join(folder).join("calipers");
    announced("manual, completions and licences", || {
        let version = output_of(Command::new(&binary).arg("--version"))?;
        let triple = match target {
            Some(target) => target,
            None => host()?,
        };
        let name = format!("{}-{triple}", version.trim().replace(' ', "-"));
        let folder = out.join(&name);
        copy(&binary, &folder.join("calipers"))?;
        for (shell, file) in SHELLS {
            let script = output_of(Command::new(&binary).args(["completions", shell]))?;
            write(&folder.join("completions").join(file), &script)?;
        }
        let commands = commands(&output_of(Command::new(&binary).arg("--help"))?);
        write(&folder.join("man/calipers.1"), &output_of(Command::new(&binary).arg("man"))?)?;
        for command in &commands {
            let page = output_of(Command::new(&binary).args(["man", command]))?;
            write(&folder.join(format!("man/calipers-{command}.1")), &page)?;
        }
        for licence in LICENCES {
            let file = Path::new(licence).file_name().unwrap_or_default();
            copy(&root().join(licence), &folder.join("licences").join(file))?;
        }
        println!("    {} manual pages", commands.len() + 1);
        println!("    linked dynamically: {}", linked(&binary)?);
        let mut tar = Command::new("tar");
        // Equal inputs give equal bytes: no times, no owners, sorted names.
        tar.current_dir(out).args([
            "--sort=name",
            "--mtime=@0",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "-czf",
        ]);
        output_of(tar.arg(format!("{name}.tar.gz")).arg(&name))?;
        fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))
    })
}

/// The target whose programs need no library of the system, where its standard library is installed.
fn static_target() -> Outcome<Option<String>> {
    let musl = host()?.replace("-gnu", "-musl");
    let mut rustc = Command::new("rustc");
    let libraries = output_of(rustc.args(["--print", "target-libdir", "--target", &musl]))?;
    let is_there = Path::new(libraries.trim()).is_dir();
    if !is_there {
        println!(
            "    {musl} is not installed: the program needs the C library of a system at least as new as this one"
        );
    }
    Ok(is_there.then_some(musl))
}

fn host() -> Outcome<String> {
    let said = output_of(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say its host".into())
}

/// The names of the commands in the help of the program.
fn commands(help: &str) -> Vec<String> {
    let listed = help.split("Commands:").nth(1).unwrap_or("").lines().skip(1);
    let lines = listed.take_while(|line| line.starts_with("  "));
    let names =
        lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The libraries that the system must have.
fn linked(binary: &Path) -> Outcome<String> {
    let Ok(said) = Command::new("ldd").arg(binary).output() else {
        return Ok("unknown, there is no ldd".into());
    };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let libraries: Vec<&str> = said.lines().filter_map(|line| line.split_whitespace().next()).collect();
    Ok(if said.contains("statically linked") { "nothing".into() } else { libraries.join(", ") })
}

/// Installs what was built in an environment of its own and uses it.
fn tried(out: &Path, ending: &str) -> Outcome {
    let package = found(out, ending)?;
    let folder = root().join("target/dist-venv");
    let _ = fs::remove_dir_all(&folder);
    let title =
        format!("fresh environment with {}", package.file_name().unwrap_or_default().to_string_lossy());
    announced(&title, || {
        output_of(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let python = folder.join("bin/python");
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(&package);
        // What the source archive needs of other people's crates is compiled already.
        output_of(install.env("CARGO_TARGET_DIR", root().join("target")))?;
        output_of(Command::new(&python).current_dir(&folder).args(["-c", SMOKE]))?;
        let mut demo = Command::new(folder.join("bin/calipers"));
        output_of(demo.current_dir(&folder).args(["demo", "--out", "demo"]))?;
        let mut verify = Command::new(folder.join("bin/calipers"));
        output_of(verify.current_dir(&folder).args(["verify", "demo/report.json"])).map(drop)
    })
}

/// The package with that ending; the archive of the program is named after its target.
fn found(out: &Path, ending: &str) -> Outcome<PathBuf> {
    let host = host()?;
    let system = host.split('-').next().unwrap_or_default().to_owned();
    let entries = fs::read_dir(out).map_err(|error| format!("cannot read {OUT}: {error}"))?;
    let mut files = entries.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(ending) && (ending == ".whl" || !name.contains(&system))
    };
    files.find(is_it).ok_or_else(|| format!("no {ending} was made"))
}

/// The checksum of every file, in the form that `sha256sum --check` reads.
fn sums(out: &Path) -> Outcome {
    let entries = fs::read_dir(out).map_err(|error| format!("cannot read {OUT}: {error}"))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let sums = output_of(Command::new("sha256sum").current_dir(out).args(&names))?;
    print!("{sums}");
    write(&out.join("SHA256SUMS"), &sums)
}

fn copy(from: &Path, to: &Path) -> Outcome {
    let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
    let copied = folder.and_then(|()| fs::copy(from, to));
    copied.map(drop).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_help_has_a_manual_page() {
        let help = "Usage: calipers\n\nCommands:\n  demo   Make data\n             of families\n  list   List\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(commands(help), ["demo", "list"]);
    }

    #[test]
    fn the_licence_of_the_embedded_font_travels_with_program_and_wheel() {
        let wheel = fs::read_to_string(root().join("pyproject.toml")).unwrap();
        for licence in LICENCES {
            assert!(root().join(licence).is_file(), "{licence}");
            assert!(wheel.contains(&format!("\"{licence}\"")), "{licence}");
            let name = Path::new(licence).file_name().unwrap().to_string_lossy().into_owned();
            assert!(SMOKE.contains(&name), "{name}");
        }
    }
}
