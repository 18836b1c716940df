//! The whole command, to be pasted, that does what a refused one was meant to do.

use std::ffi::OsString;
use std::path::Path;

use calipers::Error;
use calipers::core::Retry;
use calipers::sources::segmentation::meant::places;
use clap::CommandFactory;

use crate::Cli;

/// What is said where truth and prediction are given as two plain words, as other programs take them.
pub(crate) fn two_sides(words: &[OsString]) -> Option<Error> {
    let plain: Vec<&str> = plain_words(words).into_iter().filter_map(|at| words[at].to_str()).collect();
    let [first, second] = plain[..] else { return None };
    let is_there = |word: &str| Path::new(word).exists();
    (words.get(1)? == "segmentation" && is_there(first) && is_there(second)).then(|| {
        let (truth, pred) = places::in_order(first, second);
        let error = Error::usage("truth and prediction are named by options")
            .found(format!("{first} {second}"))
            .again_with(vec![format!("--truth={truth}"), format!("--pred={pred}")]);
        error.with_command(|retry| command(words, retry))
    })
}

/// The command that was given, with what mends it in place of what it says of the same.
pub(crate) fn command(words: &[OsString], retry: &Retry) -> String {
    let named: Vec<(&str, Option<&str>)> = retry.options.iter().map(|option| split(option)).collect();
    let is_below = |value: &str, word: &str| Path::new(value).starts_with(word);
    let moved = |word: &str| named.iter().any(|(_, value)| value.is_some_and(|value| is_below(value, word)));
    let plain = plain_words(words);
    let mut given = vec!["calipers".to_owned()];
    let mut at = 1;
    while at < words.len() {
        let text = words[at].to_string_lossy();
        let (name, inline) = split(&text);
        match named.iter().find(|(replaced, _)| *replaced == name && name.starts_with('-')) {
            // The next word is the value of an option that is replaced.
            Some((_, Some(_))) if inline.is_none() => at += 1,
            Some(_) => {}
            // A plain word that options hold now, or paths below it.
            None if plain.contains(&at) && moved(&text) => {}
            None => given.push(quoted(&text)),
        }
        at += 1;
    }
    given.extend(retry.options.iter().map(|option| quoted(option)));
    let command = given.join(" ");
    match &retry.file {
        // A second configuration is not read.
        Some((_, line)) if !plain.is_empty() => {
            format!("the same with {line} in {}", words[plain[0]].to_string_lossy())
        }
        Some((name, line)) => format!("echo {} > {} && {command}", quoted(line), quoted(name)),
        None => command,
    }
}

/// The name of an option, and the value behind its equals sign.
fn split(word: &str) -> (&str, Option<&str>) {
    word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@%+".contains(c);
    match word {
        word if !word.is_empty() && word.chars().all(plain) => word.to_owned(),
        word => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The positions of the words behind the command that are neither options nor their values.
fn plain_words(words: &[OsString]) -> Vec<usize> {
    let program = Cli::command();
    let Some(command) = words.get(1).and_then(|name| program.find_subcommand(name)) else {
        return Vec::new();
    };
    let takes_next = |word: &str| {
        let mut options = command.get_arguments().chain(program.get_arguments());
        let named = |option: &clap::Arg| {
            let long = option.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
            let short = option.get_short().is_some_and(|short| *word == format!("-{short}"));
            (long || short) && option.get_action().takes_values() && !option.is_require_equals_set()
        };
        options.any(named)
    };
    let mut plain = Vec::new();
    let mut at = 2;
    while at < words.len() {
        let word = words[at].to_string_lossy();
        match word.starts_with('-') && word.len() > 1 {
            true => at += usize::from(takes_next(&word)),
            false => plain.push(at),
        }
        at += 1;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    fn with(options: &[&str]) -> Retry {
        options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>().into()
    }

    #[test]
    fn a_command_can_be_pasted_whatever_its_paths_hold() {
        let given = words(&["calipers", "segmentation", "--truth", "my gt", "it's"]);
        let said = command(&given, &with(&["--flat"]));
        assert_eq!(said, "calipers segmentation --truth 'my gt' 'it'\\''s' --flat");
        let given = words(&["calipers", "x", "--kind", "labels", "--flat", "--end=a", "b"]);
        let said = command(&given, &with(&["--kind=probs", "--flat", "--end=c d"]));
        assert_eq!(said, "calipers x b --kind=probs --flat '--end=c d'");
    }

    #[test]
    fn a_plain_word_moves_into_the_option_that_it_was_meant_for() {
        let given = words(&["calipers", "segmentation", "--classes", "2", "gt", "--json", "gt"]);
        let said = command(&given, &with(&["--truth=gt"]));
        assert_eq!(said, "calipers segmentation --classes 2 --json gt --truth=gt");
        let given = words(&["calipers", "segmentation", "."]);
        let said = command(&given, &with(&["--truth=./gt", "--pred=./out"]));
        assert_eq!(said, "calipers segmentation --truth=./gt --pred=./out");
    }

    #[test]
    fn a_file_that_is_needed_is_written_first() {
        let file = Some(("c.toml".to_owned(), "a = { \"#00\" = 1 }".to_owned()));
        let retry = Retry { options: vec!["c.toml".to_owned()], file };
        let said = command(&words(&["calipers", "segmentation", "--flat"]), &retry);
        assert_eq!(said, "echo 'a = { \"#00\" = 1 }' > c.toml && calipers segmentation --flat c.toml");
        let said = command(&words(&["calipers", "segmentation", "mine.toml"]), &retry);
        assert_eq!(said, "the same with a = { \"#00\" = 1 } in mine.toml");
    }
}
