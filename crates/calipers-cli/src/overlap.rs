//! What a command writes is none of the files that it reads, and no two of its outputs are one. Every command is
//! asked here before it reads anything: the options say which files are which, and no command says it again.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use calipers::output::Identity;
use calipers::{Error, Result};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::options::is_stream;

/// The options that name what is written.
const OUTPUTS: [&str; 10] =
    ["json", "csv", "html", "markdown", "latex", "per-unit", "per-node", "state", "out", "output"];
/// The command that may put what it makes in the place of one of the states that it is made of: it holds all
/// that was in them, and is written after they were read.
const MERGE: (&str, &str) = ("merge", "--out");

/// A file or folder and the word of the command line that names it.
struct Named {
    option: String,
    path: PathBuf,
}

/// Refuses a command line that would write over what it reads, or twice to one place.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> Result<()> {
    let (mut command, mut matches, mut name) = (command, matches, "");
    while let Some((inner, of_inner)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(inner) else { break };
        (command, matches, name) = (found, of_inner, inner);
    }
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for arg in command.get_arguments() {
        let is_output = arg.get_long().is_some_and(|long| OUTPUTS.contains(&long));
        let list = if is_output { &mut outputs } else { &mut inputs };
        list.extend(given(arg, matches));
    }
    if outputs.iter().filter(|named| is_stream(&named.path)).count() > 1 {
        let error = Error::usage("two outputs cannot share standard output");
        return Err(error.advice("give one of them a file"));
    }
    let identified = |named: &'_ Named| Some((Identity::of(&named.path)?, named.option.clone()));
    let mut written: Vec<(Identity, String)> = Vec::new();
    for named in outputs.iter().filter(|named| !is_stream(&named.path)) {
        let Some((identity, option)) = identified(named) else { continue };
        if let Some((_, other)) = written.iter().find(|(known, _)| *known == identity) {
            return Err(Error::usage(format!("{other} and {option} name one file"))
                .found(named.path.display())
                .advice("give each output a file of its own"));
        }
        written.push((identity, option));
    }
    for named in &inputs {
        let Some(read) = file_in(&named.path) else { continue };
        for (identity, option) in &written {
            let is_kept = (name, option.as_str()) == MERGE;
            if *identity == read && !is_kept {
                return Err(over_input(option, &named.path).at(&named.option));
            }
        }
    }
    Ok(())
}

/// The error for an output that is an input.
pub(crate) fn over_input(option: &str, path: &Path) -> Error {
    let error = Error::usage(format!("{option} would write over an input"));
    error.in_file(path.display()).advice("give the output a name of its own")
}

/// The values of an option that somebody wrote.
fn given(arg: &Arg, matches: &ArgMatches) -> Vec<Named> {
    let id = arg.get_id().as_str();
    let Ok(Some(values)) = matches.try_get_raw(id) else { return Vec::new() };
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return Vec::new();
    }
    let option = arg.get_long().map_or_else(|| id.to_uppercase(), |long| format!("--{long}"));
    let named = |value: &OsStr| Named { option: option.clone(), path: value.into() };
    values.map(named).collect()
}

/// The file that an input names: itself, the table in front of a column, the archive around a member.
fn file_in(path: &Path) -> Option<Identity> {
    let text = path.to_string_lossy();
    let table = text.rsplit_once(':').map(|(table, _)| Path::new(table));
    let candidates = path.ancestors().chain(table).filter(|path| !path.as_os_str().is_empty());
    let mut files = candidates.filter(|path| path.is_file());
    files.next().and_then(Identity::of)
}
