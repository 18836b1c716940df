//! Which configuration a run belongs to, and which fold of it the run is.

use std::fmt;
use std::str::FromStr;

use calipers_core::{Error, Result};
use regex::Regex;

use super::runs_file::RunsFile;

/// Where the group of a run comes from.
#[derive(Clone, Debug)]
pub enum GroupBy {
    /// One group called `all`.
    None,
    /// The run name up to its last `/`.
    Folder,
    /// The run name up to its last `_`.
    Suffix,
    /// A capture in the run name.
    Regex(Pattern),
    /// A column, configuration key, tag or parameter.
    Column(String),
    /// The group that the tracker filed the run under.
    Wandb,
    /// The per-run JSON.
    Runs,
}

/// Where the fold of a run comes from.
#[derive(Clone, Debug)]
pub enum FoldBy {
    /// What the rule for the group leaves over.
    Auto,
    /// The run name.
    Run,
    /// The run name after its last `_`.
    Suffix,
    /// A capture in the run name.
    Regex(Pattern),
    /// A column, configuration key, tag or parameter.
    Column(String),
    /// The per-run JSON.
    Runs,
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

/// What is known of a run before it has a group and a fold.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunNames<'a> {
    /// Its run name.
    pub name: &'a str,
    /// Its identifier.
    pub id: Option<&'a str>,
    /// The group that the tracker filed it under.
    pub filed: Option<&'a str>,
    /// The text of the column that `--group-by` names.
    pub group_column: Option<&'a str>,
    /// The text of the column that `--fold-by` names.
    pub fold_column: Option<&'a str>,
}

/// The two rules together, and the file one of them may read.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Where groups come from.
    pub group_by: GroupBy,
    /// Where folds come from.
    pub fold_by: FoldBy,
    /// The per-run JSON.
    pub runs: Option<RunsFile>,
}

impl Assignment {
    /// The group and fold of a run.
    pub fn of(&self, run: RunNames<'_>) -> Result<(String, String)> {
        let owner = match (&self.group_by, &self.fold_by) {
            (GroupBy::Runs, _) | (_, FoldBy::Runs) => Some(self.owner(run)?),
            _ => None,
        };
        let suffix = || run.name.rsplit_once('_');
        let group = match &self.group_by {
            GroupBy::None => Some("all"),
            GroupBy::Folder => run.name.rsplit_once('/').map(|(group, _)| group),
            GroupBy::Suffix => suffix().map(|(group, _)| group),
            GroupBy::Regex(pattern) => pattern.capture(run.name, pattern.own),
            GroupBy::Column(_) => run.group_column,
            GroupBy::Wandb => run.filed,
            GroupBy::Runs => owner.map(|(group, _)| group),
        };
        let group = given(group).ok_or_else(|| nothing("--group-by", &self.group_by.to_string(), run))?;
        let fold = match (&self.fold_by, &self.group_by) {
            (FoldBy::Run, _) => Some(run.name),
            (FoldBy::Suffix, _) | (FoldBy::Auto, GroupBy::Suffix) => suffix().map(|(_, fold)| fold),
            (FoldBy::Regex(pattern), _) => pattern.capture(run.name, pattern.own),
            (FoldBy::Column(_), _) => run.fold_column,
            (FoldBy::Runs, _) | (FoldBy::Auto, GroupBy::Runs) => owner.map(|(_, fold)| fold),
            (FoldBy::Auto, GroupBy::Folder) => run.name.rsplit_once('/').map(|(_, fold)| fold),
            (FoldBy::Auto, GroupBy::Regex(pattern)) => match pattern.fold {
                Some(fold) => pattern.capture(run.name, fold),
                None => Some(run.name),
            },
            (FoldBy::Auto, GroupBy::None | GroupBy::Column(_) | GroupBy::Wandb) => Some(run.name),
        };
        let fold = given(fold).ok_or_else(|| match self.fold_by {
            FoldBy::Auto => nothing("--group-by", &self.group_by.to_string(), run),
            _ => nothing("--fold-by", &self.fold_by.to_string(), run),
        })?;
        Ok((group.to_owned(), fold.to_owned()))
    }

    fn owner(&self, run: RunNames<'_>) -> Result<(&str, &str)> {
        let runs = self.runs.as_ref().ok_or_else(|| Error::usage("the rule `runs` needs --runs FILE"))?;
        runs.owner(run.name, run.id).ok_or_else(|| {
            let id = run.id.map_or_else(String::new, |id| format!(", id {id}"));
            Error::value("no run of the per-run JSON owns this history")
                .at(format!("run {}", run.name))
                .found(format!("name {}{id}", run.name))
                .allowed(format!("an `id_run` or `name` of project {}", runs.project))
                .advice("remove the history, or add its run to the JSON")
        })
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn nothing(option: &str, rule: &str, run: RunNames<'_>) -> Error {
    let what = if option == "--group-by" { "group" } else { "fold" };
    let sort = rule.split(':').next().unwrap_or(rule);
    let allowed = match sort {
        "folder" => "a run name like <group>/<fold>".into(),
        "suffix" => "a run name like <group>_<fold>".into(),
        "regex" => "a run name that the expression matches".into(),
        "wandb" => "a W&B log with a run group".into(),
        _ => format!("a text under {}", rule.split_once(':').map_or("the column", |(_, column)| column)),
    };
    Error::value(format!("the rule gives no {what} for a run"))
        .at(format!("run {}", run.name))
        .found(format!("{option} {rule}"))
        .allowed(allowed)
        .advice("choose another rule with --group-by and --fold-by")
}

impl Pattern {
    /// An expression with a capture of that name, or with a single unnamed one.
    fn parse(text: &str, own: &str) -> std::result::Result<Self, String> {
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

impl GroupBy {
    /// The column it names.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Column(column) => Some(column),
            _ => None,
        }
    }
}

impl FoldBy {
    /// The column it names.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Column(column) => Some(column),
            _ => None,
        }
    }
}

impl FromStr for GroupBy {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text, text.split_once(':')) {
            ("none", _) => Ok(Self::None),
            ("folder", _) => Ok(Self::Folder),
            ("suffix", _) => Ok(Self::Suffix),
            ("wandb", _) => Ok(Self::Wandb),
            ("runs", _) => Ok(Self::Runs),
            (_, Some(("regex", expression))) => Pattern::parse(expression, "group").map(Self::Regex),
            (_, Some(("column", column))) if !column.is_empty() => Ok(Self::Column(column.into())),
            _ => Err("none, folder, suffix, regex:RE, column:COL, wandb or runs".into()),
        }
    }
}

impl FromStr for FoldBy {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text, text.split_once(':')) {
            ("auto", _) => Ok(Self::Auto),
            ("run", _) => Ok(Self::Run),
            ("suffix", _) => Ok(Self::Suffix),
            ("runs", _) => Ok(Self::Runs),
            (_, Some(("regex", expression))) => Pattern::parse(expression, "fold").map(Self::Regex),
            (_, Some(("column", column))) if !column.is_empty() => Ok(Self::Column(column.into())),
            _ => Err("auto, run, suffix, regex:RE, column:COL or runs".into()),
        }
    }
}

impl fmt::Display for GroupBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Folder => f.write_str("folder"),
            Self::Suffix => f.write_str("suffix"),
            Self::Regex(pattern) => write!(f, "regex:{}", pattern.regex),
            Self::Column(column) => write!(f, "column:{column}"),
            Self::Wandb => f.write_str("wandb"),
            Self::Runs => f.write_str("runs"),
        }
    }
}

impl fmt::Display for FoldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Run => f.write_str("run"),
            Self::Suffix => f.write_str("suffix"),
            Self::Regex(pattern) => write!(f, "regex:{}", pattern.regex),
            Self::Column(column) => write!(f, "column:{column}"),
            Self::Runs => f.write_str("runs"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(group_by: &str, fold_by: &str, run: RunNames<'_>) -> Result<(String, String)> {
        let (group_by, fold_by) = (group_by.parse().unwrap(), fold_by.parse().unwrap());
        Assignment { group_by, fold_by, runs: None }.of(run)
    }

    #[test]
    fn each_rule_splits_a_run_name_its_own_way() {
        let run = RunNames {
            name: "a/b_x_1",
            filed: Some("filed"),
            group_column: Some("gc"),
            fold_column: Some("fc"),
            ..RunNames::default()
        };
        for (group_by, fold_by, group, fold) in [
            ("none", "auto", "all", "a/b_x_1"),
            ("folder", "auto", "a", "b_x_1"),
            ("suffix", "auto", "a/b_x", "1"),
            ("wandb", "suffix", "filed", "1"),
            ("column:c", "auto", "gc", "a/b_x_1"),
            ("column:c", "column:f", "gc", "fc"),
            ("folder", "run", "a", "a/b_x_1"),
            ("regex:b_(?P<group>.)_(?P<fold>\\d)", "auto", "x", "1"),
            ("regex:b_(.)", "auto", "x", "a/b_x_1"),
            ("regex:(.+)_(?P<fold>\\d)$", "auto", "a/b_x", "1"),
            ("folder", "regex:_(\\d+)$", "a", "1"),
        ] {
            let found = assigned(group_by, fold_by, run).unwrap();
            assert_eq!(found, (group.into(), fold.into()), "{group_by} {fold_by}");
        }
    }

    #[test]
    fn a_rule_that_gives_nothing_names_the_run_and_itself() {
        let run = RunNames { name: "plain", ..RunNames::default() };
        for rule in ["folder", "suffix", "wandb", "column:config", "regex:^(x)"] {
            let error = assigned(rule, "auto", run).unwrap_err().to_string();
            assert!(error.contains("run plain") && error.contains(rule), "{error}");
        }
        assert!(assigned("none", "regex:(\\d)", run).is_err());
        assert!(assigned("suffix", "auto", RunNames { name: "a_", ..run }).is_err(), "an empty fold");
    }

    #[test]
    fn rules_are_written_as_they_are_read() {
        for rule in ["none", "folder", "suffix", "regex:(a)", "column:x:y", "wandb", "runs"] {
            assert_eq!(rule.parse::<GroupBy>().unwrap().to_string(), rule);
        }
        for rule in ["auto", "run", "suffix", "regex:(?P<fold>a)", "column:c", "runs"] {
            assert_eq!(rule.parse::<FoldBy>().unwrap().to_string(), rule);
        }
        for rule in ["", "column:", "regex:(", "regex:abc", "regex:(a)(b)", "elsewhere"] {
            assert!(rule.parse::<GroupBy>().is_err(), "{rule}");
        }
    }
}
