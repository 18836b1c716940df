//! Keyword arguments that cannot be, and what the parser of the command line says of them.

use std::error::Error as _;

use calipers::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Options;

/// Why a call with keyword arguments failed.
#[derive(Debug)]
pub enum Refused {
    /// There is no such keyword.
    Unknown(Error),
    /// A value is of a type that cannot be meant.
    WrongType(Error),
    /// Anything else.
    Failed(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A complaint of the parser.
pub(super) fn by_parser(error: &clap::Error) -> Refused {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let (names, value) = (context(ContextKind::InvalidArg), context(ContextKind::InvalidValue));
    let name = keyword(&names);
    let refused = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let allowed = match (context(ContextKind::ValidValue), error.source()) {
                (words, _) if !words.is_empty() => words,
                (_, Some(source)) => allowed(&source.to_string()),
                _ => "a value".to_owned(),
            };
            let refused =
                Error::usage(format!("{name} does not take this value")).found(value).allowed(allowed);
            match context(ContextKind::SuggestedValue) {
                near if near.is_empty() => refused,
                near => refused.advice(format!("did you mean {near}?")),
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = names.split(", ").map(keyword).collect::<Vec<_>>().join(", ");
            Error::usage(format!("{missing} is missing"))
        }
        ErrorKind::ArgumentConflict => {
            let other = keyword(&context(ContextKind::PriorArg));
            Error::usage(format!("{name} and {other} exclude each other")).advice("leave one of them out")
        }
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => {
            Error::usage("too many inputs").found(&names)
        }
        _ => Error::usage(format!("{name} cannot be given like this")).found(value),
    };
    Refused::Failed(refused)
}

/// The keyword of an option as the parser shows it: `--axis <AXIS>`, or `<INPUT>...` for what has no name.
fn keyword(shown: &str) -> String {
    match shown.strip_prefix("--") {
        Some(long) => long.split([' ', '=', '[']).next().unwrap_or_default().replace('-', "_"),
        None => "inputs".to_owned(),
    }
}

/// What is allowed, from the text of the type that could not read a value.
fn allowed(reason: &str) -> String {
    // A whole error says it itself, in a line of its own.
    if let Some((_, words)) = reason.split_once("\n  allowed: ") {
        return words.lines().next().unwrap_or_default().to_owned();
    }
    if let Some((_, range)) = reason.split_once(" is not in ") {
        return range.replace("..=", " to ").replace("..", " to ");
    }
    let known = [
        ("invalid digit", "a whole number"),
        ("cannot parse integer", "a whole number"),
        ("number too large", "a smaller whole number"),
        ("number too small", "a larger whole number"),
        ("invalid float", "a number"),
        ("cannot parse float", "a number"),
    ];
    let text = known.iter().find(|(theirs, _)| reason.contains(theirs)).map(|(_, ours)| *ours);
    text.unwrap_or_else(|| reason.strip_prefix("allowed are ").unwrap_or(reason)).to_owned()
}

/// The failure, with the argument that names the file it is about.
pub(super) fn naming(error: Error, inputs: &[String], options: &Options) -> Error {
    let Some(file) = error.file().filter(|_| error.kind() == calipers::ErrorKind::Io) else { return error };
    let same = |text: &str| text.trim_end_matches('/') == file.trim_end_matches('/');
    let option =
        options.iter().find(|(_, given)| given.word().is_some_and(same)).map(|(name, _)| name.as_str());
    let named = option.or(inputs.iter().any(|input| same(input)).then_some("inputs"));
    match named {
        Some(name) => error.at(name),
        None => error,
    }
}
