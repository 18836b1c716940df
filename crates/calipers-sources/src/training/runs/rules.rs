//! Where the label of a run comes from: one rule, or several whose labels are joined.

use std::fmt::Display;
use std::str::FromStr;

use regex::Regex;

use super::called::{CALLABLE, Called};
use super::known::Known;

/// What stands between the labels of several rules.
pub const BETWEEN: &str = " / ";

/// One rule.
#[derive(Clone, Debug)]
pub enum Rule {
    /// For groups the run name up to its last `/`, else the folder of the input.
    Folder,
    /// The run name up to its last `_`, or what follows it.
    Suffix,
    /// The run name.
    Run,
    /// The identifier that the tracker gave the run, else its name.
    Id,
    /// What the tracker knows: the group, project, experiment or parent run.
    Field(&'static str),
    /// A capture in the run name.
    Regex(Pattern),
    /// A column, a field, a key of a configuration, a tag or a parameter.
    Column(String),
}

/// A regular expression and the captures that are read from it.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// The capture the option itself asks for.
    own: usize,
    /// The capture named `fold`.
    fold: Option<usize>,
}

impl Pattern {
    /// An expression with a capture of that name, or with a single unnamed one.
    fn parse(text: &str, own: &str) -> Result<Self, String> {
        let regex = Regex::new(text).map_err(|error| error.to_string())?;
        let named = |wanted: &str| regex.capture_names().position(|name| name == Some(wanted));
        let mut unnamed =
            regex.capture_names().enumerate().skip(1).filter(|(_, name)| name.is_none()).map(|(at, _)| at);
        let single = unnamed.next().filter(|_| unnamed.next().is_none());
        let own = named(own).or(single).ok_or_else(|| {
            format!("the expression needs a capture (?P<{own}>..), or a single unnamed one")
        })?;
        let fold = named("fold");
        Ok(Self { regex, own, fold })
    }

    fn capture<'a>(&self, name: &'a str, at: usize) -> Option<&'a str> {
        self.regex.captures(name)?.get(at).map(|found| found.as_str())
    }
}

/// What the rules may read of a run: what is known of it, and the texts of its table's columns.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// What is known of it.
    pub known: &'a Known,
    /// Its text under a column of its table.
    pub column: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The folder it belongs to, where its name has none.
    pub folder: Option<&'a str>,
}

impl Rule {
    /// The group or, where `fold` is asked for, the fold of a run.
    pub fn label<'a>(&self, run: Labelled<'a>, fold: bool) -> Option<&'a str> {
        let name = run.known.name.as_str();
        let part =
            |split: Option<(&'a str, &'a str)>| split.map(|(front, back)| if fold { back } else { front });
        let label = match self {
            Self::Folder => part(name.rsplit_once('/')).or(if fold { Some(name) } else { run.folder }),
            Self::Suffix => part(name.rsplit_once('_')),
            Self::Run => Some(name),
            Self::Id => run.known.id.as_deref().or(Some(name)),
            Self::Field(field) => run.known.fields.get(field).map(String::as_str),
            Self::Regex(pattern) => pattern.capture(name, pattern.own),
            Self::Column(key) => (run.column)(key).or_else(|| run.known.text(key)),
        };
        label.filter(|label| !label.is_empty())
    }

    /// The fold that a rule for groups leaves over; none where it leaves nothing, and the outer none where
    /// it says nothing about folds.
    pub fn rest<'a>(&self, run: Labelled<'a>) -> Option<Option<&'a str>> {
        match self {
            Self::Folder | Self::Suffix => Some(self.label(run, true)),
            Self::Regex(pattern) => {
                let fold = pattern.fold?;
                Some(pattern.capture(&run.known.name, fold).filter(|fold| !fold.is_empty()))
            }
            _ => None,
        }
    }

    /// The column it names.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Column(column) => Some(column),
            _ => None,
        }
    }

    /// The rule as it is written.
    pub fn text(&self) -> String {
        match self {
            Self::Folder => "folder".into(),
            Self::Suffix => "suffix".into(),
            Self::Run => "run".into(),
            Self::Id => "id".into(),
            Self::Field("group") => "wandb".into(),
            Self::Field(field) => (*field).into(),
            Self::Regex(pattern) => format!("regex:{}", pattern.regex),
            Self::Column(column) => format!("column:{column}"),
        }
    }

    fn parse(text: &str, what: &str) -> Result<Option<Self>, String> {
        Ok(Some(match (text, text.split_once(':')) {
            ("suffix", _) => Self::Suffix,
            ("folder", _) if what == GROUP => Self::Folder,
            ("wandb", _) if what == GROUP => Self::Field("group"),
            ("project", _) if what == GROUP => Self::Field("project"),
            ("experiment", _) if what == GROUP => Self::Field("experiment"),
            ("parent", _) if what == GROUP => Self::Field("parent"),
            ("run", _) if what == FOLD => Self::Run,
            ("id", _) if what == FOLD => Self::Id,
            (_, Some(("regex", expression))) => Pattern::parse(expression, what).map(Self::Regex)?,
            (_, Some(("column", column))) if !column.is_empty() => Self::Column(column.into()),
            _ => return Ok(None),
        }))
    }
}

const GROUP: &str = "group";
const FOLD: &str = "fold";
/// What a rule begins with, wherever one may follow a comma.
const WORDS: [&str; 8] = ["folder", "suffix", "wandb", "project", "experiment", "parent", "id", "run"];

/// The rules in a text, which commas separate where a rule follows: columns and patterns may hold commas.
fn separated(text: &str) -> Vec<&str> {
    let begins = |rest: &str| {
        rest.starts_with("column:")
            || rest.starts_with("regex:")
            || WORDS.iter().any(|word| {
                rest.strip_prefix(word).is_some_and(|after| after.is_empty() || after.starts_with(','))
            })
    };
    let (mut found, mut start) = (Vec::new(), 0);
    for (comma, _) in text.match_indices(',') {
        if begins(&text[comma + 1..]) {
            found.push(&text[start..comma]);
            start = comma + 1;
        }
    }
    found.push(&text[start..]);
    found
}

fn several(text: &str, what: &str, allowed: &str) -> Result<Vec<Rule>, String> {
    separated(text).into_iter().map(|one| Rule::parse(one, what)?.ok_or_else(|| allowed.to_owned())).collect()
}

fn written(rules: &[Rule]) -> String {
    rules.iter().map(Rule::text).collect::<Vec<_>>().join(",")
}

/// Where the group of a run comes from.
#[derive(Clone, Debug)]
pub enum GroupBy {
    /// One group called `all`.
    None,
    /// The labels of rules.
    Rules(Vec<Rule>),
    /// The per-run JSON.
    Runs,
    /// What a function says.
    Called(Called),
}

/// Where the fold of a run comes from.
#[derive(Clone, Debug)]
pub enum FoldBy {
    /// What the rules for the group leave over.
    Auto,
    /// The labels of rules.
    Rules(Vec<Rule>),
    /// The per-run JSON.
    Runs,
    /// What a function says.
    Called(Called),
}

/// Several rules in one; a word that names no rule stands alone.
fn joined<T: Clone + Display>(
    options: &[T],
    without: T,
    rules: fn(&T) -> &[Rule],
    of: fn(Vec<Rule>) -> T,
) -> Result<T, String> {
    match options {
        [] => Ok(without),
        [one] => Ok(one.clone()),
        several => match several.iter().find(|option| rules(option).is_empty()) {
            Some(alone) => Err(format!("`{alone}` stands alone")),
            None => Ok(of(several.iter().flat_map(|option| rules(option).to_vec()).collect())),
        },
    }
}

impl GroupBy {
    /// The rules; none for the words that stand alone.
    pub fn rules(&self) -> &[Rule] {
        if let Self::Rules(rules) = self { rules } else { &[] }
    }

    /// Several rules, each as one option gave it.
    pub fn joined(options: &[Self]) -> Result<Self, String> {
        joined(options, Self::None, Self::rules, Self::Rules)
    }
}

impl FoldBy {
    /// The rules; none for the words that stand alone.
    pub fn rules(&self) -> &[Rule] {
        if let Self::Rules(rules) = self { rules } else { &[] }
    }

    /// Several rules, each as one option gave it.
    pub fn joined(options: &[Self]) -> Result<Self, String> {
        joined(options, Self::Auto, Self::rules, Self::Rules)
    }
}

impl FromStr for GroupBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const ALLOWED: &str = "none, folder, suffix, regex:RE, column:COL, wandb, project, experiment, parent or \
                               runs; several are joined with commas, but for none and runs";
        match text {
            "none" => Ok(Self::None),
            "runs" => Ok(Self::Runs),
            rules => several(rules, GROUP, ALLOWED).map(Self::Rules),
        }
    }
}

impl FromStr for FoldBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const ALLOWED: &str = "auto, run, id, suffix, regex:RE, column:COL or runs; several are joined with \
                               commas, but for auto and runs";
        match text {
            "auto" => Ok(Self::Auto),
            "runs" => Ok(Self::Runs),
            rules => several(rules, FOLD, ALLOWED).map(Self::Rules),
        }
    }
}

impl Display for GroupBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Rules(rules) => f.write_str(&written(rules)),
            Self::Runs => f.write_str("runs"),
            Self::Called(_) => f.write_str(CALLABLE),
        }
    }
}

impl Display for FoldBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Rules(rules) => f.write_str(&written(rules)),
            Self::Runs => f.write_str("runs"),
            Self::Called(_) => f.write_str(CALLABLE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_as_they_are_read() {
        for rule in [
            "none",
            "folder",
            "suffix",
            "regex:(a)",
            "column:x:y",
            "wandb",
            "project",
            "experiment",
            "parent",
            "runs",
            "column:lr,column:batch_size",
            "column:a,b,folder",
        ] {
            assert_eq!(rule.parse::<GroupBy>().unwrap().to_string(), rule);
        }
        for rule in ["auto", "run", "id", "suffix", "regex:(?P<fold>a)", "column:c", "runs", "run,id"] {
            assert_eq!(rule.parse::<FoldBy>().unwrap().to_string(), rule);
        }
        for rule in ["", "column:", "regex:(", "regex:abc", "regex:(a)(b)", "elsewhere", "folder,none", "id"]
        {
            assert!(rule.parse::<GroupBy>().is_err(), "{rule}");
        }
    }

    #[test]
    fn a_comma_separates_only_where_a_rule_follows() {
        assert_eq!(separated("column:a,b,suffix"), ["column:a,b", "suffix"]);
        assert_eq!(separated("regex:(a{1,2}),folder"), ["regex:(a{1,2})", "folder"]);
        assert_eq!(separated("column:x,runner"), ["column:x,runner"], "no word of a rule");
    }

    #[test]
    fn options_that_stand_alone_are_not_joined() {
        let parse = |rules: &[&str]| {
            GroupBy::joined(&rules.iter().map(|rule| rule.parse().unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(parse(&["column:lr", "column:bs"]).unwrap().to_string(), "column:lr,column:bs");
        assert!(parse(&["none", "column:bs"]).is_err());
    }
}
