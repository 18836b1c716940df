//! Keyword arguments as the arguments of a command line.

use calipers::Error;
use calipers::core::spelling::nearest;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::refused::{Refused, by_parser};
use super::{Given, Options};

/// Options of output and progress: programs ask the results for these instead.
const OF_THE_TERMINAL: [&str; 17] = [
    "json",
    "csv",
    "markdown",
    "latex",
    "plus-minus",
    "html",
    "per-unit",
    "state",
    "table",
    "keys",
    "quiet",
    "no-progress",
    "strict",
    "all",
    "select",
    "help",
    "version",
];

/// The keywords that a command takes.
pub(super) fn keywords(command: &Command) -> Vec<String> {
    let names = command.get_arguments().filter_map(Arg::get_long);
    names.filter(|name| !OF_THE_TERMINAL.contains(name)).map(|name| name.replace('-', "_")).collect()
}

/// What the parser makes of keyword arguments to the command at the end of a path of names.
pub(super) fn parsed(
    mut root: Command,
    path: &[&str],
    inputs: &[String],
    options: &Options,
    settled: &[(&str, &str)],
) -> Result<ArgMatches, Refused> {
    let mut words: Vec<String> = vec![root.get_name().to_owned()];
    words.extend(path.iter().map(|name| (*name).to_owned()));
    let no_command = || Refused::Failed(Error::usage("no such command").found(path.join(" ")));
    let known = found(&root, path).ok_or_else(no_command)?;
    let mut lists: Vec<String> = Vec::new();
    for (name, given) in options {
        let arg = argument(known, name, settled)?;
        let long = arg.get_long().unwrap_or_default();
        match arg.get_action() {
            ArgAction::SetTrue => match given {
                Given::Switch(true) => words.push(format!("--{long}")),
                Given::Switch(false) => {}
                _ => return Err(wrong_type(name, given, "True or False")),
            },
            ArgAction::Append => {
                if given.is_structured() {
                    lists.push(arg.get_id().to_string());
                }
                words.extend(several(arg, name, given)?.into_iter().map(|word| format!("--{long}={word}")));
            }
            _ => words.push(format!("--{long}={}", one(arg, name, given)?)),
        }
    }
    let flag = |(name, word): &(&str, &str)| match word.is_empty() {
        true => format!("--{name}"),
        false => format!("--{name}={word}"),
    };
    words.extend(settled.iter().map(flag));
    // Behind this nothing is taken for an option, nor for a subcommand.
    words.push("--".to_owned());
    words.extend(inputs.iter().cloned());
    for id in lists {
        // Elements that are given one by one may hold the character that separates them in a single word.
        root = changed(root, path, &|command| command.mut_arg(&id, |arg| arg.value_delimiter(None)));
    }
    root.try_get_matches_from(words).map_err(|error| by_parser(&error))
}

fn found<'c>(root: &'c Command, path: &[&str]) -> Option<&'c Command> {
    path.iter().try_fold(root, |command, name| command.find_subcommand(name))
}

fn changed(command: Command, path: &[&str], change: &dyn Fn(Command) -> Command) -> Command {
    match path.split_first() {
        None => change(command),
        Some((first, rest)) => command.mut_subcommand(*first, |inner| changed(inner, rest, change)),
    }
}

fn argument<'c>(command: &'c Command, name: &str, settled: &[(&str, &str)]) -> Result<&'c Arg, Refused> {
    let mut names = keywords(command);
    names.retain(|name| !settled.iter().any(|(other, _)| other.replace('-', "_") == *name));
    let long = name.replace('_', "-");
    let known = names.iter().any(|known| known == name);
    let arg = command.get_arguments().find(|arg| known && arg.get_long() == Some(&long));
    arg.ok_or_else(|| {
        let error = Error::usage("no such argument").found(name);
        Refused::Unknown(match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => error.advice(format!("did you mean {near}?")),
            None => error.allowed(names.join(", ")),
        })
    })
}

/// The words of an option that may be given several times.
fn several(arg: &Arg, name: &str, given: &Given) -> Result<Vec<String>, Refused> {
    let by_key = arg.get_value_names().is_some_and(|names| names.iter().any(|shown| shown.contains('=')));
    match given {
        Given::Table(items) if by_key => {
            let pair = |(key, value): &(Given, Given)| {
                let pair = key.word().zip(value.word()).map(|(key, value)| format!("{key}={value}"));
                pair.ok_or_else(|| wrong_type(name, given, "a mapping of budgets to files"))
            };
            items.iter().map(pair).collect()
        }
        Given::List(items) => {
            let word = |item: &Given| item.word().map(str::to_owned);
            let words =
                items.iter().map(|item| word(item).ok_or_else(|| wrong_type(name, item, "one value")));
            words.collect()
        }
        _ => match given.word() {
            Some(word) => Ok(vec![word.to_owned()]),
            None => Err(wrong_type(name, given, "a value, or a list of them")),
        },
    }
}

/// The word of an option with one value; some are several numbers, written with commas.
fn one(arg: &Arg, name: &str, given: &Given) -> Result<String, Refused> {
    let shown = arg.get_value_names().and_then(|names| names.first()).map_or("", |shown| shown.as_str());
    match given {
        Given::List(items) if shown.contains(',') => {
            let words = items.iter().map(Given::word).collect::<Option<Vec<_>>>();
            words.map(|words| words.join(",")).ok_or_else(|| wrong_type(name, given, "numbers"))
        }
        _ => given.word().map(str::to_owned).ok_or_else(|| wrong_type(name, given, "one value")),
    }
}

fn wrong_type(name: &str, given: &Given, allowed: &str) -> Refused {
    Refused::WrongType(
        Error::usage(format!("{name} is of a type that cannot be meant")).found(given).allowed(allowed),
    )
}
