//! Messages that name options of the command line, in the words of keyword arguments.
//!
//! ```text
//! --no-scores contradicts --scores        no_scores=True contradicts scores
//! --axis samples or --axis steps          axis="samples" or axis="steps"
//! say --kind logits, log-probs or probs   say kind="logits", "log-probs" or "probs"
//! --ignore 7                              ignore=[7]
//! give --num-nodes N                      give num_nodes
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use calipers::Error;
use clap::{ArgAction, Command, CommandFactory};

use crate::Cli;

/// What the parser knows of the options that have one name.
#[derive(Default)]
struct Known {
    takes_value: bool,
    list: bool,
    words: BTreeSet<String>,
}

/// Words that stand for something in options whose values are free.
const SPECIAL: [&str; 8] = ["row", "timestamp", "@graph", "pooled", "suffix", "folder", "wandb", "runs"];

/// What the command line's commands are called elsewhere.
const COMMANDS: [(&str, &str); 7] = [
    ("states are written with state", "states are written by save and to_bytes"),
    ("`calipers compare`", "calipers.compare"),
    ("`calipers list`", "calipers.metrics()"),
    ("`calipers merge`", "calipers.merge"),
    ("calipers merge", "calipers.merge"),
    ("on the command line", "as an argument"),
    ("the command line", "the call"),
];

/// An error whose texts name keyword arguments instead of options.
#[must_use]
pub fn in_keywords(error: Error) -> Error {
    // Without a file, tables of a configuration are mappings of a call.
    if error.file().is_none() {
        error.reworded(|text| mappings(&text_in_keywords(text)))
    } else {
        error.reworded(text_in_keywords)
    }
}

/// A text, such as a warning, that names keyword arguments instead of options.
#[must_use]
pub fn text_in_keywords(text: &str) -> String {
    COMMANDS.iter().fold(worded(text), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// The tables that an argument of the same name holds.
const TABLES: [&str; 5] = ["labels", "boundary", "bins", "surface", "images"];

/// A text with `labels['ignore']` for `[labels] ignore`, and `heads` for `[[heads]]`.
fn mappings(text: &str) -> String {
    let mut text = text.replace("[[heads]]", "heads");
    for table in TABLES {
        let heading = format!("[{table}]");
        while let Some(at) = text.find(&heading) {
            let rest = &text[at + heading.len()..];
            let key = rest.strip_prefix(' ').unwrap_or_default();
            let key: String = key.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            let shown = if key.is_empty() { table.to_owned() } else { format!("{table}['{key}']") };
            let length = heading.len() + if key.is_empty() { 0 } else { key.len() + 1 };
            text.replace_range(at..at + length, &shown);
        }
    }
    text
}

fn worded(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("--") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        out.push_str(before);
        let length = after.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        let name = &after[..length.unwrap_or(after.len())];
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        match options().get(name) {
            Some(known) if begins => {
                let (shown, left) = value(known, name, &after[name.len()..]);
                out.push_str(&shown);
                rest = left;
            }
            _ => {
                out.push_str("--");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The keyword with the value that follows the option, and what is left of the text.
fn value<'t>(known: &Known, name: &str, rest: &'t str) -> (String, &'t str) {
    let keyword = name.replace('-', "_");
    if !known.takes_value {
        return (format!("{keyword}=True"), rest);
    }
    let Some(after) = rest.strip_prefix([' ', '=']) else { return (keyword, rest) };
    let (word, left) = token(after);
    let number = word.parse::<f64>().is_ok();
    let placeholder = word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || "|=,.[]".contains(c));
    if number {
        let shown = if known.list { format!("{keyword}=[{word}]") } else { format!("{keyword}={word}") };
        return (shown, left);
    }
    if known.words.contains(word) || SPECIAL.contains(&word) {
        let (more, left) = others(known, left);
        return (format!("{keyword}=\"{word}\"{more}"), left);
    }
    let single = word.len() == 1 && word.chars().all(|c| c.is_ascii_uppercase());
    if placeholder || single { (keyword, left) } else { (keyword, rest) }
}

/// Further words of the same option, as in "logits, log-probs or probs".
fn others<'t>(known: &Known, mut rest: &'t str) -> (String, &'t str) {
    let mut shown = String::new();
    loop {
        let next = [", or ", " or ", ", "].iter().find_map(|joint| {
            let (word, left) = token(rest.strip_prefix(joint)?);
            known.words.contains(word).then(|| (format!("{joint}\"{word}\""), left))
        });
        let Some((text, left)) = next else { return (shown, rest) };
        shown.push_str(&text);
        rest = left;
    }
}

/// The first word of a text, and what follows it.
fn token(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_whitespace() || ";:()'\"".contains(c)).unwrap_or(text.len());
    let word = text[..end].trim_end_matches([',', '.']);
    text.split_at(word.len())
}

/// The options of all commands by name. What is a list everywhere is shown as one.
fn options() -> &'static BTreeMap<String, Known> {
    static OPTIONS: OnceLock<BTreeMap<String, Known>> = OnceLock::new();
    OPTIONS.get_or_init(|| {
        let mut found = BTreeMap::new();
        collect(&Cli::command(), &mut found);
        found
    })
}

fn collect(command: &Command, found: &mut BTreeMap<String, Known>) {
    for arg in command.get_arguments() {
        let Some(long) = arg.get_long() else { continue };
        let list = matches!(arg.get_action(), ArgAction::Append);
        let takes_value = list || matches!(arg.get_action(), ArgAction::Set);
        let known = found.entry(long.to_owned()).or_insert_with(|| Known { list, ..Known::default() });
        known.takes_value |= takes_value;
        known.list &= list;
        known.words.extend(arg.get_possible_values().iter().map(|word| word.get_name().to_owned()));
    }
    command.get_subcommands().for_each(|inner| collect(inner, found));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }

    /// The texts in quotes of a source without its tests, each with its line.
    fn texts(source: &str) -> Vec<(usize, &str)> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let code = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        code.flat_map(|(at, line)| line.split('"').skip(1).step_by(2).map(move |text| (at + 1, text)))
            .collect()
    }

    /// What begins like an option and is none: the mark itself, a name that is filled in, and variables of styles.
    fn stays(path: &Path, text: &str) -> bool {
        let shown = path.to_string_lossy();
        text == "--" || text.starts_with("--{") || shown.ends_with("chart/drawing/palette.rs")
    }

    #[test]
    fn every_option_in_a_message_is_one_that_has_a_keyword() {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
        let of_crates = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "src");
        let (mut checked, mut wrong) = (0, Vec::new());
        for path in files.iter().filter(|path| of_crates(path)) {
            let source = fs::read_to_string(path).unwrap();
            for (line, text) in texts(&source).into_iter().filter(|(_, text)| !stays(path, text)) {
                checked += usize::from(text.contains("--"));
                let said = text_in_keywords(text);
                let left = said.match_indices("--").any(|(at, _)| {
                    let begins = !said[..at].ends_with(|c: char| c.is_alphanumeric() || "-<!".contains(c));
                    begins && said[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
                });
                if left {
                    wrong.push(format!("{}:{line}: {text}", path.display()));
                }
            }
        }
        assert!(checked > 200, "{checked} texts have options");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn tables_of_a_configuration_become_mappings_where_there_is_no_file() {
        let error = || Error::value("wrong").at("[labels] ignore, [[heads]] \"a\"").advice("see [bins]");
        let said = in_keywords(error()).to_string();
        assert_eq!(said, "wrong\n       at: labels['ignore'], heads \"a\"\n     help: see bins");
        assert!(in_keywords(error().in_file("c.toml")).to_string().contains("[labels] ignore"));
    }

    #[test]
    fn options_become_keyword_arguments_with_their_values() {
        for (flags, keywords) in [
            (
                "--no-scores contradicts --scores and --scores-are",
                "no_scores=True contradicts scores and scores_are",
            ),
            ("--axis samples or --axis steps", "axis=\"samples\" or axis=\"steps\""),
            ("say --kind logits, log-probs or probs", "say kind=\"logits\", \"log-probs\" or \"probs\""),
            ("add it, or --ignore 7", "add it, or ignore=[7]"),
            ("give --num-nodes N", "give num_nodes"),
            ("--truth PATH and --pred PATH, or --confusion FILE", "truth and pred, or confusion"),
            ("count rows with --x row", "count rows with x=\"row\""),
            ("--self-loops drop leaves loops out", "self_loops=\"drop\" leaves loops out"),
            ("leave --budget out: budgets", "leave budget out: budgets"),
            ("--budget 0.05", "budget=0.05"),
            ("without --flat folders count", "without flat=True folders count"),
            ("a--b stays, as does --nothing-of-ours", "a--b stays, as does --nothing-of-ours"),
        ] {
            assert_eq!(worded(flags), keywords);
        }
    }
}
