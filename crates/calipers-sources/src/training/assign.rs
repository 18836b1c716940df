//! Which configuration a run belongs to, and which fold of it the run is.

use calipers_core::{Error, Result};

pub use super::runs::called::{CALLABLE, Called};
use super::runs::rules::{BETWEEN, Labelled, Rule};
pub use super::runs::rules::{FoldBy, GroupBy};
use super::study::runs_file::RunsFile;

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

/// The group and the fold of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The configuration.
    pub group: String,
    /// Which fold of it.
    pub fold: String,
    /// Whether the fold is the run name, which another run may have as well.
    pub by_name: bool,
}

impl Assignment {
    /// The group and fold of a run.
    pub fn of(&self, run: Labelled<'_>) -> Result<Labels> {
        let owner = match (&self.group_by, &self.fold_by) {
            (GroupBy::Runs, _) | (_, FoldBy::Runs) => Some(self.owner(run)?),
            _ => None,
        };
        let group = match &self.group_by {
            GroupBy::None => "all".to_owned(),
            GroupBy::Rules(rules) => joined(rules, run, "--group-by")?,
            GroupBy::Runs => owner.map_or("", |(group, _)| group).to_owned(),
            GroupBy::Called(called) => called.of(&run.known.name, "--group-by")?,
        };
        let name = run.known.name.as_str();
        let fold = match &self.fold_by {
            FoldBy::Rules(rules) => joined(rules, run, "--fold-by")?,
            FoldBy::Runs => owner.map_or("", |(_, fold)| fold).to_owned(),
            FoldBy::Called(called) => called.of(name, "--fold-by")?,
            FoldBy::Auto => match (&self.group_by, owner) {
                (GroupBy::Runs, Some((_, fold))) => fold.to_owned(),
                (rules, _) => {
                    let rest = rules.rules().iter().find_map(|rule| Some((rule, rule.rest(run)?)));
                    match rest {
                        Some((rule, None)) => return Err(nothing("--group-by", "fold", rule, run)),
                        Some((_, Some(fold))) => fold.to_owned(),
                        None => name.to_owned(),
                    }
                }
            },
        };
        let named = match &self.fold_by {
            FoldBy::Auto => !matches!(self.group_by, GroupBy::Runs),
            FoldBy::Rules(rules) => matches!(rules.as_slice(), [Rule::Run]),
            FoldBy::Runs | FoldBy::Called(_) => false,
        };
        Ok(Labels { by_name: named && fold == name, group, fold })
    }

    /// Every column that a rule names.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.group_by.rules().iter().chain(self.fold_by.rules()).filter_map(Rule::column)
    }

    fn owner(&self, run: Labelled<'_>) -> Result<(&str, &str)> {
        let runs = self.runs.as_ref().ok_or_else(|| Error::usage("the rule `runs` needs --runs FILE"))?;
        let (name, id) = (run.known.name.as_str(), run.known.id.as_deref());
        runs.owner(name, id).ok_or_else(|| {
            let id = id.map_or_else(String::new, |id| format!(", id {id}"));
            Error::value("no run of the per-run JSON owns this history")
                .at(format!("run {name}"))
                .found(format!("name {name}{id}"))
                .allowed(format!("an `id_run` or `name` of project {}", runs.project))
                .advice("remove the history, or add its run to the JSON")
        })
    }
}

/// The labels of all rules, joined; each must give something.
fn joined(rules: &[Rule], run: Labelled<'_>, option: &str) -> Result<String> {
    let fold = option == "--fold-by";
    let what = if fold { "fold" } else { "group" };
    let label = |rule: &Rule| {
        rule.label(run, fold).map(str::to_owned).ok_or_else(|| nothing(option, what, rule, run))
    };
    Ok(rules.iter().map(label).collect::<Result<Vec<_>>>()?.join(BETWEEN))
}

fn nothing(option: &str, what: &str, rule: &Rule, run: Labelled<'_>) -> Error {
    let allowed = match rule {
        Rule::Folder => "a run name like <group>/<fold>, or an input in a folder".into(),
        Rule::Suffix => "a run name like <group>_<fold>".into(),
        Rule::Regex(_) => "a run name that the expression matches".into(),
        Rule::Field("group") => "a W&B log with a run group".into(),
        Rule::Field("project") => "a W&B log with a project".into(),
        Rule::Field("experiment") => "a run of an MLflow experiment".into(),
        Rule::Field(_) => "an MLflow run that was started in another one".into(),
        Rule::Run | Rule::Id => "a run with a name".into(),
        Rule::Column(column) => format!("a text under {column}"),
    };
    Error::value(format!("the rule gives no {what} for a run"))
        .at(format!("run {}", run.known.name))
        .found(format!("{option} {}", rule.text()))
        .allowed(allowed)
        .advice("choose another rule with --group-by and --fold-by")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::runs::known::Known;
    use super::*;
    use calipers_io::history::{FORMATS, Field, Origin, Run};

    fn assigned(group_by: &str, fold_by: &str, name: &str, folder: Option<&str>) -> Result<(String, String)> {
        let assignment =
            Assignment { group_by: group_by.parse().unwrap(), fold_by: fold_by.parse().unwrap(), runs: None };
        let run = Run {
            id: Some("u7".into()),
            fields: BTreeMap::from([(Field::Group, "filed".into()), (Field::Project, "p".into())]),
            ..Run::default()
        };
        let format = FORMATS.called("wandb").unwrap();
        let known = Known::new(name, &run, (format, Origin::Wandb), folder, &[], &[]);
        let column = |key: &str| match key {
            "c" => Some("gc"),
            "f" => Some("fc"),
            _ => None,
        };
        let labels = assignment.of(Labelled { known: &known, column: &column, folder })?;
        Ok((labels.group, labels.fold))
    }

    #[test]
    fn each_rule_takes_its_part_of_the_run() {
        for (group_by, fold_by, group, fold) in [
            ("none", "auto", "all", "a/b_x_1"),
            ("folder", "auto", "a", "b_x_1"),
            ("suffix", "auto", "a/b_x", "1"),
            ("wandb", "suffix", "filed", "1"),
            ("project", "id", "p", "u7"),
            ("column:c", "auto", "gc", "a/b_x_1"),
            ("column:c", "column:f", "gc", "fc"),
            ("column:c,wandb", "suffix,column:f", "gc / filed", "1 / fc"),
            ("wandb,suffix", "auto", "filed / a/b_x", "1"),
            ("folder", "run", "a", "a/b_x_1"),
            ("regex:b_(?P<group>.)_(?P<fold>\\d)", "auto", "x", "1"),
            ("regex:b_(.)", "auto", "x", "a/b_x_1"),
            ("regex:(.+)_(?P<fold>\\d)$", "auto", "a/b_x", "1"),
            ("folder", "regex:_(\\d+)$", "a", "1"),
        ] {
            let found = assigned(group_by, fold_by, "a/b_x_1", None).unwrap();
            assert_eq!(found, (group.into(), fold.into()), "{group_by} {fold_by}");
        }
        let plain = assigned("folder", "auto", "plain", Some("root")).unwrap();
        assert_eq!(plain, ("root".into(), "plain".into()), "the folder of the input");
    }

    #[test]
    fn a_function_of_the_name_is_a_rule_and_is_recorded_as_one() {
        let last = Called::new(|name| Ok(name.rsplit('_').next().unwrap_or_default().to_owned()));
        let first = Called::new(|name| Ok(name.chars().take(3).collect()));
        let mut assignment =
            Assignment { group_by: GroupBy::Called(first), fold_by: FoldBy::Called(last), runs: None };
        let known = |name: &str| {
            let format = FORMATS.called("wandb").unwrap();
            Known::new(name, &Run::default(), (format, Origin::Wandb), None, &[], &[])
        };
        let of = |assignment: &Assignment, name: &str| {
            assignment.of(Labelled { known: &known(name), column: &|_| None, folder: None })
        };
        let labels = of(&assignment, "a/b_x_1").unwrap();
        assert_eq!((labels.group.as_str(), labels.fold.as_str(), labels.by_name), ("a/b", "1", false));
        assert_eq!(
            (assignment.group_by.to_string(), assignment.fold_by.to_string()),
            ("callable".into(), "callable".into())
        );
        let error = of(&assignment, "a/b_x_").unwrap_err().to_string();
        assert!(error.contains("run a/b_x_") && error.contains("--fold-by"), "{error}");
        assignment.fold_by = FoldBy::Auto;
        assert_eq!(of(&assignment, "a/b_x_1").unwrap().fold, "a/b_x_1");
    }

    #[test]
    fn a_rule_that_gives_nothing_names_the_run_and_itself() {
        for rule in ["folder", "suffix", "experiment", "parent", "column:config", "regex:^(x)"] {
            let error = assigned(rule, "auto", "plain", None).unwrap_err().to_string();
            assert!(error.contains("run plain") && error.contains(rule), "{error}");
        }
        assert!(assigned("none", "regex:(\\d)", "plain", None).is_err());
        assert!(assigned("suffix", "auto", "a_", None).is_err(), "an empty fold");
    }
}
