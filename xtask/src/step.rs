//! One step of a chore: announced, run in the repository's root, timed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What a chore ends with; the text is for the person at the terminal.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.to_path_buf(), Path::to_path_buf)
}

/// The cargo that runs this program, with arguments written as on a command line.
pub(crate) fn cargo(arguments: &str) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root()).args(arguments.split_whitespace());
    command
}

/// The `calipers` program: the one that `CALIPERS_PROGRAM` names, or the release build, which is made first.
pub(crate) fn program() -> Outcome<Command> {
    let path = match std::env::var_os("CALIPERS_PROGRAM") {
        Some(given) => PathBuf::from(given),
        None => {
            step("release binary", &mut cargo("build --quiet --release --locked --package calipers-cli"))?;
            root().join("target/release/calipers")
        }
    };
    let mut command = Command::new(path);
    command.current_dir(root());
    Ok(command)
}

/// Runs the command with its output passed through and fails when it fails.
pub(crate) fn step(title: &str, command: &mut Command) -> Outcome {
    announced(title, || {
        let status = command.status().map_err(|error| cannot_start(command, &error))?;
        if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", shown(command))) }
    })
}

/// Announces and times a piece of work, and says which one failed.
pub(crate) fn announced<T>(title: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("==> {title}");
    let start = Instant::now();
    let outcome = work().map_err(|message| format!("failed at \"{title}\": {message}"))?;
    println!("    {title}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(outcome)
}

/// Runs the command quietly and returns what it printed on stdout.
pub(crate) fn output_of(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} ended with {}\n{stderr}", shown(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} printed no UTF-8", shown(command)))
}

/// Whether a program can be started at all.
pub(crate) fn is_there(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start {}: {error}", shown(command))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_fails_its_step_by_name() {
        let message = step("nonsense", &mut cargo("no-such-subcommand")).unwrap_err();
        assert!(message.contains("\"nonsense\"") && message.contains("no-such-subcommand"), "{message}");
    }

    #[test]
    fn a_missing_program_is_said_to_be_missing() {
        let message = step("ghost", &mut Command::new("calipers-no-such-program")).unwrap_err();
        assert!(message.contains("cannot start calipers-no-such-program"), "{message}");
        assert!(!is_there("calipers-no-such-program", "--version"));
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.lock").is_file());
    }
}
